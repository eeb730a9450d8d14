// setp, set, selp, slct: every comparison of every type, on numbers, zeros,
// subnormals and NaNs.

#include "test/Unit/ptxsim_forms/Float.h"

#include <map>

using namespace ptxsim::forms;

namespace {

/// What is compared. Integers and bits have no format.
struct Source {
  std::string name;
  unsigned width;
  char kind; // b, u, s, f
  exact::Format format{};
  bool packed = false;
};

std::vector<Source> sources() {
  std::vector<Source> list;
  for (const unsigned width : {16, 32, 64})
    for (const char kind : {'b', 'u', 's'})
      list.push_back({kind + std::to_string(width), width, kind});
  for (const FloatType &type : floatTypes)
    list.push_back({type.name, type.width(), 'f', type.format, type.packed});
  return list;
}

/// By the order of two values: less, equal, greater, unordered.
struct Comparison {
  const char *name;
  bool less, equal, greater, unordered;
  const char *kinds; // of Source
};
constexpr Comparison comparisons[] = {
    {"eq", false, true, false, false, "busf"},
    {"ne", true, false, true, false, "busf"},
    {"lt", true, false, false, false, "usf"},
    {"le", true, true, false, false, "usf"},
    {"gt", false, false, true, false, "usf"},
    {"ge", false, true, true, false, "usf"},
    {"lo", true, false, false, false, "u"},
    {"ls", true, true, false, false, "u"},
    {"hi", false, false, true, false, "u"},
    {"hs", false, true, true, false, "u"},
    {"equ", false, true, false, true, "f"},
    {"neu", true, false, true, true, "f"},
    {"ltu", true, false, false, true, "f"},
    {"leu", true, true, false, true, "f"},
    {"gtu", false, false, true, true, "f"},
    {"geu", false, true, true, true, "f"},
    {"num", true, true, true, false, "f"},
    {"nan", false, false, false, true, "f"},
};

bool holds(const Comparison &c, const Source &s, bool ftz, uint64_t a,
           uint64_t b) {
  int order = 0;
  if (s.kind == 'f') {
    if (s.format.isNaN(a) || s.format.isNaN(b))
      return c.unordered;
    const Modifiers m{exact::Rounding::Nearest, ftz};
    order = compare(m.operand(s.format, a), m.operand(s.format, b));
  } else if (s.kind == 's') {
    const int64_t x = extended(a, s.width), y = extended(b, s.width);
    order = x < y ? -1 : x > y;
  } else {
    order = a < b ? -1 : a > b;
  }
  return order < 0 ? c.less : order > 0 ? c.greater : c.equal;
}

const Operands &pairs(const Source &s) {
  if (s.kind != 'f')
    return integerPairs(s.width);
  return s.packed ? packed(floatPairs(s.format)) : floatPairs(s.format);
}

/// Every pair with the predicate c in one of its states, in turn.
const Operands &pairsWithC(const Source &s) {
  static std::map<const Operands *, Operands> lists;
  Operands &list = lists[&pairs(s)];
  if (list.empty())
    for (const auto &[a, b, c] : pairs(s))
      list.push_back({a, b, list.size() / 2 % 2});
  return list;
}

/// .and, .or, .xor, or nothing.
bool combined(const std::string &with, bool t, bool c) {
  return with == ".and"   ? t && c
         : with == ".or"  ? t || c
         : with == ".xor" ? t != c
                          : t;
}

/// Comparisons of one type that are the same by another name: lo is lt, a
/// comparison of bits is one of unsigned numbers, and whether a number is NaN
/// does not depend on .ftz.
std::string meaningOf(const Comparison &c, std::string modifiers,
                      const Source &s) {
  const bool onlyNaN = c.less == c.equal && c.equal == c.greater;
  if (const size_t at = modifiers.find(".ftz"); onlyNaN && at != modifiers.npos)
    modifiers.erase(at, 4);
  std::string type = s.name;
  if (s.kind != 'f' && (c.less == c.greater || s.kind == 'b'))
    type = "u" + std::to_string(s.width);
  return std::to_string(c.less) + std::to_string(c.equal) +
         std::to_string(c.greater) + std::to_string(c.unordered) + modifiers +
         type;
}

/// setp with both results, p in bit 0 and q in bit 1, and with p alone, behind
/// a combination with the complement of the predicate, in bit 2.
void setp(const Comparison &c, const std::string &with, bool ftz,
          const Source &s) {
  const std::string modifiers = with + (ftz ? ".ftz." : ".");
  const std::string operands = with.empty() ? ", a, b" : ", a, b, r";
  // Halves have one result, pairs of halves always two.
  const bool onlyP = s.kind == 'f' && s.width == 16;
  std::string statement = "{ .reg .pred p, q, r, alone;\n";
  if (!with.empty())
    statement += "  setp.ne.s32 r, c, 0;\n";
  statement += "  mov.u32 d, 0;\n";
  if (!onlyP)
    statement += "  $ p|q" + operands +
                 ";\n  @p or.b32 d, d, 1;\n"
                 "  @q or.b32 d, d, 2;\n";
  if (!s.packed)
    statement += std::string("  $ alone, a, b") + (with.empty() ? "" : ", !r") +
                 ";\n  @alone or.b32 d, d, 4;\n";
  form("setp." + std::string(c.name) + modifiers + s.name,
       {{32, s.width, s.width, with.empty() ? 0u : 32},
        pairsWithC(s),
        [=](uint64_t a, uint64_t b, uint64_t r) {
          bool p = holds(c, s, ftz, a, b), q = !p;
          const bool alone = !s.packed && combined(with, p, !r);
          if (s.packed) {
            p = holds(c, s, ftz, a & 0xffff, b & 0xffff);
            q = holds(c, s, ftz, a >> 16, b >> 16);
          }
          p = !onlyP && combined(with, p, r);
          q = !onlyP && combined(with, q, r);
          return uint64_t(p) | uint64_t(q) << 1 | uint64_t(alone) << 2;
        },
        {},
        statement + "}",
        meaningOf(c, modifiers, s)});
}

struct Destination {
  std::string name;
  unsigned width;
  uint64_t yes;
};

void set(const Comparison &c, const std::string &with, bool ftz,
         const Destination &d, const Source &s) {
  const std::string modifiers = with + (ftz ? ".ftz." : ".");
  std::string statement = "$ d, a, b";
  if (!with.empty())
    statement =
        "{ .reg .pred r;\n  setp.ne.s32 r, c, 0;\n  " + statement + ", r; }";
  form("set." + std::string(c.name) + modifiers + d.name + "." + s.name,
       {{d.width, s.width, s.width, with.empty() ? 0u : 32},
        pairsWithC(s),
        [=](uint64_t a, uint64_t b, uint64_t r) {
          const auto one = [&](uint64_t x, uint64_t y) {
            return combined(with, holds(c, s, ftz, x, y), r) ? d.yes : 0;
          };
          if (!s.packed)
            return one(a, b);
          return (one(a & 0xffff, b & 0xffff) & 0xffff) |
                 (one(a >> 16, b >> 16) & 0xffff) << 16;
        },
        {},
        statement,
        meaningOf(c, modifiers + std::to_string(d.yes), s)});
}

/// The destinations that the ISA gives a source.
std::vector<Destination> destinations(const Source &s) {
  const Destination u32{"u32", 32, 0xffffffff}, s32{"s32", 32, 0xffffffff};
  if (s.packed)
    return {u32, s32, {s.name, 32, s.format.one()}};
  const Destination bf16{"bf16", 16, exact::bf16.one()};
  std::vector<Destination> list = {u32, s32, bf16};
  if (s.kind == 'f' && s.width == 16) {
    list.push_back({"u16", 16, 0xffff});
    list.push_back({"s16", 16, 0xffff});
  } else {
    list.push_back({"f32", 32, exact::f32.one()});
  }
  if (s.name != "bf16")
    list.push_back({"f16", 16, exact::f16.one()});
  return list;
}

const std::string combinations[] = {"", ".and", ".or", ".xor"};

bool hasFtz(const Source &s) {
  return s.name == "f32" || s.format.exponent == 5;
}

} // namespace

