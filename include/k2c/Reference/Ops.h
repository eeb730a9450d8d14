//===- Ops.h - The k2 ops as plain functions --------------------*- C++ -*-===//
//
// One short function per op, for float and double. `Rounding::Bf16` rounds
// where the op's description says, nothing else changes; comparisons with
// compiled kernels use it, the model's reference does not round.
//
//===----------------------------------------------------------------------===//
#ifndef K2C_REFERENCE_OPS_H
#define K2C_REFERENCE_OPS_H

#include "k2c/Reference/Values.h"

namespace k2c::reference {

enum class Rounding { None, Bf16 };

/// Rounds to the nearest bf16, ties to even, when it is on.
struct Round {
  Rounding mode = Rounding::None;
  float operator()(float x) const;
  double operator()(double x) const;
};

// Norms and the residual stream.
template <typename Real>
TensorOf<Real> rmsNorm(const TensorOf<Real> &x, const TensorOf<Real> &weight,
                       double eps, Round round);
template <typename Real>
TensorOf<Real> residualAdd(const TensorOf<Real> &a, const TensorOf<Real> &b,
                           Round round);

// Position.
template <typename Real>
TensorOf<Real> rope(const TensorOf<Real> &x, const TensorOf<Real> &cos,
                    const TensorOf<Real> &sin, int64_t heads, int64_t nope,
                    int64_t rope, Round round);

// Linear. `roundResult` is false where the result's type is f32.
template <typename Real>
TensorOf<Real> linear(const TensorOf<Real> &x, const Weight<Real> &weight,
                      bool roundResult, Round round);
template <typename Real>
TensorOf<Real> slice(const TensorOf<Real> &x, int64_t offset, int64_t size);
template <typename Real>
TensorOf<Real> swiglu(const TensorOf<Real> &gate, const TensorOf<Real> &up,
                      Round round);

// Cache and attention.
struct HeadSizes {
  int64_t heads = 0, nope = 0, rope = 0, value = 0;
};
template <typename Real>
void append(const TensorOf<Real> &latent, const TensorOf<Real> &keyRope,
            const Batch<Real> &batch, const Cache<Real> &cache);
template <typename Real>
TensorOf<Real> mlaAttention(const TensorOf<Real> &query,
                            const Cache<Real> &cache, const Batch<Real> &batch,
                            const Weight<Real> &kvB, const HeadSizes &sizes,
                            double scale, Round round);
template <typename Real>
TensorOf<Real> absorbQuery(const TensorOf<Real> &query, const Weight<Real> &kvB,
                           const HeadSizes &sizes, Round round);
template <typename Real>
TensorOf<Real>
mlaAttentionAbsorbed(const TensorOf<Real> &queryLatent,
                     const TensorOf<Real> &query, const Cache<Real> &cache,
                     const Batch<Real> &batch, const HeadSizes &sizes,
                     double scale, Round round);
template <typename Real>
TensorOf<Real> absorbOutput(const TensorOf<Real> &outputLatent,
                            const Weight<Real> &kvB, const HeadSizes &sizes,
                            Round round);

// Mixture of experts.
struct RouterOptions {
  int64_t topK = 1, groups = 1, keptGroups = 1;
  bool sigmoid = true, normalize = true;
  double scaling = 1;
};
template <typename Real> struct Routed {
  Integers ids;
  TensorOf<Real> weights;
};
template <typename Real>
Routed<Real> router(const TensorOf<Real> &logits, const TensorOf<Real> *bias,
                    const RouterOptions &options);
Routing dispatch(const Integers &ids, int64_t experts);
template <typename Real>
TensorOf<Real> expertLinear(const TensorOf<Real> &x, const Weight<Real> &weight,
                            const Routing &routing, bool gather, Round round);
template <typename Real>
TensorOf<Real> combine(const TensorOf<Real> &rows,
                       const TensorOf<Real> &weights, const Routing &routing,
                       Round round);

// Ends.
template <typename Real>
TensorOf<Real> embed(const Integers &ids, const TensorOf<Real> &table);

} // namespace k2c::reference

#endif // K2C_REFERENCE_OPS_H
