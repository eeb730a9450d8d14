// Undefined values that go through memory: shared bytes nobody has written are
// reported where they decide something, whatever way they take there.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {
const char declared[] =
    "  .shared .align 16 .b8 s[512]; .local .align 16 .b8 l[64];\n"
    "  .reg .b16 h<4>; .reg .b32 r<8>, v<8>, w, a, b; .reg .b64 d<4>, la;\n"
    "  .reg .pred p<4>; mov.u32 a, s; mad.lo.s32 w, %t, 4, a; mov.u64 la, l;\n"
    "  setp.lt.u32 p3, %t, 8;\n";
std::string fault(const std::string &body, size_t threads = 32,
                  DeviceOptions options = {}) {
  return faultOfBody(declared + body, threads, options);
}
/// Lane 9's word is missing.
const char hole[] = "setp.ne.u32 p0, %t, 9; @p0 st.shared.b32 [w], %t;\n";
const char stored[] = "st.global.b32 [%out], v0;";
} // namespace

TEST(UndefinedMemory, ReadAndNotUsed) {
  EXPECT_EQ(fault("ld.shared.b32 v0, [w];"), "");
  EXPECT_EQ(fault("ld.shared.b32 v0, [w]; add.u32 v1, v0, 1; mov.u32 v0, 7;" +
                  std::string(stored)),
            "");
  EXPECT_EQ(fault(hole + std::string("ld.shared.b32 v0, [w]; @p0 ") + stored),
            "");
  // Of a vector, one element.
  EXPECT_EQ(fault("mad.lo.u32 w, %t, 16, a; st.shared.b32 [w+4], 3;"
                  "ld.shared.v4.b32 {v0, v1, v2, v3}, [w];"
                  "st.global.b32 [%out], v1;"),
            "");
  EXPECT_THAT(fault("mad.lo.u32 w, %t, 16, a; st.shared.b32 [w+4], 3;"
                    "ld.shared.v4.b32 {v0, v1, v2, v3}, [w];"
                    "st.global.b32 [%out], v2;"),
              HasSubstr("16 bytes at address 0x400 (offset 0) of shared memory "
                        "are read at line 19, but byte 8 was never written"));
  // Of a word, some bytes.
  const std::string bytes =
      "st.shared.b16 [w], 5; ld.shared.b32 v0, [w]; and.b32 v1, v0, ";
  EXPECT_EQ(fault(bytes + "0xffff; st.global.b32 [%out], v1;"), "");
  EXPECT_THAT(fault(bytes + "0x1ffff; st.global.b32 [%out], v1;"),
              HasSubstr("but byte 2 was never written"));
  // Sign and zero extension.
  EXPECT_EQ(
      fault("ld.shared.u8 v0, [w]; shr.u32 v0, v0, 8;" + std::string(stored)),
      "");
  EXPECT_THAT(
      fault("ld.shared.s8 v0, [w]; shr.u32 v0, v0, 8;" + std::string(stored)),
      HasSubstr("1 bytes at address 0x400"));
}

TEST(UndefinedMemory, Decides) {
  const std::string load = hole + std::string("ld.shared.b32 v0, [w];\n");
  const auto line = HasSubstr(
      "4 bytes at address 0x424 (offset 36) of shared memory are read at line "
      "20, but byte 36 was never written");
  EXPECT_THAT(fault(load + stored),
              AllOf(HasSubstr("k.ptx:21:1: error: st.global.b32: cta (0,0,0) "
                              "warp 0 lane 9 (thread 9): the value"),
                    line));
  EXPECT_THAT(fault(load + "cvt.u64.u32 d0, v0; add.s64 d0, d0, %p0;"
                           "ld.global.b8 h0, [d0];"),
              AllOf(HasSubstr("the address is undefined"), line));
  EXPECT_THAT(fault(load + "setp.lt.u32 p1, v0, 5; @p1 bra L;\nL:"),
              AllOf(HasSubstr("bra: cta (0,0,0) warp 0 lane 9 (thread 9): the "
                              "guard is undefined"),
                    line));
  EXPECT_THAT(fault(load + "@p0 mov.u32 r0, 1; atom.global.add.u32 r1, "
                           "[%out], v0;"),
              AllOf(HasSubstr("an operand is undefined"), line));
  EXPECT_THAT(fault(load + "ld.shared.b32 v0, [v0];"),
              HasSubstr("the address is undefined"));
  // Through arithmetic, a shuffle, a generic address.
  EXPECT_THAT(fault(load +
                    "mul.lo.u32 v0, v0, 3; shfl.sync.bfly.b32 v0, v0, "
                    "1, 31, -1; " +
                    stored),
              AllOf(HasSubstr("lane 8 (thread 8)"), line));
  EXPECT_THAT(fault(hole +
                    std::string("cvt.u64.u32 d0, w; cvta.shared.u64 d0, "
                                "d0; ld.b32 v0, [d0];\n") +
                    stored),
              line);
}

