// Registers that a thread reads before it has written them: what is reported,
// and what compilers do with undefined values that does no harm.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::HasSubstr;

namespace {
const char regs[] = "  .reg .b16 h<4>; .reg .b32 r<8>; .reg .b64 d<8>; .reg "
                    ".pred p<4>; mov.b64 d7, %out; setp.lt.u32 p3, %t, 8;\n";
std::string fault(const std::string &body) {
  return faultOfBody(regs + body, 32);
}
DeviceOptions off() {
  DeviceOptions options;
  options.checks.undefinedRegisters = false;
  return options;
}
} // namespace

TEST(Undefined, StoredValue) {
  EXPECT_EQ(
      fault("st.global.b32 [d7], r3;"),
      "k.ptx:16:1: error: st.global.b32: cta (0,0,0) warp 0 lane 0 (thread 0): "
      "the value is undefined: line 16 reads r3, which this thread has "
      "not written");
  EXPECT_EQ(
      faultOfBody(regs + std::string("st.global.b32 [d7], r3;"), 32, off()),
      "");
  EXPECT_EQ(fault("mov.u32 r3, 1; st.global.b32 [d7], r3;"), "");
}

TEST(Undefined, ComesThroughArithmetic) {
  EXPECT_THAT(
      fault("add.u32 r1, r0, %t;\n mul.lo.u32 r2, r1, 3;\n"
            "st.global.b32 [d7], r2;"),
      HasSubstr("k.ptx:18:1: error: st.global.b32: cta (0,0,0) warp 0 lane 0 "
                "(thread 0): the value is undefined: line 16 reads r0"));
  EXPECT_THAT(fault("cvt.rn.f32.u32 r1, r0; st.global.f32 [d7], r1;"),
              HasSubstr("reads r0"));
  // Nothing depends on it.
  EXPECT_EQ(fault("add.u32 r1, r0, %t; mul.lo.u32 r2, r1, 3;"), "");
}

// What LLVM makes of an odd number of bf16 values.
TEST(Undefined, HalvesAreForThemselves) {
  const std::string odd = "mov.b16 h0, 0x3f80; mov.b32 r1, {h0, h1};\n"
                          "mov.u32 r2, 0x3f803f80; ";
  for (const char *op : {"add.rn.bf16x2 r3, r1, r2", "sub.rn.bf16x2 r3, r2, r1",
                         "fma.rn.bf16x2 r3, r1, r2, r2", "neg.bf16x2 r3, r1",
                         "max.bf16x2 r3, r1, r2"}) {
    EXPECT_EQ(fault(odd + op +
                    "; and.b32 r4, r3, 0xffff;\n"
                    "st.global.b32 [d7], r4;"),
              "")
        << op;
    EXPECT_THAT(fault(odd + op + "; st.global.b32 [d7], r3;"),
                HasSubstr("reads h1"))
        << op;
  }
}

TEST(Undefined, Address) {
  EXPECT_THAT(fault("add.s64 d1, %out, d0; ld.global.b32 r0, [d1];"),
              HasSubstr("ld.global.b32: cta (0,0,0) warp 0 lane 0 (thread 0): "
                        "the address is undefined: line 16 reads d0"));
  EXPECT_THAT(fault("st.global.b32 [d1], %t;"),
              HasSubstr("the address is undefined"));
  EXPECT_THAT(fault("atom.global.add.u32 r0, [d7], r1;"),
              HasSubstr("an operand is undefined: line 16 reads r1"));
}

TEST(Undefined, Branch) {
  EXPECT_THAT(
      fault("setp.eq.u32 p0, r0, 0;\n @p0 bra L;\n"
            "st.global.b32 [d7], %t;\nL:"),
      HasSubstr("k.ptx:17:6: error: bra: cta (0,0,0) warp 0 lane 0 (thread 0): "
                "the guard is undefined: line 16 reads r0"));
  EXPECT_THAT(fault("@!p0 bra L;\nst.global.b32 [d7], %t;\nL:"),
              HasSubstr("the guard is undefined: line 16 reads p0"));
  EXPECT_THAT(fault("@p0 st.global.b32 [d7], %t;"),
              HasSubstr("the guard is undefined"));
  EXPECT_THAT(fault("bar.sync r0;"), HasSubstr("an operand is undefined"));
}

