// Device functions: parameters and results, recursion, pointers, divergence,
// the stack, and what is refused.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using ::testing::HasSubstr;

namespace {

/// Functions, then a kernel with registers t (thread) and out (address of the
/// thread's 8 bytes) around `body`.
std::string module(const std::string &functions, const std::string &body) {
  return header + functions + R"(
.visible .entry k(.param .u64 po) {
  .reg .b32 t, r<8>;
  .reg .b64 out, d<8>;
  .reg .pred p<4>;
  ld.param.u64 out, [po];
  mov.u32 t, %tid.x;
  mul.wide.u32 d0, t, 8;
  add.s64 out, out, d0;
)" + body +
         "\n  ret;\n}\n";
}

std::vector<uint64_t> run(const std::string &functions, const std::string &body,
                          size_t threads = 32) {
  Sim sim(module(functions, body));
  EXPECT_EQ(sim.loadError, "");
  const uint64_t out = sim.buffer("out", std::vector<uint64_t>(threads));
  const Status status = sim.run({out}, {uint32_t(threads), 1, 1});
  EXPECT_EQ(status.message(), "");
  return sim.read<uint64_t>(out, threads);
}

std::string fault(const std::string &functions, const std::string &body,
                  DeviceOptions options = {}) {
  Sim sim(module(functions, body), options);
  if (!sim.module)
    return sim.loadError;
  return sim.run({sim.buffer("out", std::vector<uint64_t>(32))}, {32, 1, 1})
      .summary();
}

const char *const factorial = R"(
.func (.param .b32 result) factorial(.param .b32 n) {
  .reg .pred p; .reg .b32 a, b;
  ld.param.b32 a, [n];
  setp.gt.u32 p, a, 1;
  @p bra MORE;
  st.param.b32 [result], 1;
  ret;
MORE:
  sub.u32 b, a, 1;
  {
    .param .b32 x;
    .param .b32 y;
    st.param.b32 [x], b;
    call.uni (y), factorial, (x);
    ld.param.b32 b, [y];
  }
  mul.lo.u32 a, a, b;
  st.param.b32 [result], a;
  ret;
}
)";

std::string callWithT(const std::string &name) {
  return "{ .param .b32 x; .param .b32 y; st.param.b32 [x], t;\n call (y), " +
         name + ", (x);\n ld.param.b32 r1, [y]; } st.global.b32 [out], r1;";
}

} // namespace

TEST(Call, ParametersAndResult) {
  auto got = run(R"(
.func (.param .align 16 .b8 sums[16]) both(.param .b64 a, .param .align 4 .b8 s[12], .param .f32 f) {
  .reg .b64 x, y; .reg .b32 u, v; .reg .f32 w;
  ld.param.b64 x, [a];
  ld.param.b32 u, [s];
  ld.param.b32 v, [s+8];
  ld.param.f32 w, [f];
  cvt.u64.u32 y, u;
  add.s64 x, x, y;
  cvt.rzi.u32.f32 u, w;
  add.u32 u, u, v;
  cvt.u64.u32 y, u;
  st.param.v2.b64 [sums+0], {x, y};
  ret;
})",
                 R"({
  .param .b64 a; .param .align 4 .b8 s[12]; .param .f32 f; .param .align 16 .b8 q[16];
  cvt.u64.u32 d1, t;
  st.param.b64 [a], d1;
  st.param.b32 [s], 100;
  st.param.b32 [s+4], 7;
  st.param.b32 [s+8], 1000;
  st.param.f32 [f], 0f40400000;
  call.uni (q), both, (a, s, f);
  ld.param.v2.b64 {d2, d3}, [q];
  }
  mad.lo.s64 d2, d3, 65536, d2;
  st.global.b64 [out], d2;)");
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], 1003 * 65536 + 100 + t);
}

