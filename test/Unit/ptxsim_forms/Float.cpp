// add, sub, mul, fma, mad, div, rcp, sqrt with the roundings of IEEE 754: every
// rounding, .ftz, .sat, .relu, on numbers where they differ.

#include "test/Unit/ptxsim_forms/Float.h"

using namespace ptxsim::forms;
using exact::Number;
using exact::Rounding;

namespace ptxsim::forms {

Number Modifiers::operand(exact::Format format, uint64_t bits) const {
  return exact::read(format, ftz ? format.flush(bits) : bits);
}

uint64_t Modifiers::result(exact::Format format, const Number &number) const {
  uint64_t bits = exact::write(format, number, rounding);
  if (ftz)
    bits = format.flush(bits);
  if (sat && (format.isNaN(bits) || bits & format.sign()))
    return 0;
  if (sat && bits > format.one())
    return format.one();
  if (relu && !format.isNaN(bits) && bits & format.sign())
    return 0;
  return bits;
}

void floatForm(const std::string &name, const FloatType &type, unsigned sources,
               std::function<uint64_t(uint64_t, uint64_t, uint64_t)> result,
               bool anyZero, bool strictNaN, const std::string &meaning) {
  const unsigned w = type.width();
  const Operands &operands = sources == 1   ? floats(type.format)
                             : sources == 2 ? floatPairs(type.format)
                                            : floatTriples(type.format);
  std::function<uint64_t(uint64_t)> same;
  if (!strictNaN)
    same = anyZero ? anyNaNAnyZero(type.format) : anyNaN(type.format);
  if (type.packed) {
    result = onHalves(result);
    if (same)
      same = onHalves(same);
  }
  form(name, {{w, w, sources > 1 ? w : 0, sources > 2 ? w : 0},
              type.packed ? packed(operands) : operands,
              result,
              same,
              {},
              meaning});
}

} // namespace ptxsim::forms

namespace {

/// The combinations of modifiers that a type has. The ISA gives .f64 and bf16
/// no .ftz and no .sat, and 16 bits no rounding but .rn.
template <class F> void withModifiers(const FloatType &type, F f) {
  const bool half = type.format.width() == 16;
  const bool modified = type.format.exponent == 5 || type.width() == 32;
  for (const NamedRounding &r : roundings)
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true}) {
        if (half && r.rounding != Rounding::Nearest)
          continue;
        if ((ftz || sat) && (!modified || type.format.mantissa == 7))
          continue;
        f(r.name + std::string(ftz ? ".ftz" : "") + (sat ? ".sat" : ""),
          Modifiers{r.rounding, ftz, sat});
      }
}

/// Without a rounding in its name a form rounds to nearest; down is towards
/// zero where no result is negative.
std::string meaningOf(const std::string &base, std::string modifiers,
                      const FloatType &type) {
  if (!modifiers.starts_with(".r"))
    modifiers = ".rn" + modifiers;
  if (modifiers.starts_with(".rm") &&
      (modifiers.ends_with(".sat") || base == "sqrt"))
    modifiers.replace(0, 3, ".rz");
  return base + modifiers + "." + type.name;
}

} // namespace

FORMS(sumsAndProducts) {
  for (const FloatType &type : floatTypes)
    withModifiers(type, [&](const std::string &modifiers, Modifiers m) {
      const exact::Format f = type.format;
      const std::string end = modifiers + "." + type.name;
      const auto two = [&](const char *base, auto operation) {
        floatForm(
            base + end, type, 2,
            [=](uint64_t a, uint64_t b, uint64_t) {
              return m.result(f, operation(m.operand(f, a), m.operand(f, b)));
            },
            m.sat, false, meaningOf(base, modifiers, type));
      };
      two("add", [=](const Number &a, const Number &b) {
        return add(a, b, m.rounding);
      });
      two("sub", [=](const Number &a, const Number &b) {
        return add(a, negate(b), m.rounding);
      });
      two("mul",
          [](const Number &a, const Number &b) { return multiply(a, b); });
      if (!modifiers.starts_with(".r"))
        return;
      const auto fused = [&](const std::string &name, Modifiers with) {
        floatForm(
            name, type, 3,
            [=](uint64_t a, uint64_t b, uint64_t c) {
              const Number product =
                  multiply(with.operand(f, a), with.operand(f, b));
              return with.result(
                  f, add(product, with.operand(f, c), with.rounding));
            },
            with.sat || with.relu, false,
            meaningOf("fma", modifiers + (with.relu ? ".relu" : ""), type));
      };
      fused("fma" + end, m);
      if (f.width() > 16) {
        fused("mad" + end, m); // "mad.{f32,f64} is the same as fma.{f32,f64}"
      } else if (!m.sat) {
        Modifiers relu = m;
        relu.relu = true;
        fused("fma" + modifiers + ".relu." + type.name, relu);
      }
    });
}

FORMS(quotientsAndRoots) {
  for (const FloatType &type : floatTypes) {
    if (type.format.width() < 32 || type.packed)
      continue;
    withModifiers(type, [&](const std::string &modifiers, Modifiers m) {
      if (!modifiers.starts_with(".r") || m.sat)
        return;
      const exact::Format f = type.format;
      const std::string end = modifiers + "." + type.name;
      floatForm("div" + end, type, 2, [=](uint64_t a, uint64_t b, uint64_t) {
        return m.result(f, divide(m.operand(f, a), m.operand(f, b)));
      });
      floatForm("rcp" + end, type, 1, [=](uint64_t a, uint64_t, uint64_t) {
        return m.result(f, divide(exact::integer(int64_t(1)), m.operand(f, a)));
      });
      floatForm(
          "sqrt" + end, type, 1,
          [=](uint64_t a, uint64_t, uint64_t) {
            return m.result(f, squareRoot(m.operand(f, a)));
          },
          false, false, meaningOf("sqrt", modifiers, type));
    });
  }
}

// A NaN that counts as out of bounds (runtime/ptxsim/README.md: 0x7fff) makes
// the result 0, in the half where it is. With .sat every NaN does.
FORMS(outOfBounds) {
  for (const FloatType &type : floatTypes)
    for (const char *clamp : {"", ".relu", ".sat"}) {
      const exact::Format f = type.format;
      Modifiers m;
      m.relu = clamp == std::string(".relu");
      m.sat = clamp == std::string(".sat");
      if (f.width() != 16 || (m.sat && f.exponent != 5))
        continue;
      floatForm(
          "fma.rn.oob" + (clamp + ("." + std::string(type.name))), type, 3,
          [=](uint64_t a, uint64_t b, uint64_t c) {
            const uint64_t bad = f.canonicalNaN();
            if (a == bad || b == bad || c == bad)
              return uint64_t(0);
            return m.result(f, add(multiply(m.operand(f, a), m.operand(f, b)),
                                   m.operand(f, c), m.rounding));
          },
          m.sat || m.relu, false,
          m.sat ? meaningOf("fma", clamp, type)
                : "fma.rn.oob" + std::string(clamp) + type.name);
    }
}