TEST(Undefined, WrittenBySomeLanesOnly) {
  const char guarded[] = "@p3 mov.u32 r0, 5;\n";
  EXPECT_THAT(fault(std::string(guarded) + "st.global.b32 [d7], r0;"),
              HasSubstr("lane 8 (thread 8): the value is undefined: line 17 "
                        "reads r0"));
  EXPECT_EQ(fault(std::string(guarded) + "@p3 st.global.b32 [d7], r0;"), "");
  // By the path that some lanes take.
  EXPECT_THAT(fault("@!p3 bra L;\n mov.u32 r0, 5;\nL:\n"
                    "st.global.b32 [d7], r0;"),
              HasSubstr("lane 8 (thread 8): the value is undefined"));
  EXPECT_EQ(fault("@p3 bra L;\n mov.u32 r0, 5;\n bra M;\nL:\n mov.u32 r0, 6;\n"
                  "M:\nst.global.b32 [d7], r0;"),
            "");
  // A loop that writes in its first round what the second reads.
  EXPECT_EQ(fault("mov.u32 r1, 0;\nL:\n setp.eq.u32 p0, r1, 0;\n"
                  "@p0 mov.u32 r0, 7; st.global.b32 [d7], r0;\n"
                  "add.u32 r1, r1, 1; setp.lt.u32 p1, r1, 3; @p1 bra L;"),
            "");
}

TEST(Undefined, SelectedOrMaskedOut) {
  EXPECT_EQ(fault("setp.ge.u32 p0, %t, 0; selp.b32 r1, %t, r0, p0;"
                  "st.global.b32 [d7], r1;"),
            "");
  EXPECT_THAT(fault("selp.b32 r1, %t, r0, p3; st.global.b32 [d7], r1;"),
              HasSubstr("lane 8 (thread 8): the value"));
  EXPECT_THAT(fault("selp.b32 r1, %t, 0, p0; st.global.b32 [d7], r1;"),
              HasSubstr("reads p0"));
  // One half of a pair is undefined, and not looked at.
  const char pack[] = "mov.u16 h0, 1; mov.b32 r0, {h0, h1};";
  EXPECT_EQ(fault(pack + std::string("and.b32 r1, r0, 65535;"
                                     "st.global.b32 [d7], r1;")),
            "");
  EXPECT_EQ(fault(pack + std::string("mov.b32 {h2, h3}, r0;"
                                     "st.global.b16 [d7], h2;")),
            "");
  EXPECT_EQ(fault(pack + std::string("shl.b32 r1, r0, 16;"
                                     "st.global.b32 [d7], r1;")),
            "");
  EXPECT_EQ(fault(pack + std::string("prmt.b32 r1, r0, 0, 0x4410;"
                                     "st.global.b32 [d7], r1;")),
            "");
  EXPECT_EQ(fault(pack + std::string("cvt.u16.u32 h2, r0;"
                                     "st.global.b16 [d7], h2;")),
            "");
  EXPECT_EQ(fault(pack + std::string("bfe.u32 r1, r0, 4, 12;"
                                     "st.global.b32 [d7], r1;")),
            "");
  EXPECT_THAT(fault(pack + std::string("st.global.b32 [d7], r0;")),
              HasSubstr("reads h1"));
  EXPECT_THAT(fault(pack + std::string("mov.b32 {h2, h3}, r0;"
                                       "st.global.b16 [d7], h3;")),
              HasSubstr("reads h1"));
  EXPECT_THAT(fault(pack + std::string("shr.u32 r1, r0, 8;"
                                       "st.global.b32 [d7], r1;")),
              HasSubstr("reads h1"));
  // false and anything is false.
  EXPECT_EQ(fault("setp.ne.u32 p0, 0, 0; and.pred p2, p0, p1; @p2 bra L;"
                  "st.global.b32 [d7], %t;\nL:"),
            "");
  EXPECT_THAT(fault("or.pred p2, p3, p1; @p2 bra L;"
                    "st.global.b32 [d7], %t;\nL:"),
              HasSubstr("lane 8 (thread 8): the guard"));
}

