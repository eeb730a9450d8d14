// mov: copies of every type, immediates, packing and unpacking (the first
// element is the least significant one), special registers, addresses of
// variables and functions.

#include "test/Unit/ptxsim_forms/Form.h"

using namespace ptxsim;
using namespace ptxsim::forms;

namespace {

/// Patterns whose halves, signs and ends differ; of NaNs and subnormals too, as
/// a move changes no bit.
const uint64_t patterns[] = {0,
                             1,
                             0x8000000000000000,
                             0x80000000,
                             0x8000,
                             0x0123456789abcdef,
                             0xfedcba9876543210,
                             0x7f8000017ff00000,
                             0xffffffffffffffff,
                             0x0000000100800001,
                             0x7ff0000000000001,
                             0xfff800007fc07e01};

void copies(const std::string &name, unsigned bits) {
  std::vector<test::Case> cases;
  for (uint64_t pattern : patterns)
    cases.push_back(
        {pattern, 0, 0,
         bits == 64 ? pattern : pattern & ((uint64_t(1) << bits) - 1)});
  expectResults(name + " d, a", {bits, bits}, cases);
}

/// What `statement` leaves in d, in one thread whose number is 0.
uint64_t valueOf(unsigned bits, const std::string &statement) {
  const std::string width = std::to_string(bits);
  const std::vector<uint64_t> got =
      runThreads("  .reg .b" + width + " d;\n  " + statement +
                     "\n  st.global.b" + width + " [%out], d;",
                 1);
  return got.empty() ? 0xdead : got[0];
}

/// What `body` makes of a in d, both of these widths.
void packs(unsigned d, unsigned a, const std::string &body,
           uint64_t (*expected)(uint64_t)) {
  std::vector<test::Case> cases;
  for (uint64_t pattern : patterns) {
    const uint64_t value = a == 32 ? uint32_t(pattern) : pattern;
    cases.push_back({pattern, 0, 0, expected(value)});
  }
  expectResults("{ .reg .b16 h<4>; .reg .b32 r<4>;\n " + body + "\n }", {d, a},
                cases);
}

} // namespace

FORMS(moves) {
  for (const char *type : {"u16", "s16"})
    form(std::string("mov.") + type,
         [=] { copies(std::string("mov.") + type, 16); });
  form("mov.b16", [] {
    copies("mov.b16", 16);
    EXPECT_EQ(valueOf(16, "mov.b16 d, 0x1234;"), 0x1234u);
    EXPECT_EQ(valueOf(16, "mov.b16 d, -2;"), 0xfffeu);
  });
  form("mov.s32", [] {
    copies("mov.s32", 32);
    EXPECT_EQ(valueOf(32, "mov.s32 d, -7;"), 0xfffffff9u);
    EXPECT_EQ(valueOf(32, "mov.s32 d, 0x80000000;"), 0x80000000u);
  });
  form("mov.s64", [] {
    copies("mov.s64", 64);
    EXPECT_EQ(valueOf(64, "mov.s64 d, -7;"), 0xfffffffffffffff9u);
  });
  form("mov.f32", [] {
    copies("mov.f32", 32);
    EXPECT_EQ(valueOf(32, "mov.f32 d, 0f3f800001;"), 0x3f800001u);
    EXPECT_EQ(valueOf(32, "mov.f32 d, 1.5;"), 0x3fc00000u);
    EXPECT_EQ(valueOf(32, "mov.f32 d, 0fFFC00123;"), 0xffc00123u);
  });
  form("mov.f64", [] {
    copies("mov.f64", 64);
    EXPECT_EQ(valueOf(64, "mov.f64 d, 0d400921FB54442D18;"),
              0x400921fb54442d18u);
    EXPECT_EQ(valueOf(64, "mov.f64 d, -1.5;"), 0xbff8000000000000u);
  });
  form("mov.pred", [] {
    expectResults("mov.pred d, a", {1, 1}, {{1, 0, 0, 1}, {0, 0, 0, 0}});
  });
}

