// add, sub, mul, mad, mul24, mad24, div, rem, abs, neg, min, max, sad, dp2a,
// dp4a: the ISA's "Integer Arithmetic Instructions" on 128-bit integers.
// Division by zero, and of the least number by -1, have no value there and are
// left out.

#include "test/Unit/ptxsim_forms/Scalar.h"

#include <algorithm>
#include <map>

using namespace ptxsim::forms;

namespace {

__extension__ using Wide = __int128;

struct Type {
  bool isSigned;
  unsigned width;

  std::string name() const {
    return (isSigned ? ".s" : ".u") + std::to_string(width);
  }
  Wide value(uint64_t bits) const {
    return isSigned ? Wide(extended(bits, width)) : Wide(bits);
  }
  Wide least() const { return isSigned ? -(Wide(1) << (width - 1)) : 0; }
  Wide most() const { return (Wide(1) << (isSigned ? width - 1 : width)) - 1; }
  uint64_t saturated(Wide v) const {
    return uint64_t(std::clamp(v, least(), most())) & ones(width);
  }
};

/// Signed and unsigned of one width mean the same.
std::string anySign(const std::string &base, const Type &type) {
  return base + std::to_string(type.width);
}

Wide distance(Wide a, Wide b) { return a < b ? b - a : a - b; }

/// The high half of a product, without its sign if it has none: 128 bits do not
/// hold an unsigned product of 64 bits as a signed number, but its bits.
uint64_t high(const Type &type, uint64_t a, uint64_t b) {
  __extension__ using Bits = unsigned __int128;
  return uint64_t(Bits(type.value(a)) * Bits(type.value(b)) >> type.width) &
         ones(type.width);
}

const Operands &divisions(const Type &type) {
  static std::map<std::string, Operands> lists;
  Operands &list = lists[std::to_string(type.width)];
  if (list.empty())
    for (const auto &[a, b, c] : integerPairs(type.width))
      if (b != 0 &&
          !(a == uint64_t(1) << (type.width - 1) && b == ones(type.width)))
        list.push_back({a, b, c});
  return list;
}

uint64_t lowOf24(bool isSigned, uint64_t v) {
  return isSigned ? uint64_t(extended(v, 24)) : v & ones(24);
}

void additions(const Type &t) {
  const unsigned w = t.width;
  form("add" + t.name(),
       {{w, w, w},
        integerPairs(w),
        [](uint64_t a, uint64_t b, uint64_t) { return a + b; },
        {},
        {},
        anySign("add", t)});
  form("sub" + t.name(),
       {{w, w, w},
        integerPairs(w),
        [](uint64_t a, uint64_t b, uint64_t) { return a - b; },
        {},
        {},
        anySign("sub", t)});
  form("sad" + t.name(), {{w, w, w, w},
                          integerTriples(w),
                          [=](uint64_t a, uint64_t b, uint64_t c) {
                            return c +
                                   uint64_t(distance(t.value(a), t.value(b)));
                          }});
}

void products(const Type &t) {
  const unsigned w = t.width;
  form("mul.lo" + t.name(),
       {{w, w, w},
        integerPairs(w),
        [](uint64_t a, uint64_t b, uint64_t) { return a * b; },
        {},
        {},
        anySign("mul.lo", t)});
  form("mad.lo" + t.name(),
       {{w, w, w, w},
        integerTriples(w),
        [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; },
        {},
        {},
        anySign("mad.lo", t)});
  form("mul.hi" + t.name(),
       {{w, w, w}, integerPairs(w), [=](uint64_t a, uint64_t b, uint64_t) {
          return high(t, a, b);
        }});
  form("mad.hi" + t.name(),
       {{w, w, w, w},
        integerTriples(w),
        [=](uint64_t a, uint64_t b, uint64_t c) { return high(t, a, b) + c; }});
  if (w == 64)
    return;
  form("mul.wide" + t.name(),
       {{2 * w, w, w}, integerPairs(w), [=](uint64_t a, uint64_t b, uint64_t) {
          return uint64_t(t.value(a) * t.value(b));
        }});
  static std::map<unsigned, Operands> wide;
  Operands &list = wide[w];
  if (list.empty())
    for (const auto &[a, b, c] : integerTriples(w))
      list.push_back({a, b, (c << w | ~c) & ones(2 * w)});
  form("mad.wide" + t.name(),
       {{2 * w, w, w, 2 * w}, list, [=](uint64_t a, uint64_t b, uint64_t c) {
          return uint64_t(t.value(a) * t.value(b)) + c;
        }});
}

void quotients(const Type &t) {
  const unsigned w = t.width;
  form("div" + t.name(),
       {{w, w, w}, divisions(t), [=](uint64_t a, uint64_t b, uint64_t) {
          return uint64_t(t.value(a) / t.value(b));
        }});
  form("rem" + t.name(),
       {{w, w, w}, divisions(t), [=](uint64_t a, uint64_t b, uint64_t) {
          return uint64_t(t.value(a) % t.value(b));
        }});
}

void orders(const Type &t) {
  const unsigned w = t.width;
  form("min" + t.name(),
       {{w, w, w}, integerPairs(w), [=](uint64_t a, uint64_t b, uint64_t) {
          return t.value(a) < t.value(b) ? a : b;
        }});
  form("max" + t.name(),
       {{w, w, w}, integerPairs(w), [=](uint64_t a, uint64_t b, uint64_t) {
          return t.value(a) > t.value(b) ? a : b;
        }});
}

} // namespace