TEST(Undefined, ConversionToAPair) {
  const auto pair = [](const char *a, const char *b, const char *stored) {
    return fault(std::string("mov.b32 r1, 0;\ncvt.rn.bf16x2.f32 r2, ") + a +
                 ", " + b + "; mov.b32 {h0, h1}, r2; st.global.b16 [d7], " +
                 stored + ";");
  };
  EXPECT_EQ(pair("r0", "r1", "h0"), "");
  EXPECT_EQ(pair("r1", "r0", "h1"), "");
  EXPECT_THAT(pair("r0", "r1", "h1"), HasSubstr("reads r0"));
  EXPECT_THAT(pair("r1", "r0", "h0"), HasSubstr("reads r0"));
}

TEST(Undefined, Shuffle) {
  // Lane 8 and above have nothing; lane 0's value reaches all.
  EXPECT_EQ(fault("@p3 mov.u32 r0, 5;"
                  "shfl.sync.idx.b32 r1, r0, 0, 31, 0xffffffff;"
                  "st.global.b32 [d7], r1;"),
            "");
  EXPECT_THAT(fault("@p3 mov.u32 r0, 5;"
                    "shfl.sync.bfly.b32 r1, r0, 8, 31, 0xffffffff;"
                    "st.global.b32 [d7], r1;"),
              HasSubstr("lane 0 (thread 0): the value is undefined"));
  EXPECT_THAT(fault("vote.sync.ballot.b32 r1, p0, 0xffffffff;"
                    "st.global.b32 [d7], r1;"),
              HasSubstr("reads p0"));
}

TEST(Undefined, MatrixProduct) {
  const std::string zero =
      "mov.b32 r4, 0; mov.b32 r5, 0; mov.b32 r6, 0; mov.b32 r7, 0;\n"
      ".reg .b32 a<4>, b<2>, c<4>; .reg .b32 e<4>; mov.b32 a0, 0; mov.b32 a1, "
      "0; mov.b32 a2, 0; mov.b32 a3, 0; mov.b32 b0, 0; mov.b32 b1, 0;\n";
  const auto product = [&](const std::string &with, const std::string &d) {
    return fault(zero + with +
                 "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {r0, r1, "
                 "r2, r3}, {a0, a1, a2, a3}, {b0, b1}, {e0, e1, e2, e3};\n"
                 "st.global.b32 [d7], " +
                 d + ";");
  };
  const std::string c = "mov.b32 e0, 0; mov.b32 e1, 0; mov.b32 e2, 0; mov.b32 "
                        "e3, 0;\n";
  EXPECT_EQ(product(c, "r0"), "");
  // An accumulator without its zero.
  EXPECT_THAT(product("mov.b32 e0, 0; mov.b32 e1, 0; mov.b32 e3, 0;\n", "r2"),
              HasSubstr("the value is undefined: line 19 reads e2"));
  EXPECT_EQ(product("mov.b32 e0, 0; mov.b32 e1, 0; mov.b32 e3, 0;\n", "r1"),
            "");
  // A row of A and a column of B reach theirs only. Lane 13 has row 3.
  const std::string hole =
      ".reg .pred q; .reg .b32 x<2>; setp.ne.u32 q, %t, 13;\n"
      "@q mov.b32 x0, 0;\n";
  EXPECT_THAT(product(c + hole + "mov.b32 a2, x0;\n", "r1"),
              HasSubstr("lane 12 (thread 12): the value"));
  EXPECT_EQ(product(c + hole + "mov.b32 a2, x0;\n", "r2"), "");
  EXPECT_THAT(product(c + hole + "mov.b32 b1, x0;\n", "r3"),
              HasSubstr("lane 1 (thread 1): the value"));
  EXPECT_EQ(product(c + hole + "mov.b32 b1, x0;\n", "r2"), "");
}

