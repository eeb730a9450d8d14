// add.cc, addc, sub.cc, subc, mad.cc, madc: the ISA's "Extended-Precision
// Integer Arithmetic Instructions". Each test looks at the result and at the
// carry that the instruction leaves: that of its own addition with .cc, the one
// it found without.

#include "test/Unit/ptxsim_forms/Scalar.h"

using namespace ptxsim::forms;

namespace {

__extension__ using Wide = unsigned __int128;

struct Carried {
  uint64_t value;
  bool carry;
};

/// a + b + in, or a - (b + in), of `width` bits.
Carried sum(unsigned width, bool minus, uint64_t a, uint64_t b, bool in) {
  if (minus)
    return {(a - b - in) & ones(width), Wide(a) < Wide(b) + in};
  const Wide wide = Wide(a) + b + in;
  return {uint64_t(wide) & ones(width), (wide >> width) != 0};
}

uint64_t half(unsigned width, bool isSigned, bool high, uint64_t a,
              uint64_t b) {
  const Wide x = isSigned ? Wide(extended(a, width)) : Wide(a);
  const Wide y = isSigned ? Wide(extended(b, width)) : Wide(b);
  return uint64_t(x * y >> (high ? width : 0)) & ones(width);
}

struct Instruction {
  std::string name;
  unsigned width;
  bool takes, leaves, minus;
  unsigned sources;
};

/// Two threads per case: one stores the result, the other one the carry.
void check(const Instruction &i, bool carry,
           const std::function<Carried(uint64_t, uint64_t, uint64_t, bool)>
               &reference) {
  const std::string type = ".b" + std::to_string(i.width);
  // The carry is set and read by instructions other than the one under test.
  const bool u32 = i.name.ends_with(".u32");
  const std::string other = u32 ? ".s32" : ".u32";
  const std::string set = i.minus ? "sub.cc" + other + " word, 0, flag;\n"
                                  : "add.cc" + other + " word, -1, flag;\n";
  const std::string get = (i.minus ? "subc" : "addc") + other +
                          " word, 0, 0;\n  and.b32 word, word, 1;\n";
  std::string body = R"(
  .reg .b32 word, flag, index;
  .reg .b64 in, carry, wide;
  .reg .pred odd;
  .reg )" + type + R"( d, a, b, c;
  shr.u32 index, %t, 1;
  mul.wide.u32 in, index, 32;
  add.s64 in, %p0, in;
  ld.global)" + type +
                     " a, [in];\n  ld.global" + type +
                     " b, [in+8];\n  ld.global" + type +
                     " c, [in+16];\n  ld.global.b32 flag, [in+24];\n  " + set +
                     "  " + i.name + " d, a, b" +
                     (i.sources == 3 ? ", c" : "") + ";\n  " + get +
                     R"(  cvt.u64.u32 carry, word;
  and.b32 word, %t, 1;
  setp.eq.u32 odd, word, 1;
)" + (i.width == 64 ? "  mov.b64 wide, d;\n" : "  cvt.u64.u32 wide, d;\n") +
                     R"(  @odd mov.b64 wide, carry;
  st.global.b64 [%out], wide;)";
  std::vector<uint64_t> in, expected;
  for (size_t t = carry; t < integerTriples(i.width).size(); t += 2) {
    const auto &[a, b, c] = integerTriples(i.width)[t];
    in.insert(in.end(), {a, b, c, carry});
    const Carried r = reference(a, b, c, i.takes && carry);
    expected.push_back(r.value);
    expected.push_back(i.leaves ? r.carry : carry);
  }
  const std::vector<uint64_t> got = runThreads(body, expected.size(), in);
  for (size_t t = 0, wrong = 0; t < got.size() && wrong < 4; ++t)
    if (got[t] != expected[t] && ++wrong)
      ADD_FAILURE() << i.name << (t & 1 ? " leaves the carry " : " gives ")
                    << std::hex << got[t] << ", expected " << expected[t]
                    << ": a = 0x" << in[t / 2 * 4] << ", b = 0x"
                    << in[t / 2 * 4 + 1] << ", c = 0x" << in[t / 2 * 4 + 2]
                    << ", carry " << in[t / 2 * 4 + 3];
}

} // namespace

FORMS(carries) {
  for (const unsigned width : {32, 64})
    for (const bool isSigned : {false, true})
      for (const bool takes : {false, true})
        for (const bool leaves : {false, true}) {
          if (!takes && !leaves)
            continue;
          const std::string end = (leaves ? ".cc" : "") +
                                  std::string(isSigned ? ".s" : ".u") +
                                  std::to_string(width);
          const std::string c = takes ? "c" : "";
          for (const bool minus : {false, true}) {
            const Instruction i{(minus ? "sub" : "add") + c + end,
                                width,
                                takes,
                                leaves,
                                minus,
                                2};
            form(i.name, [=] {
              for (const bool carry : {false, true})
                check(i, carry, [&](uint64_t a, uint64_t b, uint64_t, bool in) {
                  return sum(width, minus, a, b, in);
                });
            });
          }
          for (const bool high : {false, true}) {
            const Instruction i{"mad" + c + (high ? ".hi" : ".lo") + end,
                                width,
                                takes,
                                leaves,
                                false,
                                3};
            form(i.name, [=] {
              for (const bool carry : {false, true})
                check(i, carry,
                      [&](uint64_t a, uint64_t b, uint64_t c, bool in) {
                        return sum(width, false,
                                   half(width, isSigned, high, a, b), c, in);
                      });
            });
          }
        }
}
