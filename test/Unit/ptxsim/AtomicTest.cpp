// atom and red: operations, types, spaces, several CTAs at once.

#include "test/Unit/ptxsim/TestKernel.h"

#include <algorithm>

using namespace ptxsim;
using namespace ptxsim::test;

TEST(Atomic, Operations) {
  struct Row {
    const char *form;
    unsigned bits;
    uint64_t memory, b, c, after;
  };
  const Row rows[] = {
      {"add.u32", 32, 5, 7, 0, 12},
      {"add.s32", 32, 5, s32(-7), 0, s32(-2)},
      {"add.u64", 64, ~0ull, 2, 0, 1},
      {"add.f32", 32, f32(1.5f), f32(2), 0, f32(3.5f)},
      {"add.f64", 64, f64(1.5), f64(2), 0, f64(3.5)},
      {"min.s32", 32, s32(-1), 3, 0, s32(-1)},
      {"min.u32", 32, s32(-1), 3, 0, 3},
      {"max.s32", 32, s32(-1), 3, 0, 3},
      {"max.u32", 32, s32(-1), 3, 0, s32(-1)},
      {"min.s64", 64, ~0ull, 3, 0, ~0ull},
      {"max.u64", 64, ~0ull, 3, 0, ~0ull},
      {"and.b32", 32, 0xff0, 0x0ff, 0, 0x0f0},
      {"or.b32", 32, 0xff0, 0x0ff, 0, 0xfff},
      {"xor.b64", 64, 0xff0, 0x0ff, 0, 0xf0f},
      {"exch.b32", 32, 1, 2, 0, 2},
      {"exch.b64", 64, 1, 2, 0, 2},
      {"cas.b32", 32, 1, 1, 9, 9},
      {"cas.b32", 32, 1, 2, 9, 1},
      {"cas.b64", 64, 1ull << 40, 1ull << 40, 9, 9},
      {"cas.b16", 16, 4, 4, 9, 9},
      {"inc.u32", 32, 3, 3, 0, 0},
      {"inc.u32", 32, 2, 3, 0, 3},
      {"dec.u32", 32, 0, 3, 0, 3},
      {"dec.u32", 32, 2, 3, 0, 1},
      {"dec.u32", 32, 7, 3, 0, 3},
  };
  for (const Row &row : rows)
    for (const char *space :
         {"global.", "shared.", "", "acq_rel.gpu.global."}) {
      const std::string type = ".b" + std::to_string(row.bits), form = row.form;
      const bool isShared = std::string(space) == "shared.",
                 cas = form.starts_with("cas");
      std::string body =
          "  .shared .align 8 .b8 s[8]; .reg " + type +
          " d, b, c, m; .reg .b64 x;\n  ld.global" + type +
          " b, [%p1]; ld.global" + type + " c, [%p1+8]; ld.global" + type +
          " m, [%p0];\n  mov.u64 x, " + (isShared ? "s" : "%p0") + ";\n";
      if (isShared)
        body += "  st.shared" + type + " [x], m;\n";
      body += std::string("  atom.") + space + form + " d, [x], b" +
              (cas ? ", c" : "") + ";\n  st.global" + type + " [%out], d; ld." +
              (isShared ? "shared" : "global") + type + " m, [x]; st.global" +
              type + " [%out+8], m;";
      // One thread executes; the second only gives room for the result.
      body = "  .reg .pred p; setp.ne.u32 p, %t, 0; @p ret;\n" + body;
      auto got = runBody(body, 2, {row.memory}, {row.b, row.c});
      EXPECT_EQ(got[0], row.memory) << space << form;
      EXPECT_EQ(got[1], row.after) << space << form;
    }
}

TEST(Atomic, LanesOfAWarpAllCount) {
  auto got = runBody("  .reg .b32 d; .reg .b64 x; mov.b64 x, %p0; "
                     "atom.global.add.u32 d, [x], 2; st.global.b32 [%out], d;",
                     32, {0});
  std::sort(got.begin(), got.end());
  for (uint64_t l = 0; l < 32; ++l)
    EXPECT_EQ(got[l], 2 * l);
}

TEST(Atomic, ManyCtas) {
  Sim sim(header + R"(
.visible .entry k(.param .u64 sum, .param .u64 maximum) {
  .reg .b64 %a, %m; .reg .b32 %t, %c, %n, %i;
  ld.param.u64 %a, [sum]; ld.param.u64 %m, [maximum];
  mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.s32 %i, %c, %n, %t;
  red.global.add.u32 [%a], %i;
  red.relaxed.gpu.global.max.u32 [%m], %i;
  ret;
})");
  uint64_t sum = sim.buffer("sum", std::vector<uint32_t>(1)),
           maximum = sim.buffer("maximum", std::vector<uint32_t>(1));
  ASSERT_EQ(sim.run({sum, maximum}, {96, 1, 1}, {50, 1, 1}).message(), "");
  EXPECT_EQ(sim.read<uint32_t>(sum, 1)[0], 4800u * 4799 / 2);
  EXPECT_EQ(sim.read<uint32_t>(maximum, 1)[0], 4799u);
}

TEST(Atomic, LastArriverSeesTheOthersWrites) {
  // Every CTA writes its part, then counts itself; the one that counts last
  // sums all parts.
  Sim sim(header + R"(
.visible .entry k(.param .u64 parts, .param .u64 counter, .param .u64 result) {
  .reg .b64 %parts, %counter, %result, %x; .reg .b32 %c, %n, %old, %s, %v, %i; .reg .pred %p;
  ld.param.u64 %parts, [parts]; ld.param.u64 %counter, [counter]; ld.param.u64 %result, [result];
  mov.u32 %c, %ctaid.x; mov.u32 %n, %nctaid.x; mul.wide.u32 %x, %c, 4; add.s64 %x, %parts, %x; add.s32 %v, %c, 1;
  st.global.b32 [%x], %v; fence.acq_rel.gpu; atom.global.add.u32 %old, [%counter], 1; fence.acq_rel.gpu;
  sub.s32 %i, %n, 1; setp.ne.u32 %p, %old, %i; @%p ret;
  mov.u32 %s, 0; mov.u32 %i, 0; mov.b64 %x, %parts;
L: ld.global.b32 %v, [%x]; add.s32 %s, %s, %v; add.s64 %x, %x, 4; add.s32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;
  st.global.b32 [%result], %s;
  ret;
})");
  for (int round = 0; round < 20; ++round) {
    uint64_t parts = sim.buffer("parts", std::vector<uint32_t>(64)),
             counter = sim.buffer("counter", std::vector<uint32_t>(1)),
             result = sim.buffer("result", std::vector<uint32_t>(1));
    ASSERT_EQ(
        sim.run({parts, counter, result}, {1, 1, 1}, {64, 1, 1}).message(), "");
    EXPECT_EQ(sim.read<uint32_t>(result, 1)[0], 64u * 65 / 2);
  }
}
