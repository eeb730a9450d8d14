// bfe, bfi, bfind, bmsk, brev, clz, fns, popc, prmt, szext: the pseudo code of
// the ISA's "Integer Arithmetic Instructions" and of prmt, bit by bit.

#include "test/Unit/ptxsim_forms/Scalar.h"

#include <algorithm>
#include <map>

using namespace ptxsim::forms;

namespace {

constexpr uint64_t patterns[] = {0,
                                 1,
                                 0x8000000000000000,
                                 0xffffffffffffffff,
                                 0x89abcdef12345678,
                                 0x7654321080fedcba,
                                 0x0000000080000001};

/// Patterns, with positions for b and lengths for c.
const Operands &fields(unsigned width) {
  static std::map<unsigned, Operands> lists;
  Operands &list = lists[width];
  if (list.empty())
    for (uint64_t a : patterns)
      for (uint64_t b : {0u, 1u, 7u, width / 2, width - 1, width, 255u, 257u})
        for (uint64_t c : {0u, 1u, 8u, width - 7, width, 200u, 264u})
          list.push_back({a & ones(width), b, c});
  return list;
}

uint64_t extract(bool isSigned, unsigned width, uint64_t a, uint64_t b,
                 uint64_t c) {
  const unsigned msb = width - 1, pos = b & 0xff, len = c & 0xff;
  const auto bit = [&](unsigned i) { return a >> i & 1; };
  const uint64_t sign = isSigned && len ? bit(std::min(pos + len - 1, msb)) : 0;
  uint64_t d = 0;
  for (unsigned i = 0; i <= msb; ++i)
    d |= (i < len && pos + i <= msb ? bit(pos + i) : sign) << i;
  return d;
}

uint64_t find(bool isSigned, bool shift, unsigned width, uint64_t a) {
  if (isSigned && a >> (width - 1) & 1)
    a = ~a & ones(width);
  for (unsigned i = width; i-- > 0;)
    if (a >> i & 1)
      return shift ? width - 1 - i : i;
  return 0xffffffff;
}

uint64_t bitMask(bool clamp, uint64_t a, uint64_t b) {
  if (clamp) {
    if (a >= 32)
      return 0;
    b = std::min<uint64_t>(b, 32);
  }
  a &= 31;
  if (!clamp)
    b &= 31;
  uint64_t d = 0;
  for (uint64_t i = a; i < std::min<uint64_t>(a + b, 32); ++i)
    d |= uint64_t(1) << i;
  return d;
}

uint64_t extendTo32(bool clamp, bool isSigned, uint64_t a, uint64_t n) {
  if (n >= 32 && clamp)
    return a;
  n &= 31;
  if (n == 0)
    return 0;
  return isSigned ? uint64_t(extended(a, unsigned(n))) : a & ones(unsigned(n));
}

uint64_t findNth(uint64_t mask, uint64_t base, uint64_t offset) {
  int n = int(int32_t(uint32_t(offset)));
  const auto set = [&](int i) { return i >= 0 && i < 32 && (mask >> i & 1); };
  if (n == 0)
    return set(int(base)) ? base : 0xffffffff;
  const int step = n > 0 ? 1 : -1;
  for (int at = int(base); at >= 0 && at < 32; at += step)
    if (set(at) && (n -= step) == 0)
      return uint64_t(at);
  return 0xffffffff;
}

/// Which byte of {b, a} each byte of d is, most significant first, by the two
/// low bits of c: the ISA's table.
struct Mode {
  const char *name;
  unsigned bytes[4];
};
constexpr Mode modes[] = {
    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}},
    {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}},
    {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}},
    {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
};

uint64_t permute(unsigned selectors, uint64_t a, uint64_t b) {
  const uint64_t wide = b << 32 | a;
  uint64_t d = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned s = selectors >> (4 * i) & 15;
    uint64_t byte = wide >> (8 * (s & 7)) & 0xff;
    if (s & 8)
      byte = byte & 0x80 ? 0xff : 0;
    d |= byte << (8 * i);
  }
  return d;
}

} // namespace