FORMS(packs) {
  form("mov.b32", [] {
    copies("mov.b32", 32);
    EXPECT_EQ(valueOf(32, "mov.b32 d, 0f40490fdb;"), 0x40490fdbu);
    packs(32, 32, "mov.b32 {h0, h1}, a; mov.b32 d, {h1, h0};",
          [](uint64_t a) -> uint64_t { return uint32_t(a << 16 | a >> 16); });
    packs(32, 32, "mov.b32 {h0, _}, a; mov.b32 d, {h0, h0};",
          [](uint64_t a) { return (a & 0xffff) * 0x10001; });
    packs(32, 32, "mov.b32 {_, h0}, a; mov.b32 d, {h0, h0};",
          [](uint64_t a) { return (a >> 16) * 0x10001; });
  });
  form("mov.b64", [] {
    copies("mov.b64", 64);
    packs(64, 64, "mov.b64 {r0, r1}, a; mov.b64 d, {r1, r0};",
          [](uint64_t a) { return a << 32 | a >> 32; });
    packs(32, 64, "mov.b64 {_, d}, a;", [](uint64_t a) { return a >> 32; });
    packs(32, 64, "mov.b64 {d, _}, a;",
          [](uint64_t a) { return a & 0xffffffff; });
    packs(64, 64, "mov.b64 {h0, h1, h2, h3}, a; mov.b64 d, {h1, h3, h0, h2};",
          [](uint64_t a) {
            const auto h = [&](unsigned i) { return a >> 16 * i & 0xffff; };
            return h(1) | h(3) << 16 | h(0) << 32 | h(2) << 48;
          });
    packs(64, 32, "mov.b64 d, {a, a};",
          [](uint64_t a) { return a * 0x100000001; });
  });
}

