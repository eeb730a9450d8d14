#ifndef RUNTIME_PTXSIM_INSN_HALF_H
#define RUNTIME_PTXSIM_INSN_HALF_H

// What the families on f16, bf16, f16x2 and bf16x2 share: handlers of pairs
// from functions of single halves.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/numeric/Half.h"

namespace ptxsim {

/// F on both halves of a register.
template <class F> struct Pair {
  template <class... T>
  [[gnu::always_inline]] uint32_t operator()(T... pairs) const {
    uint32_t low = F()(uint16_t(pairs)...);
    uint32_t high = F()(uint16_t(pairs >> 16)...);
    return high << 16 | low;
  }
};

template <class F> Handler halfUnary(bool pair) {
  return pair ? unary<uint32_t, uint32_t, Pair<F>>
              : unary<uint16_t, uint16_t, F>;
}
template <class F> Handler halfBinary(bool pair) {
  return pair ? binary<uint32_t, uint32_t, uint32_t, Pair<F>>
              : binary<uint16_t, uint16_t, uint16_t, F>;
}
template <class F> Handler halfTernary(bool pair) {
  return pair ? ternary<uint32_t, uint32_t, uint32_t, uint32_t, Pair<F>>
              : ternary<uint16_t, uint16_t, uint16_t, uint16_t, F>;
}

inline bool isHalfPair(Type t) { return t == Type::F16x2 || t == Type::BF16x2; }
inline bool isHalf(Type t) {
  return t == Type::F16 || t == Type::BF16 || isHalfPair(t);
}

/// Immediates of half types are written as bit patterns.
inline uint32_t halfSource(Decoder &d, size_t i, Type type) {
  return d.source(i, isHalfPair(type) ? Type::B32 : Type::B16);
}

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_INSN_HALF_H
