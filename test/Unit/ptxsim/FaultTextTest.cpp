// Faults print like a compiler's diagnostics: first line, line of PTX, values,
// cause.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

/// The whole text of the fault of a kernel with a pointer to four words.
std::string faultOf(const std::string &text, uint32_t threads,
                    uint32_t shared = 0) {
  Sim sim(text);
  EXPECT_EQ(sim.loadError, "");
  if (!sim.module)
    return {};
  const uint64_t p = sim.buffer("x", std::vector<uint32_t>(4));
  return sim.run({p}, {threads, 1, 1}, {1, 1, 1}, shared).message();
}

const std::string begin = header + R"(.file 1 "model.mlir"
.extern .shared .align 16 .b8 pool[];
.visible .entry k(.param .u64 p) {
  .reg .b64 %p, %o; .reg .b32 %t, %v, %a; .reg .pred %q;
  ld.param.u64 %p, [p];
  mov.u32 %t, %tid.x;
  setp.lt.u32 %q, %t, 100;
)";

} // namespace

TEST(FaultText, BufferTooSmall) {
  const std::string fault = faultOf(begin + R"(  mad.wide.u32 %o, %t, 4, %p;
  .loc 1 7 3
	@%q ld.global.b32 %v, [%o+0];
  ret;
}
)",
                                    32);
  EXPECT_THAT(
      fault,
      MatchesRegex(
          "k\\.ptx:10:6: error: ld\\.global\\.b32: cta \\(0,0,0\\) warp 0 lane "
          "4 \\(thread 4\\): address 0x[0-9a-f]+ is 0 bytes after the end of "
          "'x' of 16 bytes \\(at model\\.mlir:7:3\\)\n"
          "   10 \\| \t@%q ld\\.global\\.b32 %v, \\[%o\\+0\\];\n"
          "      \\| \t    \\^~~~~~~~~~~~~     ~~~~~~\n"
          "k\\.ptx:10:6: note: lane 4 has %o = 0x[0-9a-f]+\n"
          "k\\.ptx:10:6: note: 'x' is 4 bytes too small for this access, or an "
          "index is not checked against its size"));
}

TEST(FaultText, RaceShowsBothAccesses) {
  const std::string fault = faultOf(begin + R"(  shl.b32 %a, %t, 2;
  mov.u32 %v, pool;
  add.s32 %a, %a, %v;
  st.shared.b32 [%a], %t;
  ld.shared.b32 %v, [pool+4];
  ret;
}
)",
                                    64, 256);
  EXPECT_THAT(fault,
              HasSubstr("k.ptx:11:3: note: the other access, by warp 0 lane 1\n"
                        "   11 |   st.shared.b32 [%a], %t;\n"
                        "      |   ^~~~~~~~~~~~~\n"));
  EXPECT_THAT(fault, HasSubstr("\n   12 |   ld.shared.b32 %v, [pool+4];\n"
                               "      |   ^~~~~~~~~~~~~"));
  EXPECT_THAT(
      fault,
      HasSubstr("note: a barrier (bar.warp.sync if only lanes of one warp meet "
                "here, else bar.sync) is missing between lines 11 and 12"));
}

TEST(FaultText, DynamicSharedMemory) {
  const std::string text = begin + R"(  st.shared.b32 [pool+64], %t;
  ret;
}
)";
  EXPECT_THAT(faultOf(text, 1, 64),
              HasSubstr("note: 68 bytes of dynamic shared memory would do"));
  EXPECT_THAT(faultOf(text, 1),
              HasSubstr("note: 'pool' is dynamic shared memory, and the launch "
                        "gives none"));
}

TEST(FaultText, ValuesOfSeveralKinds) {
  const std::string fault = faultOf(begin + R"(  .reg .b32 %r<3>; .reg .b16 %h;
  mov.u32 %r1, 17;
  ld.shared.b32 %r2, [%r1+3];
  ret;
}
)",
                                    1, 64);
  EXPECT_THAT(fault, HasSubstr("note: lane 0 has %r1 = 0x11"));
}

TEST(FaultText, LongLinesAreCut) {
  const std::string blank(200, ' ');
  const std::string fault = faultOf(
      begin + blank + "ld.shared.b32 %v, [%a];" + blank + "ret;\n}\n", 1, 64);
  EXPECT_THAT(fault, HasSubstr("\n    8 | ..."));
  EXPECT_THAT(fault, HasSubstr("^~~~~~~~~~~~~     ~~~~\n"));
  for (size_t at = 0; at < fault.size();) {
    const size_t end = std::min(fault.find('\n', at), fault.size());
    if (at) // the first line is not cut
      EXPECT_LT(end - at, 150u);
    at = end + 1;
  }
}

TEST(FaultText, LoaderShowsTheLine) {
  Device device;
  auto module = device.loadModule(
      header + ".visible .entry k() {\n\tfrob.b32 %r1;\n}\n", "k.ptx");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.message(),
            "k.ptx:5:2: error: unsupported instruction 'frob.b32'\n"
            "    5 | \tfrob.b32 %r1;\n"
            "      | \t^");
}

TEST(FaultText, Summary) {
  EXPECT_EQ(Status::error("a\nb\nc").summary(), "a");
  EXPECT_EQ(Status::error("a").summary(), "a");
  EXPECT_EQ(Status().summary(), "");
}
