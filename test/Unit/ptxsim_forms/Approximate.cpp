// Approximations: rcp, sqrt, rsqrt, div, ex2, lg2, sin, cos, tanh. What they
// must be near to is computed with the host's long double functions; how near,
// and the results at special inputs, are the ISA's tables. Flushing decides at
// subnormal operands and results, where the forms with and without .ftz differ.

#include "test/Unit/ptxsim_forms/Float.h"

#include <cmath>
#include <map>
#include <numbers>

using namespace ptxsim::forms;
using exact::Format;

namespace {

using Real = long double;

Real real(const Format &f, uint64_t bits) {
  const exact::Number n = exact::read(f, bits);
  Real value = n.kind == exact::Number::NaN        ? NAN
               : n.kind == exact::Number::Infinite ? INFINITY
                                                   : 0;
  if (n.kind == exact::Number::Finite)
    value = std::ldexp(Real(n.magnitude.low()), n.exponent);
  return n.negative ? -value : value;
}

/// How far a result may be from the true value.
struct Bound {
  Real ulp = 0, relative = 0, absolute = 0;
  /// Absolute only for |a| up to this.
  Real range = INFINITY;
};

/// The size of the last place of numbers around `value`.
Real lastPlace(const Format &f, Real value) {
  const int bias = (1 << (f.exponent - 1)) - 1;
  int exponent = 1 - bias;
  if (value != 0 && std::isfinite(value))
    exponent = std::max(exponent, std::ilogb(value));
  return std::ldexp(Real(1), exponent - int(f.mantissa));
}

struct Function {
  Format format;
  bool ftz;
  std::function<Real(Real, Real)> value;
  Bound bound;
  /// Of a format with fewer numbers: rcp.approx.ftz.f64 reads and writes the
  /// upper 32 bits.
  bool upperHalf = false;
};

/// Empty, or what is wrong with the result.
std::string verdict(const Function &fn, uint64_t a, uint64_t b, uint64_t got) {
  const Format &f = fn.format;
  if (fn.upperHalf) {
    a &= ~uint64_t(0xffffffff);
    if (got & 0xffffffff)
      return "has bits in its lower half";
  }
  if (fn.ftz) {
    a = f.flush(a);
    b = f.flush(b);
  }
  const Real x = real(f, a), want = fn.value(x, real(f, b)), is = real(f, got);
  if (std::isnan(want))
    return std::isnan(is) ? "" : "is not NaN";
  if (std::isnan(is))
    return "is NaN";
  const Real smallest = std::ldexp(Real(1), 2 - (1 << (f.exponent - 1)));
  if (fn.ftz && is != 0 && std::abs(is) < smallest)
    return "is subnormal";
  if (want == 0 || std::isinf(want) || x == 0 || std::isinf(x))
    return is == want && (want != 0 || std::signbit(is) == std::signbit(want))
               ? ""
               : "is not as in the table";
  if (std::abs(x) > fn.bound.range)
    return "";
  Real error = fn.bound.ulp * lastPlace(f, want) +
               fn.bound.relative * std::abs(want) + fn.bound.absolute;
  // What is too small for the format has no relative error, what is too large
  // is infinite.
  if (fn.bound.relative > 0)
    error = std::max(error, lastPlace(f, 0));
  if (fn.ftz && is == 0 && std::abs(want) < smallest + error)
    return std::signbit(is) == std::signbit(want) ? "" : "has the other sign";
  if (std::isinf(is))
    return std::abs(want) + error >= real(f, f.largest()) &&
                   std::signbit(is) == std::signbit(want)
               ? ""
               : "is infinite";
  return std::abs(is - want) <= error ? "" : "is not near enough";
}

void run(const std::string &name, const Function &fn, unsigned lanes,
         unsigned sources, const Operands &operands) {
  const unsigned part = fn.format.width(), width = part * lanes;
  const std::vector<uint64_t> got =
      results(name + (sources == 2 ? " d, a, b" : " d, a"),
              {width, width, sources == 2 ? width : 0}, operands);
  for (size_t t = 0, wrong = 0; t < got.size() && wrong < 4; ++t)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto take = [&](uint64_t v) {
        return v >> (lane * part) & ones(part);
      };
      const auto &[a, b, c] = operands[t];
      const std::string fault = verdict(fn, take(a), take(b), take(got[t]));
      if (fault.empty())
        continue;
      ++wrong;
      ADD_FAILURE() << name << std::hex << ": a = 0x" << take(a) << ", b = 0x"
                    << take(b) << " gives 0x" << take(got[t]) << ", which "
                    << fault;
    }
}

/// The usual numbers, and results of every binade: subnormal operands and
/// results for rcp, ex2, tanh.
const Operands &operandsOf(const Format &f) {
  static std::map<unsigned, Operands> lists;
  Operands &list = lists[f.width() << 8 | f.mantissa];
  if (!list.empty())
    return list;
  list = floats(f);
  Sequence numbers;
  const auto add = [&](Real value) {
    const uint64_t n = numbers.next();
    exact::Number x = exact::integer(uint64_t(std::ldexp(std::abs(value), 40)));
    x.exponent = -40;
    x.negative = value < 0;
    list.push_back(
        {exact::write(f, x, exact::Rounding::Nearest) ^ (n & 1), 0, 0});
  };
  for (int i = -160; i <= 160; i += 4)
    add(i + Real(i) / 256);
  for (int i = -20; i <= 20; ++i)
    add(i * std::numbers::pi_v<Real> / 4);
  for (int i = 1; i <= 100; i += 7)
    for (int sign : {-1, 1})
      add(sign * i * std::numbers::pi_v<Real>);
  const unsigned step = std::max(1u, (1u << f.exponent) / 64);
  for (uint64_t e = 0; e < (1u << f.exponent) - 1; e += step)
    list.push_back(
        {e << f.mantissa | (numbers.next() & (f.smallestNormal() - 1)), 0, 0});
  for (unsigned i = 0; i < f.mantissa; i += 2)
    list.push_back({uint64_t(1) << i | (numbers.next() & f.sign()), 0, 0});
  return list;
}

