// rcp with an IEEE rounding.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/numeric/Approximate.h"

#include <cfenv>

using namespace ptxsim;

namespace {

template <class T, bool ftz> T reciprocal(T x) {
  if constexpr (sizeof(T) == 4)
    return ftz ? flush(canonical(1.0f / flush(x))) : canonical(1.0f / x);
  else
    return ftz ? flushDouble(1.0 / flushDouble(x)) : 1.0 / x;
}

template <class T, bool ftz, int mode>
void reciprocalHandler(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a);
  T *d = w.row<T>(op.d);
  if (mode != FE_TONEAREST)
    std::fesetround(mode);
  forLanes(mask, [&](unsigned l) { d[l] = reciprocal<T, ftz>(a[l]); });
  if (mode != FE_TONEAREST)
    std::fesetround(FE_TONEAREST);
}

template <class T, bool ftz> Handler byMode(int mode) {
  constexpr Handler handlers[] = {
      reciprocalHandler<T, ftz, FE_TONEAREST>,
      reciprocalHandler<T, ftz, FE_TOWARDZERO>,
      reciprocalHandler<T, ftz, FE_DOWNWARD>,
      reciprocalHandler<T, ftz, FE_UPWARD>,
  };
  return handlers[mode];
}

} // namespace

bool ptxsim::decodeReciprocal(Decoder &d) {
  Type type = d.takeType();
  int mode = d.takeOneOf({"rn", "rz", "rm", "rp"});
  bool ftz = d.take("ftz");
  if (mode < 0 || (type != Type::F32 && type != Type::F64) || !d.done() ||
      (ftz && type == Type::F64))
    return false;
  d.expect(2);
  uint32_t destination = d.destination(0, bitsOf(type)), a = d.source(1, type);
  Op &op = d.emit(type == Type::F64 ? byMode<double, false>(mode)
                  : ftz             ? byMode<float, true>(mode)
                                    : byMode<float, false>(mode));
  op.d = destination, op.a = a;
  return true;
}