FORMS(comparisons) {
  for (const Source &s : sources())
    for (const Comparison &c : comparisons) {
      if (std::string(c.kinds).find(s.kind) == std::string::npos)
        continue;
      for (const std::string &with : combinations)
        for (const bool ftz : {false, true}) {
          if (ftz && !hasFtz(s))
            continue;
          setp(c, with, ftz, s);
          for (const Destination &d : destinations(s))
            if (!ftz || d.name != "bf16") // ptxas has no such form
              set(c, with, ftz, d, s);
        }
    }
}

FORMS(selections) {
  for (const unsigned width : {16, 32, 64})
    for (const char *kind : {".b", ".u", ".s", ".f"}) {
      if (width == 16 && kind[1] == 'f')
        continue;
      const std::string type = kind + std::to_string(width);
      form("selp" + type,
           {{width, width, width, 1},
            withPredicate(integerPairs(width)),
            [](uint64_t a, uint64_t b, uint64_t c) { return c ? a : b; },
            {},
            {},
            "selp" + std::to_string(width)});
      // c: zeros, ones of either sign, subnormals, NaNs.
      static std::map<unsigned, Operands> lists;
      Operands &list = lists[width];
      if (list.empty())
        for (const auto &[a, b, unused] : integerPairs(width))
          for (const uint64_t c :
               {0u, 1u, 0x80000000u, 0x80000001u, 0x3f800000u, 0xbf800000u,
                0x7fc00000u, 0xffc00000u})
            if (list.size() < 1000)
              list.push_back({a, b, c});
      form("slct" + type + ".s32", {{width, width, width, 32},
                                    list,
                                    [](uint64_t a, uint64_t b, uint64_t c) {
                                      return int32_t(uint32_t(c)) >= 0 ? a : b;
                                    },
                                    {},
                                    {},
                                    "slct.s32"});
      for (const bool ftz : {false, true})
        form((ftz ? "slct.ftz" : "slct") + type + ".f32",
             {{width, width, width, 32},
              list,
              [=](uint64_t a, uint64_t b, uint64_t c) {
                if (ftz)
                  c = exact::f32.flush(c);
                const bool negative =
                    c & 0x80000000 && c != 0x80000000; // -0 is equal to 0
                return exact::f32.isNaN(c) || negative ? b : a;
              },
              {},
              {},
              ftz ? "slct.ftz.f32" : "slct.f32"});
    }
}