TEST(UndefinedMemory, TheReportShowsTheLoad) {
  Sim sim(header + R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b8 s[64];
  .reg .b32 %v<3>; .reg .b64 %a;
  ld.param.u64 %a, [out];
  ld.shared.b32 %v0, [s+8];
  add.u32 %v1, %v0, 1;
  st.global.b32 [%a], %v1;
  ret;
})");
  const std::string text =
      sim.run({sim.buffer("out", std::vector<uint32_t>(1))}, {1, 1, 1})
          .message();
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("k.ptx:11:3: error: st.global.b32: cta (0,0,0) warp 0 "
                      "lane 0 (thread 0): the value is undefined: 4 bytes at "
                      "address 0x408 (offset 8) of shared memory are read at "
                      "line 9, but byte 8 was never written"),
            HasSubstr("k.ptx:9:3: note: lane 0 reads 4 bytes at address 0x408 "
                      "(offset 8) of shared memory here\n    9 |   "
                      "ld.shared.b32 %v0, [s+8];"),
            HasSubstr("nothing makes this thread wait for it")));
}

TEST(UndefinedMemory, ThroughSharedMemory) {
  // A register that was never written.
  EXPECT_THAT(fault("st.shared.b32 [w], r0;\n ld.shared.b32 v0, [w];\n" +
                    std::string(stored)),
              HasSubstr("the value is undefined: 4 bytes at address 0x400 "
                        "(offset 0) of shared memory are read at line 20, but "
                        "byte 0 was stored undefined: line 19 reads r0, which "
                        "thread 0 has not written"));
  EXPECT_EQ(fault("st.shared.b32 [w], r0; ld.shared.b32 v0, [w];"), "");
  EXPECT_EQ(fault("st.shared.b32 [w], r0; st.shared.b32 [w], %t; "
                  "ld.shared.b32 v0, [w];" +
                  std::string(stored)),
            "");
  // A copy of what nobody has written, by another thread.
  EXPECT_THAT(
      fault(hole +
            std::string("ld.shared.b32 v0, [w]; st.shared.b32 [w+256], "
                        "v0; bar.sync 0; xor.b32 b, %t, 1; mad.lo.u32 "
                        "b, b, 4, a;\n ld.shared.b32 v0, [b+256];") +
            stored),
      AllOf(HasSubstr("lane 8 (thread 8): the value is undefined: 4 bytes at "
                      "address 0x524 (offset 292) of shared memory are read at "
                      "line 21, but byte 292 was stored undefined: 4 bytes at "
                      "address 0x424 (offset 36) of shared memory are read at "
                      "line 20, but byte 36 was never written")));
  // By another warp, of which each lane has one undefined.
  EXPECT_THAT(fault("st.shared.b32 [w], r0; bar.sync 0; xor.b32 b, %t, 32;"
                    "mad.lo.u32 b, b, 4, a; ld.shared.b32 v0, [b];" +
                        std::string(stored),
                    64),
              HasSubstr("(thread 32): the value"));
  EXPECT_EQ(fault("st.shared.b32 [w], r0; bar.sync 0; st.shared.b32 [w], 1;"
                  "bar.sync 0; xor.b32 b, %t, 32;"
                  "mad.lo.u32 b, b, 4, a; ld.shared.b32 v0, [b];" +
                      std::string(stored),
                  64),
            "");
  // Half of a word: bit by bit.
  const std::string half =
      "mov.u16 h0, 1; mov.b32 r0, {h0, h1}; st.shared.b32 [w], r0;";
  EXPECT_EQ(fault(half + "ld.shared.u16 h2, [w]; st.global.b16 [%out], h2;"),
            "");
  EXPECT_THAT(
      fault(half + "ld.shared.u16 h2, [w+2]; st.global.b16 [%out], h2;"),
      HasSubstr("reads h1"));
  const std::string bits = "mov.u32 r1, 0xff; and.b32 r0, r0, 3; "
                           "st.shared.b32 [w], r0; ld.shared.b32 v0, [w]; ";
  EXPECT_EQ(fault(bits + "shr.u32 v0, v0, 2;" + stored), "");
  EXPECT_THAT(fault(bits + "shr.u32 v0, v0, 1;" + stored), HasSubstr("r0"));
  // Lanes of one store that meet: the highest wins.
  DeviceOptions races;
  races.checks.sharedRaces = false;
  EXPECT_EQ(fault("@!p3 mov.u32 r0, 1; mov.u32 b, a; st.shared.b32 [b], r0;"
                  "ld.shared.b32 v0, [a];" +
                      std::string(stored),
                  32, races),
            "");
  EXPECT_THAT(fault("@p3 mov.u32 r0, 1; mov.u32 b, a; st.shared.b32 [b], r0;"
                    "ld.shared.b32 v0, [a];" +
                        std::string(stored),
                    32, races),
              HasSubstr("r0, which thread 31 has not written"));
}