TEST(Call, RegistersAndImmediates) {
  auto got = run(".func (.reg .u32 r, .reg .u64 s) f(.reg .u32 a, .reg .u64 b)"
                 " { mul.lo.u32 r, a, 3; add.u64 s, b, 5; ret; }\n"
                 ".func (.param .u32 r) g(.param .u32 a) { .reg .u32 x;"
                 " ld.param.u32 x, [a]; shl.b32 x, x, 1; st.param.u32 [r], x;}",
                 "call (r1, d1), f, (t, 40); call (r2), g, (r1);\n"
                 "call (r3), g, (8); call (_), g, (8); cvt.u64.u32 d2, r2;\n"
                 "mad.lo.u64 d2, d1, 1000, d2; cvt.u64.u32 d3, r3;\n"
                 "mad.lo.u64 d2, d3, 1000000, d2; st.global.u64 [out], d2;");
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], 16000000 + 45000 + 6 * t);
}

TEST(Call, AddressesOfParameters) {
  // mov takes the address of a parameter of a function: one in local memory.
  auto got = run(R"(
.func (.param .align 8 .b8 r[16]) pick(.param .align 8 .b8 a[32], .param .b32 i) {
  .reg .b64 p, q, g; .reg .b32 n, x;
  ld.param.b32 n, [i];
  mov.b64 p, a;
  mul.wide.u32 q, n, 4;
  add.s64 p, p, q;
  ld.param.b32 x, [p];
  mov.b64 q, r;
  st.param.b32 [q+4], x;
  ld.local.b32 x, [p+4];
  cvta.local.u64 g, q;
  st.b32 [g+8], x;
})",
                 R"({
  .param .align 8 .b8 a[32]; .param .b32 i; .param .align 8 .b8 q[16];
  st.param.b32 [a], 10; st.param.b32 [a+4], 11; st.param.b32 [a+8], 12;
  st.param.b32 [a+12], 13; st.param.b32 [a+16], 14;
  and.b32 r1, t, 3;
  st.param.b32 [i], r1;
  call (q), pick, (a, i);
  ld.param.b32 r2, [q+4];
  ld.param.b32 r3, [q+8];
  }
  mad.lo.u32 r2, r3, 100, r2;
  st.global.b32 [out], r2;)");
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], (11 + t % 4) * 100 + 10 + t % 4);
}

TEST(Call, RecursionOfDifferentDepthPerLane) {
  auto got = run(factorial, callWithT("factorial"), 64);
  uint32_t expected = 1;
  for (uint32_t t = 0; t < 64; ++t) {
    expected *= std::max(t, 1u);
    EXPECT_EQ(got[t], expected) << t;
  }
}

TEST(Call, TwoCallsOfItself) {
  // Registers that live across both calls: fibonacci of t mod 12, with a
  // predicate kept.
  auto got = run(R"(
.func (.param .b32 result) fib(.param .b32 n) {
  .reg .pred p, odd; .reg .b32 a, b, c; .reg .b16 h;
  ld.param.b32 a, [n];
  cvt.u16.u32 h, a;
  and.b32 b, a, 1;
  setp.eq.u32 odd, b, 1;
  setp.lt.u32 p, a, 2;
  @p bra LEAF;
  sub.u32 b, a, 1;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], b; call (y), fib, (x); ld.param.b32 b, [y]; }
  sub.u32 c, a, 2;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], c; call (y), fib, (x); ld.param.b32 c, [y]; }
  // Odd n: check that h and the predicate are this activation's own.
  cvt.u32.u16 a, h;
  and.b32 a, a, 1;
  @odd sub.u32 a, 1, a;
  add.u32 b, b, c;
  mad.lo.u32 a, a, 100000, b;
  st.param.b32 [result], a;
  ret;
LEAF:
  st.param.b32 [result], a;
})",
                 "rem.u32 t, t, 12;" + callWithT("fib"));
  const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], fib[t % 12]) << t;
}

