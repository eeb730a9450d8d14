// vprintf and __assertfail, called as nvcc's code does it.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::HasSubstr;

namespace {
/// A string as nvcc writes it: a .global array of bytes.
std::string bytes(const std::string &name, const std::string &text) {
  std::string out = ".global .align 1 .b8 " + name + "[" +
                    std::to_string(text.size() + 1) + "] = {";
  for (char c : text)
    out += std::to_string(int(c)) + ", ";
  return out + "0};\n";
}

const std::string declarations =
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, "
    ".param .b64 n, .param .b64 c) .noreturn;\n";

/// What `threads` threads print with this format, the arguments being stored at
/// offsets of %args by `body`; and what vprintf gives, at *out.
std::string printed(const std::string &format, const std::string &body,
                    unsigned threads = 1, uint32_t *result = nullptr) {
  Sim sim(header + bytes("fmt", format) + bytes("word", "word") + declarations +
          R"(
.visible .entry k(.param .u64 out) {
  .local .align 8 .b8 args[64];
  .reg .b64 %l, %g, %f, %x, %o; .reg .b32 %r, %t;
  mov.u64 %l, args; cvta.local.u64 %g, %l; mov.u32 %t, %tid.x;
  mov.u64 %f, fmt; cvta.global.u64 %f, %f;
)" + body +
          R"(
  { .param .b64 a; .param .b64 b; .param .b32 c;
    st.param.b64 [a], %f; st.param.b64 [b], %g;
    call.uni (c), vprintf, (a, b); ld.param.b32 %r, [c]; }
  ld.param.u64 %o, [out]; st.global.u32 [%o], %r; ret;
})");
  EXPECT_EQ(sim.loadError, "");
  uint64_t out = sim.buffer("out", std::vector<uint32_t>(1));
  testing::internal::CaptureStdout();
  Status status = sim.run({out}, {threads, 1, 1});
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(status.message(), "");
  if (result)
    *result = sim.read<uint32_t>(out, 1)[0];
  return text;
}
} // namespace

TEST(Builtin, PrintfOfEveryKind) {
  uint32_t count = 0;
  EXPECT_EQ(printed("%d|%5u|%-4x|%c|%lld|%.3f|%s|%%|%08.2e\n", R"(
  mov.u32 %r, -7; st.local.u32 [%l], %r; mov.u32 %r, 42; st.local.u32 [%l+4], %r; mov.u32 %r, 171; st.local.u32 [%l+8], %r;
  mov.u32 %r, 65; st.local.u32 [%l+12], %r; mov.u64 %x, -5000000000; st.local.u64 [%l+16], %x;
  mov.b64 %x, 0d400921FB54442D18; st.local.b64 [%l+24], %x; mov.u64 %x, word; st.local.u64 [%l+32], %x;
  mov.b64 %x, 0d40F86A0000000000; st.local.b64 [%l+40], %x;)",
                    1, &count),
            "-7|   42|ab  |A|-5000000000|3.142|word|%|1.00e+05\n");
  EXPECT_EQ(count, 8u);
}

TEST(Builtin, PrintfAlignsArgumentsAndTakesStars) {
  EXPECT_EQ(printed("%i %g %*d", R"(
  mov.u32 %r, 1; st.local.u32 [%l], %r; mov.b64 %x, 0d3FE0000000000000; st.local.b64 [%l+8], %x;
  mov.u32 %r, 6; st.local.u32 [%l+16], %r; mov.u32 %r, 77; st.local.u32 [%l+20], %r;)"),
            "1 0.5     77");
  EXPECT_EQ(printed("no arguments\n", ""), "no arguments\n");
}

TEST(Builtin, PrintfOfEveryLane) {
  EXPECT_EQ(printed("%d,", "st.local.u32 [%l], %t;", 35),
            "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,"
            "25,26,27,28,29,30,31,32,33,34,");
}

TEST(Builtin, PrintfReadsOnlyWhatIsThere) {
  Sim sim(header + declarations + R"(
.visible .entry k() {
  .reg .b64 %x; .reg .b32 %r; mov.u64 %x, 4096;
  { .param .b64 a; .param .b64 b; .param .b32 c;
    st.param.b64 [a], %x; st.param.b64 [b], %x; call.uni (c), vprintf, (a, b); }
  ret;
})");
  ASSERT_EQ(sim.loadError, "");
  Status status = sim.run({}, {1, 1, 1});
  EXPECT_THAT(status.message(), HasSubstr("address 0x1000"));
  EXPECT_EQ(status.fault(), FaultKind::IllegalAddress);
}

TEST(Builtin, AssertFail) {
  Sim sim(header + bytes("m", "x > 0") + bytes("f", "file.cu") +
          bytes("n", "void k(int)") + declarations + R"(
.visible .entry k() {
  .reg .b64 %m, %f, %n; .reg .b32 %t; .reg .pred %p;
  mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 37; @%p bra END;
  mov.u64 %m, m; mov.u64 %f, f; mov.u64 %n, n;
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    st.param.b64 [a], %m; st.param.b64 [b], %f; st.param.b32 [c], 12; st.param.b64 [d], %n; st.param.b64 [e], 1;
    call __assertfail, (a, b, c, d, e); }
END:
  ret;
})");
  ASSERT_EQ(sim.loadError, "");
  Status status = sim.run({}, {64, 1, 1});
  EXPECT_THAT(status.message(),
              HasSubstr("warp 1 lane 5 (thread 37): file.cu:12: void k(int): "
                        "assertion `x > 0' failed"));
  EXPECT_EQ(status.fault(), FaultKind::Assert);
}

TEST(Builtin, OtherParametersAreNotTheSystems) {
  Sim sim(header + R"(
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b32 a);
.visible .entry k() {
  { .param .b64 a; .param .b32 b; .param .b32 c;
    st.param.b64 [a], 0; st.param.b32 [b], 0; call.uni (c), vprintf, (a, b); }
  ret;
})");
  EXPECT_THAT(sim.loadError,
              HasSubstr("unsupported: 'vprintf' is not defined"));
}
