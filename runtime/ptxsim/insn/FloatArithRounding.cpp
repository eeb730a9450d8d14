// f32 and f64 arithmetic rounded to zero, down or up. Rare: lanes are computed
// one by one with the host's rounding mode set.

#include "runtime/ptxsim/Float.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/insn/FloatArith.h"

#include <cfenv>
#include <cmath>

using namespace ptxsim;

namespace {

class RoundingMode {
public:
  explicit RoundingMode(int mode) : before(std::fegetround()) {
    std::fesetround(mode);
  }
  ~RoundingMode() { std::fesetround(before); }

private:
  int before;
};

constexpr int hostMode(Rounding r) {
  return r == Rounding::Zero   ? FE_TOWARDZERO
         : r == Rounding::Down ? FE_DOWNWARD
                               : FE_UPWARD;
}

template <FloatOperation O, class T> T compute(T a, T b, T c) {
  switch (O) {
  case FloatOperation::Add:
    return a + b;
  case FloatOperation::Sub:
    return a - b;
  case FloatOperation::Mul:
    return a * b;
  case FloatOperation::Fma:
    return std::fma(a, b, c);
  case FloatOperation::Div:
    return a / b;
  case FloatOperation::Sqrt:
    return std::sqrt(a);
  }
}

template <FloatOperation O, Rounding R, class T, bool Ftz, bool Sat>
void directed(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a), *b = w.row<T>(op.b), *c = w.row<T>(op.c);
  T *d = w.row<T>(op.d);
  RoundingMode mode(hostMode(R));
  forLanes(mask, [&](unsigned l) {
    d[l] = finish<Ftz, Sat>(
        compute<O, T>(input<Ftz>(a[l]), input<Ftz>(b[l]), input<Ftz>(c[l])));
  });
}

template <FloatOperation O, Rounding R>
Handler ofType(Type type, bool ftz, bool sat) {
  if (type == Type::F64)
    return directed<O, R, double, false, false>;
  if (sat)
    return ftz ? directed<O, R, float, true, true>
               : directed<O, R, float, false, true>;
  return ftz ? directed<O, R, float, true, false>
             : directed<O, R, float, false, false>;
}

template <FloatOperation O>
Handler ofRounding(Rounding r, Type type, bool ftz, bool sat) {
  switch (r) {
  case Rounding::Zero:
    return ofType<O, Rounding::Zero>(type, ftz, sat);
  case Rounding::Down:
    return ofType<O, Rounding::Down>(type, ftz, sat);
  case Rounding::Up:
    return ofType<O, Rounding::Up>(type, ftz, sat);
  case Rounding::Nearest:
    break;
  }
  return nullptr;
}

} // namespace

Handler ptxsim::directedHandler(FloatOperation operation, Rounding rounding,
                                Type type, bool ftz, bool sat) {
  switch (operation) {
  case FloatOperation::Add:
    return ofRounding<FloatOperation::Add>(rounding, type, ftz, sat);
  case FloatOperation::Sub:
    return ofRounding<FloatOperation::Sub>(rounding, type, ftz, sat);
  case FloatOperation::Mul:
    return ofRounding<FloatOperation::Mul>(rounding, type, ftz, sat);
  case FloatOperation::Fma:
    return ofRounding<FloatOperation::Fma>(rounding, type, ftz, sat);
  case FloatOperation::Div:
    return sat ? nullptr
               : ofRounding<FloatOperation::Div>(rounding, type, ftz, false);
  case FloatOperation::Sqrt:
    return sat ? nullptr
               : ofRounding<FloatOperation::Sqrt>(rounding, type, ftz, false);
  }
  return nullptr;
}
