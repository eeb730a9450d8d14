// min, max, abs, neg, copysign, testp of floating point numbers.

#include "test/Unit/ptxsim_forms/Float.h"

using namespace ptxsim::forms;
using exact::Format;

namespace {

struct Choice {
  bool most, nan, magnitude, ftz;
};

/// The ISA's two_inputs_min and two_inputs_max with what stands around them.
uint64_t choose(const Format &f, Choice how, uint64_t a, uint64_t b) {
  if (how.ftz) {
    a = f.flush(a);
    b = f.flush(b);
  }
  const uint64_t sign = (a ^ b) & f.sign();
  if (how.magnitude) {
    a &= ~f.sign();
    b &= ~f.sign();
  }
  uint64_t d;
  if (f.isNaN(a) && f.isNaN(b))
    return f.canonicalNaN();
  if (f.isNaN(a) || f.isNaN(b)) {
    if (how.nan)
      return f.canonicalNaN();
    d = f.isNaN(a) ? b : a;
  } else {
    // As numbers of sign and magnitude: -0 is less than +0.
    const auto key = [&](uint64_t v) {
      return v & f.sign() ? f.sign() - 1 - (v & ~f.sign()) : v | f.sign();
    };
    d = (key(a) < key(b)) == how.most ? b : a;
  }
  return how.magnitude ? (d & ~f.sign()) | sign : d;
}

} // namespace

FORMS(minAndMax) {
  for (const FloatType &type : floatTypes)
    for (const bool most : {false, true})
      for (const bool ftz : {false, true})
        for (const bool nan : {false, true})
          for (const bool magnitude : {false, true}) {
            const bool plain = !ftz && !nan && !magnitude;
            if ((type.format.width() == 64 && !plain) ||
                (type.format.mantissa == 7 && ftz))
              continue;
            const Format f = type.format;
            const Choice how{most, nan, magnitude, ftz};
            // Canonical is only what .NaN makes.
            floatForm(
                std::string(most ? "max" : "min") + (ftz ? ".ftz" : "") +
                    (nan ? ".NaN" : "") + (magnitude ? ".xorsign.abs" : "") +
                    "." + type.name,
                type, 2,
                [=](uint64_t a, uint64_t b, uint64_t) {
                  return choose(f, how, a, b);
                },
                false, nan);
          }
}

FORMS(signs) {
  for (const FloatType &type : floatTypes)
    for (const bool ftz : {false, true}) {
      const Format f = type.format;
      if (ftz && (f.width() == 64 || f.mantissa == 7))
        continue;
      const std::string end = (ftz ? ".ftz." : ".") + std::string(type.name);
      floatForm("abs" + end, type, 1, [=](uint64_t a, uint64_t, uint64_t) {
        return (ftz ? f.flush(a) : a) & ~f.sign();
      });
      floatForm("neg" + end, type, 1, [=](uint64_t a, uint64_t, uint64_t) {
        return (ftz ? f.flush(a) : a) ^ f.sign();
      });
      if (f.width() == 16 || ftz)
        continue;
      // d is b with the sign of a.
      floatForm("copysign" + end, type, 2,
                [=](uint64_t a, uint64_t b, uint64_t) {
                  return (a & f.sign()) | (b & ~f.sign());
                });
      using Number = exact::Number;
      const auto property = [&](const char *name, auto holds) {
        form("testp." + std::string(name) + end,
             {{1, f.width()}, floats(f), [=](uint64_t a, uint64_t, uint64_t) {
                const bool subnormal =
                    (a & ~f.sign()) != 0 && f.flush(a) == (a & f.sign());
                return uint64_t(holds(exact::read(f, a).kind, subnormal));
              }});
      };
      property("finite",
               [](Number::Kind k, bool) { return k == Number::Finite; });
      property("infinite",
               [](Number::Kind k, bool) { return k == Number::Infinite; });
      property("number", [](Number::Kind k, bool) { return k != Number::NaN; });
      property("notanumber",
               [](Number::Kind k, bool) { return k == Number::NaN; });
      // "positive and negative zero are considered normal numbers"
      property("normal", [](Number::Kind k, bool subnormal) {
        return k == Number::Finite && !subnormal;
      });
      property("subnormal",
               [](Number::Kind, bool subnormal) { return subnormal; });
    }
}