TEST(Undefined, Functions) {
  const auto run = [](const std::string &body) {
    Sim sim(header + R"(
.func (.reg .b32 out) add(.reg .b32 a, .reg .b32 b) {
  add.u32 out, a, b;
  ret;
}
.func (.reg .b32 out) forgets(.reg .b32 a) {
  .reg .b32 r;
  .reg .b64 at;
  .reg .pred p;
  setp.lt.u32 p, a, 5;
  @p mov.u32 r, 1;
  cvt.u64.u32 at, r;
  ld.global.u32 out, [at];
  ret;
}
.visible .entry k(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %t, %r<4>;
  ld.param.u64 %a, [p];
  mov.u32 %t, %tid.x;
)" + body + "\n ret;\n}\n");
    EXPECT_EQ(sim.loadError, "");
    return sim.run({sim.buffer("out", std::vector<uint32_t>(64))}).summary();
  };
  EXPECT_EQ(run("call (%r0), add, (%t, %t); st.global.b32 [%a], %r0;"), "");
  EXPECT_THAT(run("call (%r0), add, (%t, %t); st.global.b32 [%a], %r1;"),
              HasSubstr("reads %r1"));
  EXPECT_THAT(run("call (%r0), forgets, (%t);"),
              HasSubstr("lane 5 (thread 5): the address is undefined: line 15 "
                        "reads r, which this thread has not written"));
  // Arguments and results are passed on.
  EXPECT_THAT(run("call (%r0), add, (%t, %r2); st.global.b32 [%a], %r0;"),
              HasSubstr("the value is undefined: line 23 reads %r2"));
  EXPECT_EQ(run("call (%r0), add, (%t, %r2); call (%r0), add, (%t, %t); "
                "st.global.b32 [%a], %r0;"),
            "");
}

TEST(Undefined, PredicatesDecide) {
  // false and anything is false, also in a setp and in a lop3.
  const char no[] = "setp.ne.u32 p0, 0, 0;";
  const char stored[] = "@p2 bra L; st.global.b32 [d7], %t;\nL:";
  EXPECT_EQ(fault(no + std::string("setp.eq.and.u32 p2, r0, 0, p0;") + stored),
            "");
  EXPECT_EQ(
      fault(no + std::string("setp.eq.or.u32 p2|p1, r0, 0, !p0;") + stored),
      "");
  EXPECT_THAT(fault(no + std::string("setp.eq.or.u32 p2, r0, 0, p0;") + stored),
              HasSubstr("the guard is undefined: line 16 reads r0"));
  EXPECT_THAT(fault(no + std::string("setp.eq.and.u32 p2, %t, 99, p1;") +
                    "setp.eq.and.u32 p2, %t, %t, p1;" + stored),
              HasSubstr("the guard is undefined: line 16 reads p1"));
  EXPECT_EQ(fault(std::string("setp.eq.and.u32 p2, %t, 99, p1;") + stored), "");
  EXPECT_EQ(fault(no + std::string("lop3.and.b32 r1|p2, r0, %t, 0, 0x80, p0;") +
                  stored),
            "");
  EXPECT_THAT(fault(no +
                    std::string("lop3.or.b32 r1|p2, r0, %t, 0, 0xfc, p0;") +
                    "@p2 st.global.b32 [d7], 1;"),
              HasSubstr("lane 0 (thread 0): the guard"));
  // Some bit is one whatever r0 is.
  EXPECT_EQ(fault(no +
                  std::string("add.u32 r2, %t, 1;"
                              "lop3.or.b32 r1|p2, r0, r2, 0, 0xfc, p0;") +
                  "@p2 st.global.b32 [d7], 1;"),
            "");
}

TEST(Undefined, TableOfThree) {
  // (a & b) | c: where b is zero a does not matter.
  EXPECT_EQ(fault("lop3.b32 r1, r0, 0, %t, 0xea; st.global.b32 [d7], r1;"), "");
  EXPECT_THAT(fault("lop3.b32 r1, r0, 1, %t, 0xea; st.global.b32 [d7], r1;"),
              HasSubstr("lane 0 (thread 0): the value"));
  // The table does not depend on a.
  EXPECT_EQ(fault("lop3.b32 r1, r0, %t, 5, 0xcc; st.global.b32 [d7], r1;"), "");
}

// The guard is false in all lanes as the simulator has it, and undefined.
TEST(Undefined, GuardThatHappensToBeFalse) {
  EXPECT_THAT(fault("mov.u32 r1, 1;\n @!p0 mov.u32 r1, 2;\n"
                    "st.global.b32 [d7], r1;"),
              HasSubstr("the value is undefined: line 17 reads p0"));
}