TEST(Call, FunctionsThatCallEachOther) {
  auto got = run(R"(
.func (.param .b32 r) odd(.param .b32 n);
.func (.param .b32 r) even(.param .b32 n) {
  .reg .pred p; .reg .b32 a;
  ld.param.b32 a, [n]; setp.eq.u32 p, a, 0; st.param.b32 [r], 1; @p ret;
  sub.u32 a, a, 1;
  { .param .b32 x, y; st.param.b32 [x], a; call (y), odd, (x); ld.param.b32 a, [y]; }
  st.param.b32 [r], a;
}
.func (.param .b32 r) odd(.param .b32 m) {
  .reg .pred p; .reg .b32 a;
  ld.param.b32 a, [m]; setp.eq.u32 p, a, 0; st.param.b32 [r], 0; @p ret;
  sub.u32 a, a, 1;
  { .param .b32 x, y; st.param.b32 [x], a; call (y), even, (x); ld.param.b32 a, [y]; }
  st.param.b32 [r], a;
})",
                 callWithT("even"));
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], t % 2 == 0) << t;
}

TEST(Call, PointersToLocalsOfEveryActivation) {
  // Each activation writes its number into its own local variable and then
  // into its caller's, whose address it got.
  auto got = run(R"(
.func chain(.param .b64 up, .param .b32 n) {
  .local .align 4 .b8 own[8];
  .reg .b64 u, p; .reg .b32 a, b, c; .reg .pred q;
  ld.param.b64 u, [up];
  ld.param.b32 a, [n];
  mov.b64 p, own;
  st.local.b32 [p+4], a;
  cvta.local.u64 p, p;
  setp.eq.u32 q, a, 0;
  mov.b32 b, 0;
  st.local.b32 [own], b;
  @q bra END;
  sub.u32 b, a, 1;
  { .param .b64 x; .param .b32 y; st.param.b64 [x], p; st.param.b32 [y], b; call chain, (x, y); }
END:
  // What the callee left here, and the own number.
  ld.local.b32 b, [own];
  ld.local.b32 c, [own+4];
  mad.lo.u32 b, b, 2, c;
  st.b32 [u], b;
})",
                 R"(
  .local .align 8 .b8 mine[8];
  mov.b64 d1, mine; cvta.local.u64 d1, d1;
  and.b32 r1, t, 7;
  { .param .b64 x; .param .b32 y; st.param.b64 [x], d1; st.param.b32 [y], r1; call chain, (x, y); }
  ld.local.b32 r2, [mine]; st.global.b32 [out], r2;)");
  for (uint32_t t = 0; t < 32; ++t) {
    uint32_t v = 0;
    for (uint32_t i = 0; i <= t % 8; ++i)
      v = 2 * v + i;
    EXPECT_EQ(got[t], v) << t;
  }
}

TEST(Call, ThroughPointersThatDiffer) {
  const char *const functions = R"(
.func (.param .b32 r) plus(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; add.u32 x, x, 100; st.param.b32 [r], x; }
.func (.param .b32 r) times(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; mul.lo.u32 x, x, 7; st.param.b32 [r], x; }
.func (.param .b32 r) mask(.param .b32 a) { .reg .b32 x; activemask.b32 x; st.param.b32 [r], x; }
.global .align 8 .u64 table[3] = {plus, times, mask};
)";
  auto got = run(functions, R"(
  rem.u32 r1, t, 3;
  mov.u64 d1, table;
  mul.wide.u32 d2, r1, 8;
  add.s64 d1, d1, d2;
  ld.global.u64 d3, [d1];
  {
  .param .b32 x; .param .b32 y;
  st.param.b32 [x], t;
  prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
  call (y), d3, (x), prototype_0;
  ld.param.b32 r2, [y];
  }
  // All lanes have met again.
  activemask.b32 r3;
  st.global.v2.b32 [out], {r2, r3};)");
  uint32_t third = 0;
  for (uint32_t t = 2; t < 32; t += 3)
    third |= 1u << t;
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(uint32_t(got[t]), t % 3 == 0   ? t + 100
                                : t % 3 == 1 ? t * 7
                                             : third)
        << t;
    EXPECT_EQ(got[t] >> 32, 0xffffffffu);
  }
  // .calltargets, and an address taken by mov.
  got = run(functions,
            "T: .calltargets plus, times; setp.lt.u32 p1, t, 9; mov.u64 d1, "
            "plus; @p1 mov.u64 d1, times; call (r1), d1, (t), T; st.global.b32 "
            "[out], r1;");
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], t < 9 ? t * 7 : t + 100);
}