namespace {

const char *const specials[] = {"tid.x",
                                "tid.y",
                                "tid.z",
                                "ntid.x",
                                "ntid.y",
                                "ntid.z",
                                "ctaid.x",
                                "ctaid.y",
                                "ctaid.z",
                                "nctaid.x",
                                "nctaid.y",
                                "nctaid.z",
                                "clusterid.x",
                                "clusterid.y",
                                "clusterid.z",
                                "nclusterid.x",
                                "nclusterid.y",
                                "nclusterid.z",
                                "cluster_ctaid.x",
                                "cluster_ctaid.y",
                                "cluster_ctaid.z",
                                "cluster_nctaid.x",
                                "cluster_nctaid.y",
                                "cluster_nctaid.z",
                                "cluster_ctarank",
                                "cluster_nctarank",
                                "laneid",
                                "warpid",
                                "lanemask_eq",
                                "lanemask_le",
                                "lanemask_lt",
                                "lanemask_ge",
                                "lanemask_gt",
                                "total_smem_size",
                                "dynamic_smem_size"};

/// The special registers that have one value by the ISA (that of shared memory
/// is a multiple of 128), in a grid and block
/// whose extents all differ, with clusters of 2 x 1 x 3.
void specialRegisters() {
  constexpr unsigned count = std::size(specials);
  const uint32_t block[] = {7, 3, 2}, grid[] = {4, 2, 3}, cluster[] = {2, 1, 3};
  std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 out)\n"
                     ".reqnctapercluster 2, 1, 3\n{\n"
                     "  .shared .b8 area[500];\n  .reg .b32 %r<" +
                     std::to_string(count + 8) +
                     ">;\n  .reg .b64 %out, %at;\n"
                     "  ld.param.u64 %out, [out];\n";
  for (unsigned i = 0; i < count; ++i)
    text += "  mov.u32 %r" + std::to_string(i) + ", %" + specials[i] + ";\n";
  // The thread's place in out, by registers that are tested as well.
  const auto linear = [&](unsigned first, unsigned extent) {
    const auto r = [](unsigned i) { return "%r" + std::to_string(i); };
    return "  mad.lo.u32 " + r(count) + ", " + r(first + 2) + ", " +
           r(extent + 1) + ", " + r(first + 1) + ";\n  mad.lo.u32 " + r(count) +
           ", " + r(count) + ", " + r(extent) + ", " + r(first) + ";\n";
  };
  text += linear(6, 9) + "  mul.wide.u32 %at, %r" + std::to_string(count) +
          ", " + std::to_string(42 * count * 4) +
          ";\n  add.s64 %out, %out, %at;\n" + linear(0, 3) +
          "  mul.wide.u32 %at, %r" + std::to_string(count) + ", " +
          std::to_string(count * 4) + ";\n  add.s64 %out, %out, %at;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "  st.global.u32 [%out+" + std::to_string(4 * i) + "], %r" +
            std::to_string(i) + ";\n";
  Program program(text + "  mov.u32 %r0, area;\n  ret;\n}\n");
  ASSERT_EQ(program.loadError, "");
  const size_t ctas = 24, threads = 42;
  const uint64_t out =
      program.buffer("out", std::vector<uint32_t>(ctas * threads * count));
  EXPECT_EQ(program
                .run({out}, {block[0], block[1], block[2]},
                     {grid[0], grid[1], grid[2]}, 200)
                .message(),
            "");
  const std::vector<uint32_t> got =
      program.read<uint32_t>(out, ctas * threads * count);
  for (uint32_t cta = 0; cta < ctas; ++cta)
    for (uint32_t thread = 0; thread < threads; ++thread) {
      const uint32_t tid[] = {thread % 7, thread / 7 % 3, thread / 21};
      const uint32_t id[] = {cta % 4, cta / 4 % 2, cta / 8};
      const uint32_t lane = thread % 32, bit = 1u << lane;
      std::vector<uint32_t> expected;
      const auto three = [&](auto value) {
        for (unsigned i = 0; i < 3; ++i)
          expected.push_back(value(i));
      };
      three([&](unsigned i) { return tid[i]; });
      three([&](unsigned i) { return block[i]; });
      three([&](unsigned i) { return id[i]; });
      three([&](unsigned i) { return grid[i]; });
      three([&](unsigned i) { return id[i] / cluster[i]; });
      three([&](unsigned i) { return grid[i] / cluster[i]; });
      three([&](unsigned i) { return id[i] % cluster[i]; });
      three([&](unsigned i) { return cluster[i]; });
      for (uint32_t value : {id[0] % 2 + 2 * (id[2] % 3), 6u, lane, thread / 32,
                             bit, bit | (bit - 1), bit - 1, ~(bit - 1),
                             ~(bit | (bit - 1)), 768u, 200u})
        expected.push_back(value);
      for (unsigned i = 0; i < count; ++i)
        EXPECT_EQ(got[(cta * threads + thread) * count + i], expected[i])
            << "%" << specials[i] << " in CTA " << cta << " thread " << thread;
    }
}

/// Those whose values the ISA only bounds.
void boundedRegisters() {
  const std::vector<uint64_t> got = runThreads(R"(
  .reg .b32 a, b, c;
  .reg .pred p, q, r;
  mov.u32 a, 0xffffffff; mov.u32 b, 0; mov.u32 c, 0;
  mov.u32 a, %smid;    mov.u32 b, %nsmid; setp.lt.u32 p, a, b;
  mov.u32 a, %warpid;  mov.u32 c, %nwarpid; setp.lt.and.u32 q, a, c, p;
  mov.u32 a, WARP_SZ;  setp.eq.and.u32 r, a, 32, q;
  selp.b32 a, 1, 0, r; st.global.u32 [%out], a;)",
                                               64);
  for (uint64_t ok : got)
    EXPECT_EQ(ok, 1u);
}

const std::string twoFunctions =
    ".visible .global .align 8 .b32 words[4] = {11, 12, 13, 14};\n"
    ".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 a;\n"
    "  ld.param.b32 a, [x]; add.u32 a, a, a; st.param.b32 [r], a; ret; }\n"
    ".func (.param .b32 r) square(.param .b32 x) { .reg .b32 a;\n"
    "  ld.param.b32 a, [x]; mul.lo.u32 a, a, a; st.param.b32 [r], a; ret; }\n";