/// Two different ones in a register.
const Operands &halvesOf(const Format &f) { return packed(operandsOf(f)); }

Real quotient(Real a, Real b) { return a / b; }
Real reciprocal(Real a, Real) { return 1 / a; }
Real root(Real a, Real) { return std::sqrt(a); }
Real rootReciprocal(Real a, Real) { return 1 / std::sqrt(a); }
Real power(Real a, Real) { return std::exp2(a); }
Real logarithm(Real a, Real) { return std::log2(a); }
Real sine(Real a, Real) { return std::sin(a); }
Real cosine(Real a, Real) { return std::cos(a); }
Real tangent(Real a, Real) { return std::tanh(a); }

Real bits(Real n) { return std::exp2(-n); }

void unary(const std::string &name, const Function &fn, unsigned lanes = 1) {
  form(name, [=] {
    run(name, fn, lanes, 1,
        lanes == 1 ? operandsOf(fn.format) : halvesOf(fn.format));
  });
}

} // namespace

FORMS(approximationsOfF32) {
  for (const bool ftz : {false, true}) {
    const std::string end = ftz ? ".approx.ftz.f32" : ".approx.f32";
    const auto f32 = [&](const std::string &base, auto value, Bound bound) {
      unary(base + end, {exact::f32, ftz, value, bound});
    };
    f32("rcp", reciprocal, {.ulp = 1});
    f32("sqrt", root, {.relative = bits(23)});
    f32("rsqrt", rootReciprocal, {.relative = bits(22.9L)});
    f32("ex2", power, {.ulp = 2.5L}); // 2 from the rounded result
    // Between 0.5 and 2 the absolute error, else the relative one.
    f32("lg2", logarithm, {.relative = bits(22), .absolute = bits(22)});
    const Real pi = std::numbers::pi_v<Real>;
    for (const bool isSine : {true, false}) {
      const std::string name = (isSine ? "sin" : "cos") + end;
      form(name, [=] {
        const auto value = isSine ? sine : cosine;
        run(name, {exact::f32, ftz, value, {0, 0, bits(14.7L), 100 * pi}}, 1, 1,
            operandsOf(exact::f32));
        run(name, {exact::f32, ftz, value, {0, 0, bits(20.5L), 2 * pi}}, 1, 1,
            operandsOf(exact::f32));
      });
    }
  }
  unary("tanh.approx.f32",
        {exact::f32, false, tangent, {.relative = bits(11)}});
}

FORMS(approximateQuotients) {
  for (const bool ftz : {false, true}) {
    const std::string end = ftz ? ".ftz.f32" : ".f32";
    form("div.full" + end, [=] {
      run("div.full" + end, {exact::f32, ftz, quotient, {.ulp = 2}}, 1, 2,
          floatPairs(exact::f32));
    });
    // For 2^126 < |b| < 2^128 the quotient is zero, of an infinity NaN; for
    // smaller |b| than 2^-126 there is no bound.
    form("div.approx" + end, [=] {
      const std::string name = "div.approx" + end;
      Operands bounded, huge;
      for (const auto &[a, b, c] : floatPairs(exact::f32)) {
        const Real size = std::abs(real(exact::f32, b));
        if (size > std::exp2(Real(126)) && size < INFINITY)
          huge.push_back({a, b, c});
        else if (ftz || size == 0 || !(size < std::exp2(Real(-126))))
          bounded.push_back({a, b, c});
      }
      run(name, {exact::f32, ftz, quotient, {.ulp = 2}}, 1, 2, bounded);
      run(name,
          {exact::f32,
           ftz,
           [](Real a, Real b) {
             return std::isfinite(a) ? std::copysign(Real(0), a * b) : NAN;
           },
           {}},
          1, 2, huge);
    });
  }
}

FORMS(approximationsOfF64) {
  // The ISA tells no error. The upper half has 20 bits of the mantissa.
  unary("rcp.approx.ftz.f64",
        {exact::f64, true, reciprocal, {.relative = bits(19)}, true});
  unary("rsqrt.approx.ftz.f64",
        {exact::f64, true, rootReciprocal, {.relative = bits(19)}, true});
  // No worse than that of .f32.
  unary("rsqrt.approx.f64",
        {exact::f64, false, rootReciprocal, {.relative = bits(22.9L)}});
}

FORMS(approximationsOfHalves) {
  for (const unsigned lanes : {1, 2}) {
    const std::string x = lanes == 2 ? "x2" : "";
    unary("ex2.approx.f16" + x,
          {exact::f16, false, power, {.relative = bits(9.9L)}}, lanes);
    unary("ex2.approx.ftz.bf16" + x,
          {exact::bf16, true, power, {.relative = bits(7)}}, lanes);
    unary("tanh.approx.f16" + x,
          {exact::f16, false, tangent, {.absolute = bits(10.987L)}}, lanes);
    unary("tanh.approx.bf16" + x,
          {exact::bf16, false, tangent, {.absolute = bits(8)}}, lanes);
  }
}