TEST(Call, LanesMeetInsideAndBehindCalls) {
  // Lanes leave the function by two rets and meet behind the call; a part of
  // the warp calls, and all meet behind the branch; an exit in a function.
  auto got = run(R"(
.func (.param .b32 r) f(.param .b32 a) {
  .reg .b32 x, m; .reg .pred p, q;
  ld.param.b32 x, [a];
  setp.lt.u32 p, x, 8;
  setp.eq.u32 q, x, 31;
  @q exit;
  @p bra SMALL;
  mov.b32 m, 1;
  bra.uni JOIN;
SMALL:
  mov.b32 m, 2;
JOIN:
  activemask.b32 x;
  popc.b32 x, x;
  mad.lo.u32 m, m, 100, x;
  st.param.b32 [r], m;
  @p ret;
  ret;
})",
                 R"(
  mov.b32 r1, 0;
  setp.ge.u32 p1, t, 4;
  @!p1 bra BEHIND;
  call (r1), f, (t);
  activemask.b32 r2;
  popc.b32 r2, r2;
  mad.lo.u32 r1, r2, 1000, r1;
BEHIND:
  activemask.b32 r2;
  popc.b32 r2, r2;
  st.global.v2.b32 [out], {r1, r2};)");
  for (uint32_t t = 0; t < 31; ++t) {
    EXPECT_EQ(uint32_t(got[t]), t < 4   ? 0u
                                : t < 8 ? 27000 + 200 + 27
                                        : 27000 + 100 + 27)
        << t;
    EXPECT_EQ(got[t] >> 32, 31u);
  }
  EXPECT_EQ(got[31], 0u);
}

TEST(Call, BarriersAndSharedMemoryInFunctions) {
  auto got = run(R"(
.shared .align 4 .b32 cells[64];
.func (.param .b32 r) turn(.param .b32 i) {
  .shared .align 4 .b32 extra;
  .reg .b32 x, y; .reg .b64 a, b; .reg .pred p;
  ld.param.b32 x, [i];
  mov.b64 a, cells;
  mul.wide.u32 b, x, 4;
  add.s64 b, a, b;
  st.shared.b32 [b], x;
  setp.eq.u32 p, x, 0;
  @p st.shared.b32 [extra], 500;
  bar.sync 0;
  xor.b32 y, x, 63;
  mul.wide.u32 b, y, 4;
  add.s64 b, a, b;
  ld.shared.b32 x, [b];
  ld.shared.b32 y, [extra];
  add.u32 x, x, y;
  st.param.b32 [r], x;
})",
                 // The kernel sees the same `cells`.
                 callWithT("turn") +
                     " ld.shared.b32 r2, [cells+4]; st.global.b32 [out+4], r2;",
                 64);
  for (uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(got[t], (1ull << 32) + 500 + (63 - t)) << t;
}

TEST(Call, OfAliasesAndGuarded) {
  auto got = run(".func (.param .b32 r) f(.param .b32 a) { .reg .b32 x; "
                 "ld.param.b32 x, [a]; not.b32 x, x; st.param.b32 [r], x; }\n"
                 ".func (.param .b32 r) g(.param .b32 a);\n.alias g, f;",
                 "setp.gt.u32 p1, t, 20; mov.b32 r1, 5; @p1 call (r1), g, (t); "
                 "st.global.b32 [out], r1;");
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], t > 20 ? ~t : 5);
}