FORMS(integers) {
  for (const unsigned width : {16, 32, 64})
    for (const bool isSigned : {false, true}) {
      const Type t{isSigned, width};
      additions(t);
      products(t);
      quotients(t);
      orders(t);
      if (!isSigned)
        continue;
      form("abs" + t.name(), {{width, width},
                              integers(width),
                              [=](uint64_t a, uint64_t, uint64_t) {
                                return t.value(a) < 0 ? 0 - a : a;
                              }});
      form("neg" + t.name(),
           {{width, width},
            integers(width),
            [](uint64_t a, uint64_t, uint64_t) { return 0 - a; }});
    }
}

FORMS(saturation) {
  const Type t{true, 32};
  form("add.sat.s32",
       {{32, 32, 32}, integerPairs(32), [=](uint64_t a, uint64_t b, uint64_t) {
          return t.saturated(t.value(a) + t.value(b));
        }});
  form("sub.sat.s32",
       {{32, 32, 32}, integerPairs(32), [=](uint64_t a, uint64_t b, uint64_t) {
          return t.saturated(t.value(a) - t.value(b));
        }});
  form("mad.hi.sat.s32",
       {{32, 32, 32, 32},
        integerTriples(32),
        [=](uint64_t a, uint64_t b, uint64_t c) {
          return t.saturated((t.value(a) * t.value(b) >> 32) + t.value(c));
        }});
  for (const bool most : {false, true})
    form(
        most ? "max.relu.s32" : "min.relu.s32",
        {{32, 32, 32}, integerPairs(32), [=](uint64_t a, uint64_t b, uint64_t) {
           const Wide x = t.value(a), y = t.value(b);
           return uint64_t(std::max<Wide>(0, (x < y) == most ? y : x));
         }});
}

FORMS(pairsOf16) {
  const auto halves = [](const std::string &name, auto f,
                         const std::string &meaning = {}) {
    form(name, {{32, 32, 32},
                packed(integerPairs(16)),
                onHalves([=](uint64_t a, uint64_t b, uint64_t) {
                  return uint64_t(f(a, b));
                }),
                {},
                {},
                meaning});
  };
  for (const bool isSigned : {false, true}) {
    const Type t{isSigned, 16};
    const std::string type = t.name() + "x2";
    halves(
        "add" + type, [](uint64_t a, uint64_t b) { return a + b; }, "add.x2");
    for (const bool most : {false, true}) {
      const auto choose = [=](uint64_t a, uint64_t b) {
        const Wide x = t.value(a), y = t.value(b);
        return (x < y) == most ? y : x;
      };
      const std::string base = most ? "max" : "min";
      halves(base + type, choose);
      if (isSigned)
        halves(base + ".relu" + type, [=](uint64_t a, uint64_t b) {
          return std::max<Wide>(0, choose(a, b));
        });
    }
  }
}

// Only operands that are numbers of 24 bits: the ISA does not say what becomes
// of the others.
FORMS(products24) {
  for (const bool isSigned : {false, true}) {
    static std::map<bool, Operands> lists;
    Operands &list = lists[isSigned];
    for (const auto &[a, b, c] : integerTriples(32))
      list.push_back({lowOf24(isSigned, a ^ a >> 8) & ones(32),
                      lowOf24(isSigned, b ^ b >> 8) & ones(32), c});
    const Type t{isSigned, 32};
    if (isSigned)
      form("mad24.hi.sat.s32",
           {{32, 32, 32, 32}, list, [=](uint64_t a, uint64_t b, uint64_t c) {
              return t.saturated((t.value(a) * t.value(b) >> 16) + t.value(c));
            }});
    for (const unsigned shift : {0, 16}) {
      const std::string name = (shift ? ".hi" : ".lo") + t.name();
      const auto product = [=](uint64_t a, uint64_t b) {
        return uint64_t(t.value(a) * t.value(b) >> shift);
      };
      form("mul24" + name,
           {{32, 32, 32}, list, [=](uint64_t a, uint64_t b, uint64_t) {
              return product(a, b);
            }});
      form("mad24" + name,
           {{32, 32, 32, 32}, list, [=](uint64_t a, uint64_t b, uint64_t c) {
              return product(a, b) + c;
            }});
    }
  }
}

FORMS(dotProducts) {
  for (const bool a8 : {false, true})
    for (const bool b8 : {false, true}) {
      const std::string types =
          (a8 ? std::string(".s32") : ".u32") + (b8 ? ".s32" : ".u32");
      const auto part = [](uint64_t v, unsigned i, unsigned width,
                           bool isSigned) {
        return Type{isSigned, width}.value(v >> (i * width) & ones(width));
      };
      form("dp4a" + types, {{32, 32, 32, 32},
                            integerTriples(32),
                            [=](uint64_t a, uint64_t b, uint64_t c) {
                              Wide d = Wide(c);
                              for (unsigned i = 0; i < 4; ++i)
                                d += part(a, i, 8, a8) * part(b, i, 8, b8);
                              return uint64_t(d);
                            }});
      for (const unsigned from : {0, 2})
        form((from ? "dp2a.hi" : "dp2a.lo") + types,
             {{32, 32, 32, 32},
              integerTriples(32),
              [=](uint64_t a, uint64_t b, uint64_t c) {
                Wide d = Wide(c);
                for (unsigned i = 0; i < 2; ++i)
                  d += part(a, i, 16, a8) * part(b, from + i, 8, b8);
                return uint64_t(d);
              }});
    }
}