TEST(UndefinedMemory, WhatIsNotFollowedIsReportedAtOnce) {
  EXPECT_THAT(
      fault("atom.shared.add.u32 v0, [a], 1;", 1),
      HasSubstr("atom.shared.add.u32: cta (0,0,0) warp 0 lane 0 (thread "
                "0): 4 bytes at address 0x400 (offset 0) of shared "
                "memory are read, but byte 0 was never written"));
  EXPECT_THAT(
      fault("st.shared.b32 [a], r0; atom.shared.add.u32 v0, [a], 1;", 1),
      HasSubstr("byte 0 was stored undefined: line 19 reads r0, which "
                "thread 0 has not written"));
}

TEST(UndefinedMemory, Matrices) {
  // Row 3 of matrix 0 is missing.
  const std::string load =
      ".reg .b32 m<4>; mad.lo.u32 w, %t, 16, a; setp.ne.u32 p0, %t, 3;"
      "@p0 st.shared.v4.b32 [w], {%t, %t, %t, %t}; bar.warp.sync -1;\n"
      "ldmatrix.sync.aligned.m8n8.x2{}.shared.b16 {m0, m1}, [w];\n";
  std::string plain = load, trans = load;
  plain.replace(plain.find("{}"), 2, "");
  trans.replace(trans.find("{}"), 2, ".trans");
  EXPECT_EQ(fault(plain), "");
  EXPECT_EQ(fault(plain + "st.global.b32 [%out], m1;"), "");
  EXPECT_THAT(
      fault(plain + "st.global.b32 [%out], m0;"),
      HasSubstr("lane 12 (thread 12): the value is undefined: 16 bytes at "
                "address 0x430 (offset 48) of shared memory are read at line "
                "20, but byte 48 was never written"));
  // Element 3 of each row: the upper half of lanes 1, 5, ...
  EXPECT_THAT(fault(trans + "st.global.b32 [%out], m0;"),
              HasSubstr("lane 1 (thread 1): the value"));
  EXPECT_EQ(fault(trans + "and.b32 m0, m0, 0xffff; st.global.b32 [%out], m0;"),
            "");
  // A row of A reaches a row of the product.
  const std::string product =
      plain + "mov.b32 r0, 0; .reg .f32 f<4>, z; mov.f32 z, 0f00000000;"
              "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {f0, f1, f2, "
              "f3}, {m0, m1}, {r0}, {z, z, z, z};";
  EXPECT_THAT(fault(product + "st.global.f32 [%out], f1;"),
              HasSubstr("lane 12 (thread 12): the value"));
  EXPECT_EQ(fault(product + "st.global.f32 [%out], f2;"), "");
  // Lanes 0 to 7 have rows 0 and 1.
  const std::string store =
      "@p3 mov.u32 r0, 1; mad.lo.u32 w, %t, 16, a;\n"
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [w], {r0}; bar.warp.sync -1;";
  EXPECT_EQ(fault(store + "ld.shared.b32 v0, [a+16];" + stored), "");
  EXPECT_THAT(fault(store + "ld.shared.b32 v0, [a+32];" + stored),
              HasSubstr("byte 32 was stored undefined: line 20 reads r0"));
}

