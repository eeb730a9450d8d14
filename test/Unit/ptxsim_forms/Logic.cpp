// and, or, xor, not, cnot, lop3, shl, shr, shf: the bits of the ISA's "Logic
// and Shift Instructions", written on 64-bit integers.

#include "test/Unit/ptxsim_forms/Scalar.h"

#include <map>

using namespace ptxsim::forms;

namespace {

/// Shift amounts around 0 and the width, and some that have high bits.
const Operands &shifts(unsigned width) {
  static std::map<unsigned, Operands> lists;
  Operands &list = lists[width];
  if (list.empty())
    for (const auto &line : integers(width))
      for (uint64_t n : {0u, 1u, 5u, width - 1, width, width + 1, 0x80000003u})
        if (list.size() < 1024)
          list.push_back({line[0], n, 0});
  return list;
}

uint64_t lookUp(unsigned table, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t d = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    d |= uint64_t(table >> row & 1) << i;
  }
  return d;
}

/// Tables of which each output bit differs between some two.
constexpr unsigned tables[] = {0x96, 0x80, 0xfe, 0x1a, 0xca,
                               0xe2, 0x35, 0x00, 0xff};

void lop3With(const std::string &name, bool either) {
  for (unsigned table : tables) {
    const std::string lut = std::to_string(table);
    expectResults("{ .reg .pred q, p; .reg .b32 word;\n"
                  "  setp.ne.u32 q, c, 0;\n  " +
                      name + " word|p, a, b, a, " + lut +
                      ", q;\n  selp.b32 d, 0x80000000, 0, p;\n"
                      "  xor.b32 d, d, word; }",
                  {32, 32, 32, 32}, [&] {
                    std::vector<ptxsim::test::Case> cases;
                    for (uint64_t a : {0ull, 0x7f00ff12ull})
                      for (uint64_t b : {0ull, 0x0ff0f0f3ull})
                        for (uint64_t c : {0ull, 1ull}) {
                          const uint64_t d = lookUp(table, a, b, a);
                          const bool p = either ? d || c : d && c;
                          cases.push_back({a, b, c, d ^ (p ? 0x80000000 : 0)});
                        }
                    return cases;
                  }());
  }
}

} // namespace

FORMS(logic) {
  for (unsigned width : {1, 16, 32, 64}) {
    const std::string type =
        width == 1 ? ".pred" : ".b" + std::to_string(width);
    static const Operands predicates = {
        {0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}};
    const Operands &two = width == 1 ? predicates : integerPairs(width);
    const Operands &one = width == 1 ? predicates : integers(width);
    const ptxsim::test::Widths binary{width, width, width};
    form("and" + type,
         {binary, two, [](uint64_t a, uint64_t b, uint64_t) { return a & b; }});
    form("or" + type,
         {binary, two, [](uint64_t a, uint64_t b, uint64_t) { return a | b; }});
    form("xor" + type,
         {binary, two, [](uint64_t a, uint64_t b, uint64_t) { return a ^ b; }});
    form("not" + type, {{width, width},
                        one,
                        [](uint64_t a, uint64_t, uint64_t) { return ~a; }});
    if (width == 1)
      continue;
    form("cnot" + type,
         {{width, width}, one, [](uint64_t a, uint64_t, uint64_t) {
            return uint64_t(a == 0);
          }});
    form("shl" + type, {{width, width, 32},
                        shifts(width),
                        [=](uint64_t a, uint64_t b, uint64_t) {
                          return b >= width ? 0 : a << b;
                        }});
    for (const char *kind : {".b", ".u", ".s"}) {
      const bool fill = kind[1] == 's';
      form("shr" + (kind + std::to_string(width)),
           {{width, width, 32},
            shifts(width),
            [=](uint64_t a, uint64_t b, uint64_t) {
              if (fill)
                return uint64_t(extended(a, width) >> (b >= width ? 63 : b));
              return b >= width ? 0 : a >> b;
            },
            {},
            {},
            fill ? "shr.s" : "shr.u"});
    }
  }
}

FORMS(lop3) {
  form("lop3.b32", [] {
    for (unsigned table : tables) {
      const std::string lut = std::to_string(table);
      std::vector<ptxsim::test::Case> cases;
      for (const auto &[a, b, c] : integerTriples(32))
        cases.push_back({a, b, c, lookUp(table, a, b, c)});
      cases.resize(100);
      expectResults("lop3.b32 d, a, b, c, " + lut, {32, 32, 32, 32}, cases);
    }
  });
  form("lop3.or.b32", [] { lop3With("lop3.or.b32", true); });
  form("lop3.and.b32", [] { lop3With("lop3.and.b32", false); });
}

FORMS(funnelShift) {
  static Operands operands;
  for (uint64_t a : {0x89abcdefu, 0x12345678u, 0xffffffffu, 0u})
    for (uint64_t b : {0x80000001u, 0x76543210u, 0u})
      for (uint64_t c : {0u, 1u, 8u, 31u, 32u, 33u, 40u, 63u, 64u, 0xffffffe4u})
        operands.push_back({a, b, c});
  for (const bool left : {true, false})
    for (const bool clamp : {true, false})
      form(
          std::string("shf.") + (left ? "l" : "r") +
              (clamp ? ".clamp" : ".wrap") + ".b32",
          {{32, 32, 32, 32}, operands, [=](uint64_t a, uint64_t b, uint64_t c) {
             const uint64_t n = clamp ? std::min<uint64_t>(c, 32) : c & 31;
             const uint64_t wide = b << 32 | a;
             return left ? wide << n >> 32 : wide >> n & 0xffffffff;
           }});
}