TEST(Call, TheStackHasAnEnd) {
  const std::string endless =
      ".func f(.param .b32 n) { .local .align 4 .b8 big[4096]; { .param .b32 "
      "x; call f, (x); } }";
  EXPECT_EQ(fault(endless, "{ .param .b32 x; call f, (x); }"),
            "k.ptx:4:74: error: call: cta (0,0,0) warp 0 lane 0 (thread 0): "
            "the call of "
            "'f' needs 4104 bytes of stack, but 12328 of 16384 bytes are in "
            "use (3 calls deep)");
  DeviceOptions large;
  large.stackBytes = 65536;
  EXPECT_THAT(fault(endless, "{ .param .b32 x; call f, (x); }", large),
              HasSubstr("(15 calls deep)"));
  // Without recursion a kernel has the stack that it needs.
  EXPECT_EQ(fault(".func g { .local .align 16 .b8 b[100000]; .reg .b32 x; "
                  "st.local.b32 [b+99996], x; ld.local.b32 x, [b+99996]; }\n"
                  ".func f { .local .align 16 .b8 a[50000]; .reg .b32 x; "
                  "st.local.b32 [a+49996], x; call g; }",
                  "call f; call g;"),
            "");
}

TEST(Call, FaultsOfPointers) {
  const std::string f = ".func f(.param .b32 a) { } .func g(.param .b64 a) { } "
                        ".func h(.param .b32 a) { }";
  const std::string call = "{ .param .b32 x; P: .callprototype _ (.param .b32 "
                           "_); call d1, (x), P; }";
  EXPECT_THAT(fault(f, "mov.u64 d1, 64; mov.u64 d2, f;" + call),
              HasSubstr("0x40 is not the address of a function of this "
                        "module"));
  EXPECT_THAT(
      fault(f, "mov.u64 d1, g;" + call),
      HasSubstr("'g' has other parameters or results than the prototype "
                "of the call"));
  EXPECT_THAT(fault(f, "mov.u64 d1, h; { .param .b32 x; P: .calltargets f; "
                       "call d1, (x), P; }"),
              HasSubstr("'h' is not one of the .calltargets"));
  EXPECT_EQ(fault(f, "mov.u64 d1, h;" + call), "");
  EXPECT_THAT(fault(f, "setp.lt.u32 p1, t, 3; { .param .b32 x; @p1 call.uni f, "
                       "(x); }"),
              HasSubstr("call.uni is executed by a part of the lanes only"));
  EXPECT_THAT(fault(f, "mov.u64 d1, f; st.b32 [d1], t;"),
              HasSubstr("is in no space"));
}

TEST(Call, WhatIsRefused) {
  const std::string f =
      ".func (.param .b32 r) f(.param .b32 a) { } .extern .func e;";
  auto refused = [&](const std::string &body) { return fault(f, body); };
  EXPECT_THAT(refused("call g;"),
              HasSubstr("'g' is not a function declared before its call"));
  EXPECT_THAT(refused("call k;"), HasSubstr("'k' is not a function"));
  EXPECT_THAT(refused("call (r1), f;"),
              HasSubstr("expected 1 arguments, but got 0"));
  EXPECT_THAT(refused("call f, (t);"),
              HasSubstr("expected 1 results, but got 0"));
  EXPECT_THAT(refused("call (r1), f, (d1);"),
              HasSubstr("to be of 4 bytes aligned to 4 like the function's"));
  EXPECT_THAT(refused("{ .param .align 8 .b8 q[4]; call (r1), f, (q); }"),
              HasSubstr("expected 'q' to be of 4 bytes aligned to 4"));
  EXPECT_THAT(refused("call (r1), f, (po);"), HasSubstr(".param variable"));
  EXPECT_THAT(refused("call d1, (t);"),
              HasSubstr("expected the prototype of an indirect call"));
  EXPECT_THAT(refused("call e;"),
              HasSubstr("unsupported: 'e' is not defined in this module"));
  EXPECT_THAT(refused("st.param.b32 [po], t;"),
              HasSubstr("a kernel's parameters cannot be written"));
  EXPECT_THAT(fault(".func f { } .func f { }", ""), HasSubstr("defined twice"));
  EXPECT_THAT(fault(".func f; .func f(.param .b32 a) { }", ""),
              HasSubstr("declared with other parameters or results"));
  EXPECT_THAT(fault(".func f(.param .u16 a) { }", ""),
              HasSubstr("unsupported: parameter 'a' of type .u16"));
  // A function that nothing calls is read too.
  EXPECT_THAT(fault(".func f { add.u32 1, 2; }", ""), HasSubstr("k.ptx:4"));
}
