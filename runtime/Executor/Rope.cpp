//===- Rope.cpp - Rotary tables from positions ----------------------------===//
#include "runtime/Executor/Rope.h"

#include <cmath>

namespace k2rt {

void makeRopeTables(std::span<const int32_t> positions,
                    std::span<const float> inverseFrequencies, float scale,
                    std::vector<float> &cos, std::vector<float> &sin) {
  cos.clear();
  sin.clear();
  for (int32_t position : positions)
    for (float frequency : inverseFrequencies) {
      float angle = static_cast<float>(position) * frequency;
      cos.push_back(std::cos(angle) * scale);
      sin.push_back(std::sin(angle) * scale);
    }
}

} // namespace k2rt