FORMS(bitFields) {
  for (const unsigned width : {32, 64}) {
    const std::string bits = std::to_string(width);
    for (const bool isSigned : {false, true}) {
      const std::string type = (isSigned ? ".s" : ".u") + bits;
      form("bfe" + type, {{width, width, 32, 32},
                          fields(width),
                          [=](uint64_t a, uint64_t b, uint64_t c) {
                            return extract(isSigned, width, a, b, c);
                          }});
      for (const bool shift : {false, true})
        form(
            (shift ? "bfind.shiftamt" : "bfind") + type,
            {{32, width}, integers(width), [=](uint64_t a, uint64_t, uint64_t) {
               return find(isSigned, shift, width, a);
             }});
    }
    // c has the position in its low half and the length in its high half.
    static std::map<unsigned, Operands> lists;
    Operands &list = lists[width];
    for (const auto &[a, b, c] : fields(width))
      list.push_back({a, 0x5aa5c33c0ff01e87 & ones(width), b | c << 16});
    form("bfi.b" + bits,
         {{width, width, width, 32},
          list,
          [=](uint64_t a, uint64_t b, uint64_t c) {
            const unsigned pos = c & 0xff, len = c >> 16 & 0xff;
            for (unsigned i = 0; i < len && pos + i < width; ++i)
              b = (b & ~(uint64_t(1) << (pos + i))) | (a >> i & 1) << (pos + i);
            return b;
          },
          {},
          "{ .reg .b32 pos, len;\n  and.b32 pos, c, 0xffff;\n"
          "  shr.u32 len, c, 16;\n  $ d, a, b, pos, len; }"});
    form("brev.b" + bits,
         {{width, width}, integers(width), [=](uint64_t a, uint64_t, uint64_t) {
            uint64_t d = 0;
            for (unsigned i = 0; i < width; ++i)
              d |= (a >> i & 1) << (width - 1 - i);
            return d;
          }});
    form("clz.b" + bits,
         {{32, width}, integers(width), [=](uint64_t a, uint64_t, uint64_t) {
            uint64_t n = 0;
            while (n < width && !(a >> (width - 1 - n) & 1))
              ++n;
            return n;
          }});
    form("popc.b" + bits,
         {{32, width}, integers(width), [=](uint64_t a, uint64_t, uint64_t) {
            uint64_t n = 0;
            for (unsigned i = 0; i < width; ++i)
              n += a >> i & 1;
            return n;
          }});
  }
}

FORMS(masks) {
  static Operands counts, numbers;
  for (uint64_t a : {0u, 1u, 5u, 31u, 32u, 36u, 0xffffffe3u})
    for (uint64_t b : {0u, 1u, 7u, 27u, 31u, 32u, 33u, 40u, 0x80000004u})
      counts.push_back({a, b, 0});
  for (uint64_t a : patterns)
    for (const auto &[unused, b, none] : counts)
      numbers.push_back({a & 0xffffffff, b, 0});
  for (const bool clamp : {true, false}) {
    const std::string mode = clamp ? ".clamp" : ".wrap";
    form("bmsk" + mode + ".b32",
         {{32, 32, 32}, counts, [=](uint64_t a, uint64_t b, uint64_t) {
            return bitMask(clamp, a, b);
          }});
    for (const bool isSigned : {true, false})
      form("szext" + mode + (isSigned ? ".s32" : ".u32"),
           {{32, 32, 32}, numbers, [=](uint64_t a, uint64_t b, uint64_t) {
              return extendTo32(clamp, isSigned, a, b);
            }});
  }
}

FORMS(findNthBit) {
  static Operands operands;
  for (uint64_t mask : {0u, 1u, 0x80000000u, 0xffffffffu, 0x80403011u})
    for (uint64_t base : {0u, 1u, 4u, 13u, 22u, 31u})
      for (uint64_t offset : {0u, 1u, 2u, 3u, 32u, 33u, 0xffffffffu,
                              0xfffffffeu, 0xfffffffdu, 0x80000000u})
        operands.push_back({mask, base, offset});
  form("fns.b32", {{32, 32, 32, 32}, operands, findNth});
}

FORMS(permutations) {
  static Operands operands;
  for (uint64_t a : {0x8f0172e3u, 0x01020304u})
    for (uint64_t b : {0x98a6b45cu, 0x7f80fe11u})
      for (uint64_t c : {0x3210u, 0x7654u, 0xba98u, 0xfedcu, 0x8421u, 0x0c5bu,
                         0xffff7531u, 0x12340042u, 0u, 1u, 2u, 3u})
        operands.push_back({a, b, c});
  form("prmt.b32",
       {{32, 32, 32, 32}, operands, [](uint64_t a, uint64_t b, uint64_t c) {
          return permute(unsigned(c & 0xffff), a, b);
        }});
  for (const Mode &mode : modes)
    form(std::string("prmt.b32.") + mode.name,
         {{32, 32, 32, 32}, operands, [&](uint64_t a, uint64_t b, uint64_t c) {
            return permute(mode.bytes[c & 3], a, b);
          }});
}