/// Addresses of variables in four spaces, with offsets, and of functions.
void addresses(const std::string &type) {
  const std::string bits = type.substr(1);
  const std::string text =
      ".version 8.7\n.target sm_90a\n.address_size 64\n"
      ".const .b32 numbers[4] = {21, 22, 23, 24};\n" +
      twoFunctions +
      ".visible .entry k(.param .u64 out) {\n"
      "  .shared .b32 area[4];\n  .local .b32 own[4];\n"
      "  .reg .b64 %out, %f; .reg .b32 %r<8>; .reg .b" +
      bits + " %a;\n  ld.param.u64 %out, [out];\n" +
      (bits == "64"
           ? "  mov.u64 %a, words;      ld.global.b32 %r0, [%a+4];\n"
             "  mov.u64 %a, words+8;    ld.global.b32 %r1, [%a];\n"
             "  mov.u64 %a, numbers+4;  ld.const.b32 %r2, [%a+8];\n"
           : "  mov.u32 %r0, 12; mov.u32 %r1, 13; mov.u32 %r2, 24;\n") +
      "  mov." + type +
      " %a, area+4; st.shared.b32 [area+8], 31;\n"
      "  ld.shared.b32 %r3, [%a+4];\n"
      "  mov." +
      type +
      " %a, own; st.local.b32 [own+4], 41;\n"
      "  ld.local.b32 %r4, [%a+4];\n" +
      (bits == "64" ? "  mov.u64 %f, square;\n" : "  mov.b64 %f, square;\n") +
      R"(  prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
  { .param .b32 x; .param .b32 y; st.param.b32 [x], 9;
    call (y), %f, (x), prototype; ld.param.b32 %r5, [y]; }
  st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};
  st.global.v2.b32 [%out+16], {%r4, %r5};
  ret;
})";
  Program program(text);
  ASSERT_EQ(program.loadError, "");
  const uint64_t out = program.buffer("out", std::vector<uint32_t>(6));
  EXPECT_EQ(program.run({out}, {1, 1, 1}).message(), "");
  EXPECT_EQ(program.read<uint32_t>(out, 6),
            (std::vector<uint32_t>{12, 13, 24, 31, 41, 81}));
}

/// Clocks do not run backwards.
void clocks() {
  const std::vector<uint64_t> got = runThreads(R"(
  .reg .b64 a, b; .reg .pred p; .reg .b32 r;
  mov.u64 a, 0xffffffffffffffff; mov.u64 b, 0;
  mov.u64 a, %clock64; mov.u64 b, %clock64; setp.ge.u64 p, b, a;
  mov.u64 a, 0xffffffffffffffff; mov.u64 b, 0;
  mov.u64 a, %globaltimer; mov.u64 b, %globaltimer; setp.ge.and.u64 p, b, a, p;
  selp.b32 r, 1, 0, p; st.global.u32 [%out], r;)",
                                               32);
  for (uint64_t ok : got)
    EXPECT_EQ(ok, 1u);
}

} // namespace

FORMS(specialMoves) {
  form("mov.u32", [] {
    copies("mov.u32", 32);
    for (const auto &[text, value] :
         {std::pair<const char *, uint64_t>{"0xFFFFFFFF", 0xffffffff},
          {"017", 15},
          {"0b101", 5},
          {"4294967295U", 0xffffffff},
          {"-1", 0xffffffff}})
      EXPECT_EQ(valueOf(32, std::string("mov.u32 d, ") + text + ";"), value);
    specialRegisters();
    boundedRegisters();
    addresses("u32");
  });
  form("mov.u64", [] {
    copies("mov.u64", 64);
    EXPECT_EQ(valueOf(64, "mov.u64 d, 0x123456789abcdef0;"),
              0x123456789abcdef0u);
    addresses("u64");
    clocks();
  });
}