TEST(UndefinedMemory, CarryFlag) {
  const std::string load =
      "ld.shared.b32 v0, [w]; add.cc.u32 v1, v0, 1; addc.u32 v2, 0, 0;";
  EXPECT_EQ(fault(load), "");
  EXPECT_THAT(fault(load + "st.global.b32 [%out], v2;"),
              HasSubstr("the value is undefined"));
  EXPECT_EQ(fault(load + "add.cc.u32 v1, 1, 1; addc.u32 v2, 0, 0;"
                         "st.global.b32 [%out], v2;"),
            "");
}

// What compilers make of a sign that is overwritten.
TEST(UndefinedMemory, Signs) {
  const std::string load = "ld.shared.f32 v0, [w];";
  EXPECT_EQ(
      fault(load + "copysign.f32 v0, v0, %t; shl.b32 v0, v0, 1;" + stored), "");
  EXPECT_THAT(
      fault(load + "copysign.f32 v0, %t, v0; shl.b32 v0, v0, 1;" + stored),
      HasSubstr("the value"));
  EXPECT_EQ(fault(load +
                  "copysign.f32 v0, %t, v0; neg.f32 v0, v0; "
                  "shr.u32 v0, v0, 31;" +
                  stored),
            "");
  EXPECT_EQ(fault(load + "abs.f32 v0, v0; shr.u32 v0, v0, 31;" + stored), "");
}

TEST(UndefinedMemory, LocalMemory) {
  EXPECT_EQ(fault("st.local.b32 [la], %t; ld.local.b32 v0, [la];" +
                  std::string(stored)),
            "");
  // A spill.
  EXPECT_EQ(fault("st.local.b32 [la], r0; ld.local.b32 v0, [la];"), "");
  EXPECT_THAT(fault("st.local.b32 [la], r0; ld.local.b32 v0, [la];" +
                    std::string(stored)),
              HasSubstr("the value is undefined: 4 bytes at offset 0 of local "
                        "memory are read at line 19, but byte 0 was stored "
                        "undefined: line 19 reads r0"));
  EXPECT_THAT(fault("@p3 mov.u32 r0, 1; st.local.b32 [la], r0; ld.local.b32 "
                    "v0, [la];" +
                    std::string(stored)),
              HasSubstr("lane 8 (thread 8): the value"));
  EXPECT_EQ(fault("@p3 mov.u32 r0, 1; st.local.b32 [la], r0; ld.local.b32 v0, "
                  "[la]; @p3 " +
                  std::string(stored)),
            "");
  // Never written.
  EXPECT_THAT(fault("ld.local.b32 v0, [la+8];\n" + std::string(stored)),
              HasSubstr("4 bytes at offset 8 of local memory are read at line "
                        "19, but byte 8 was never written"));
  EXPECT_EQ(fault("ld.local.v2.b32 {v0, v1}, [la+8];"), "");
  EXPECT_THAT(
      fault("cvta.local.u64 d0, la; ld.b32 v0, [d0];" + std::string(stored)),
      HasSubstr("of local memory"));
  // What shared memory had, by way of local memory.
  EXPECT_THAT(fault("ld.shared.b32 v0, [w]; st.local.b32 [la], v0; "
                    "ld.local.b32 v0, [la];" +
                    std::string(stored)),
              HasSubstr("byte 0 was stored undefined: 4 bytes at address "
                        "0x400"));
}

