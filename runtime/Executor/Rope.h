//===- Rope.h - Rotary tables from positions --------------------*- C++ -*-===//
#ifndef RUNTIME_EXECUTOR_ROPE_H
#define RUNTIME_EXECUTOR_ROPE_H

#include <cstdint>
#include <span>
#include <vector>

namespace k2rt {

/// cos and sin f32 [T, R/2] of `positions`. All in float32, as the reference
/// forms them: angle = float(position) * inverse frequency, then cosf and sinf,
/// then times `scale`.
void makeRopeTables(std::span<const int32_t> positions,
                    std::span<const float> inverseFrequencies, float scale,
                    std::vector<float> &cos, std::vector<float> &sin);

} // namespace k2rt

#endif // RUNTIME_EXECUTOR_ROPE_H
