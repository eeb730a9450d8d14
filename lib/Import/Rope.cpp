//===- Rope.cpp - Rotary frequencies and the scales YaRN brings -----------===//
//
// Step by step in the types that transformers uses (float32 tensors, Python's
// doubles for scalars), because half a unit in the last place of the first
// frequencies is up to 4e-3 radians at position 131071. The power is rounded
// correctly; torch's vectorised one may be a unit off where it is near a tie.
//
//===----------------------------------------------------------------------===//

#include "k2c/Import/ModelFacts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace k2c;

/// YaRN's factor of the logits' scale for a stretch of the context by `factor`.
static double getMscale(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

/// The pair whose rotation makes `turns` turns over the original context.
static double correctionDim(const RopeParameters &rope, double turns,
                            int64_t dim) {
  return static_cast<double>(dim) *
         std::log(static_cast<double>(rope.originalContext) /
                  (turns * 2 * std::numbers::pi)) /
         (2 * std::log(rope.theta));
}

std::vector<float> k2c::computeInvFreq(const RopeParameters &rope,
                                       int64_t rotaryDim) {
  std::vector<float> invFreq(rotaryDim / 2);
  double low = 0, high = 0;
  if (rope.yarn) {
    low = std::max(std::floor(correctionDim(rope, rope.betaFast, rotaryDim)),
                   0.0);
    high = std::min(std::ceil(correctionDim(rope, rope.betaSlow, rotaryDim)),
                    static_cast<double>(rotaryDim - 1));
    if (low == high)
      high += 0.001;
  }
  for (int64_t i = 0; i < rotaryDim / 2; ++i) {
    float exponent = static_cast<float>(2 * i) / static_cast<float>(rotaryDim);
    auto power = static_cast<float>(
        std::pow(static_cast<double>(static_cast<float>(rope.theta)),
                 static_cast<double>(exponent)));
    float extrapolation = 1.0f / power;
    if (!rope.yarn) {
      invFreq[i] = extrapolation;
      continue;
    }
    float interpolation = 1.0f / (static_cast<float>(rope.factor) * power);
    float ramp = std::clamp((static_cast<float>(i) - static_cast<float>(low)) /
                                static_cast<float>(high - low),
                            0.0f, 1.0f);
    float keep = 1.0f - ramp;
    invFreq[i] = interpolation * (1.0f - keep) + extrapolation * keep;
  }
  return invFreq;
}

double k2c::computeRopeMultiplier(const RopeParameters &rope) {
  if (!rope.yarn)
    return 1;
  if (rope.mscale != 0 && rope.mscaleAllDim != 0)
    return getMscale(rope.factor, rope.mscale) /
           getMscale(rope.factor, rope.mscaleAllDim);
  return getMscale(rope.factor, 1);
}

double k2c::computeSoftmaxScale(const RopeParameters &rope,
                                int64_t queryHeadDim) {
  double scale = 1 / std::sqrt(static_cast<double>(queryHeadDim));
  if (rope.yarn && rope.mscaleAllDim != 0) {
    double m = getMscale(rope.factor, rope.mscaleAllDim);
    scale *= m * m;
  }
  return scale;
}