namespace {
/// `body` in a kernel with the functions below; %r0 is to be stored.
std::string withFunctions(const std::string &body) {
  Sim sim(header + R"(
.func (.param .b32 out) add(.param .b32 a, .param .b32 b) {
  .reg .b32 x<3>;
  ld.param.b32 x0, [a];
  ld.param.b32 x1, [b];
  add.u32 x2, x0, x1;
  st.param.b32 [out], x2;
  ret;
}
.func (.param .b32 out) first(.param .align 8 .b8 pair[8]) {
  .reg .b32 x;
  ld.param.b32 x, [pair];
  st.param.b32 [out], x;
  ret;
}
.func (.param .b32 out) nothing() {
  ret;
}
.func (.reg .b32 out) sum(.reg .b32 n, .reg .b32 base) {
  .reg .b32 r, x; .reg .pred p;
  setp.eq.u32 p, n, 0;
  @p bra END;
  sub.u32 r, n, 1;
  call (out), sum, (r, base);
  add.u32 out, out, n;
  ret;
END:
  mov.u32 out, base;
  ret;
}
.func (.reg .b32 out) sometimes(.reg .b32 n) {
  .reg .b32 r; .reg .pred p;
  setp.eq.u32 p, n, 0;
  @p mov.u32 r, 1;
  mov.u32 out, r;
  ret;
}
.visible .entry k(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %t, %r<4>; .shared .b32 s[32];
  ld.param.u64 %a, [p];
  mov.u32 %t, %tid.x;
)" + body +
          "\n st.global.b32 [%a], %r0;\n ret;\n}\n");
  EXPECT_EQ(sim.loadError, "");
  return sim.run({sim.buffer("out", std::vector<uint32_t>(64))}).summary();
}
} // namespace

TEST(UndefinedMemory, ArgumentsAndResultsInMemory) {
  const std::string call =
      "{ .param .b32 x; .param .b32 y; .param .b32 z; st.param.b32 [x], %t;\n"
      "st.param.b32 [y], %r1;\n call.uni (z), add, (x, y);\n"
      "ld.param.b32 %r0, [z]; }";
  EXPECT_EQ(withFunctions("mov.u32 %r1, 1; " + call), "");
  EXPECT_THAT(withFunctions(call),
              HasSubstr("reads %r1, which thread 0 has not "
                        "written"));
  EXPECT_EQ(withFunctions(call + "mov.u32 %r0, 1;"), "");
  // Half of a struct, which the function does not look at.
  const std::string pair =
      "{ .param .align 8 .b8 x[8]; .param .b32 z; st.param.b32 [x+{}], %t;\n"
      "call.uni (z), first, (x); ld.param.b32 %r0, [z]; }";
  std::string reads = pair, other = pair;
  reads.replace(reads.find("{}"), 2, "0"),
      other.replace(other.find("{}"), 2, "4");
  EXPECT_EQ(withFunctions(reads), "");
  EXPECT_THAT(withFunctions(other), HasSubstr("was never written"));
  // A function without a result.
  EXPECT_THAT(withFunctions("{ .param .b32 z; call.uni (z), nothing, (); "
                            "ld.param.b32 %r0, [z]; }"),
              HasSubstr("but byte"));
  // From shared memory.
  EXPECT_THAT(withFunctions("ld.shared.b32 %r1, [s];\n" + call),
              HasSubstr("of shared memory are read at line 45, but byte 0 was "
                        "never written"));
}

TEST(UndefinedMemory, FunctionsThatCallThemselves) {
  EXPECT_EQ(withFunctions("call (%r0), sum, (3, %t);"), "");
  EXPECT_THAT(withFunctions("call (%r0), sum, (3, %r1);"),
              HasSubstr("the value is undefined: line 45 reads %r1"));
  EXPECT_THAT(withFunctions("ld.shared.b32 %r1, [s];\n"
                            "call (%r0), sum, (3, %r1);"),
              HasSubstr("of shared memory are read at line 45"));
}

// Each call begins anew.
TEST(UndefinedMemory, RegistersOfASecondCall) {
  EXPECT_EQ(withFunctions("call (%r0), sometimes, (0);"), "");
  EXPECT_THAT(withFunctions("call (%r0), sometimes, (0);\n"
                            "call (%r0), sometimes, (1);"),
              HasSubstr("reads r, which this thread has not written"));
}

// What an asynchronous copy is still to write is no undefined value.
TEST(UndefinedMemory, CopiesUnderWay) {
  const std::string copy =
      "st.shared.b32 [w], %t; cp.async.ca.shared.global [w], [%p0], 4;\n"
      "ld.shared.b32 v0, [w];";
  for (Async async : {Async::Eager, Async::Lazy, Async::Random}) {
    DeviceOptions options;
    options.async = async;
    EXPECT_THAT(fault(copy, 32, options), HasSubstr("ld.shared.b32"));
    options.checks.asyncHazards = options.checks.sharedRaces = false;
    const std::string unchecked = fault(copy, 32, options);
    if (async == Async::Eager)
      EXPECT_EQ(unchecked, "");
    else
      EXPECT_THAT(unchecked, HasSubstr("but byte 0 was never written"));
  }
}
