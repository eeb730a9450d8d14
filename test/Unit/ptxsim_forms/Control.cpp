// bra, brx, call, ret, exit, trap, and st.param for arguments and results:
// which statements are executed, by which threads, with which values.

#include "test/Unit/ptxsim_forms/Form.h"

using namespace ptxsim;
using namespace ptxsim::forms;

namespace {

std::vector<uint64_t> perThread(uint64_t (*value)(uint64_t),
                                size_t threads = 32) {
  std::vector<uint64_t> values;
  for (size_t t = 0; t < threads; ++t)
    values.push_back(value(t));
  return values;
}

/// Functions, and a kernel like that of runThreads around `body`.
std::vector<uint64_t> withFunctions(const std::string &functions,
                                    const std::string &body) {
  Program program(".version 8.7\n.target sm_90a\n.address_size 64\n" +
                  functions + R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %r<8>; .reg .b64 %out, %d<8>; .reg .pred %p<4>;
  .reg .f32 %f<4>; .reg .f64 %e<4>;
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %out, %t, 8, %out;
)" + body + "\n  ret;\n}\n");
  EXPECT_EQ(program.loadError, "");
  if (!program.module)
    return {};
  const uint64_t out = program.buffer("out", std::vector<uint64_t>(32));
  EXPECT_EQ(program.run({out}).message(), "");
  return program.read<uint64_t>(out, 32);
}

/// Forwards over statements, backwards as a loop whose number of turns is the
/// same in all threads, or with `diverging` is not.
void testBra(const std::string &name, bool diverging) {
  const std::string limit = diverging ? "and.b32 n, %t, 7;" : "mov.u32 n, 5;";
  const auto loop = [&](const std::string &guarded) {
    return "  .reg .b32 n, i, sum; .reg .pred p, q;\n  " + limit + R"(
  mov.u32 i, 0;
  mov.u32 sum, 0;
  )" + name +
           R"( AGAIN;
  mov.u32 sum, 1000;
AGAIN:
  setp.ge.u32 p, i, n;
  )" + guarded +
           R"(
  add.u32 sum, sum, i;
  add.u32 i, i, 1;
  )" + name +
           R"( AGAIN;
DONE:
  st.global.u32 [%out], sum;)";
  };
  EXPECT_EQ(runThreads(loop("@p " + name + " DONE;"), 32),
            diverging ? perThread([](uint64_t t) {
              const uint64_t n = t & 7;
              return n * (n - 1) / 2;
            })
                      : std::vector<uint64_t>(32, 10));
  EXPECT_EQ(runThreads(loop("not.pred q, p; @!q " + name + " DONE;"), 32)[5],
            10u);
}

/// A table of three targets, one of them twice; the index is the same in all
/// threads of a warp only for .uni.
void testBrx(const std::string &name, bool uniform) {
  for (uint32_t fixed = 0; fixed < 4; ++fixed) {
    const std::string index = uniform ? "mov.u32 i, " + std::to_string(fixed)
                                      : std::string("and.b32 i, %t, 3");
    const std::vector<uint64_t> got =
        runThreads("  .reg .b32 i, d; mov.u32 d, 0; " + index + R"(;
  targets: .branchtargets A, B, C, B;
  )" + name + R"( i, targets;
A:
  add.u32 d, d, 1;
B:
  add.u32 d, d, 10;
C:
  add.u32 d, d, 100;
  st.global.u32 [%out], d;)",
                   32);
    for (uint64_t t = 0; t < got.size(); ++t) {
      const uint64_t values[] = {111, 110, 100, 110};
      EXPECT_EQ(got[t], values[uniform ? fixed : t & 3]) << name << " " << t;
    }
  }
}

const char *const functions = R"(
.func (.param .b32 r) poly(.param .b32 x, .param .b32 y) {
  .reg .b32 a, b;
  ld.param.b32 a, [x]; ld.param.b32 b, [y];
  mad.lo.u32 a, a, 100, b;
  st.param.b32 [r], a;
  ret;
}
.func (.reg .b32 r) plus(.reg .b32 x, .reg .b32 y) { add.u32 r, x, y; ret; }
.func store(.param .b64 at) {
  .reg .b64 a;
  ld.param.b64 a, [at];
  st.global.b32 [a+4], 3;
  ret;
}
)";

/// Arguments in .param space and in registers, results, pointers to functions
/// with a prototype and with a list of targets. Threads take turns if the
/// call may diverge.
void testCall(const std::string &name, bool uniform) {
  const std::string guard = uniform ? "" : "@%p1 ";
  const auto got = withFunctions(functions, R"(
  setp.lt.u32 %p1, %t, 20;
  mov.u32 %r1, 7;
  mov.u32 %r2, 7;
  mov.u64 %d0, poly;
  one: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
  two: .calltargets poly;
)" + std::string(uniform ? "" : "  @!%p1 bra SKIP;\n") +
                                                R"(
  { .param .b32 x; .param .b32 y; .param .b32 z;
    st.param.b32 [x], %t; st.param.b32 [y], 5;
    )" + name + R"( (z), poly, (x, y);
    ld.param.b32 %r1, [z];
    st.param.b32 [x], 2; st.param.b32 [y], %r1;
    )" + name + R"( (z), %d0, (x, y), one;
    ld.param.b32 %r1, [z];
    st.param.b32 [y], %r1;
    )" + name + R"( (z), %d0, (x, y), two;
    ld.param.b32 %r1, [z];
  }
SKIP:
  )" + guard + name + R"( (%r2), plus, (%r1, %t);
  { .param .b64 a; st.param.b64 [a], %out; )" + name +
                                                R"( store, (a); }
  st.global.u32 [%out], %r2;)");
  for (uint64_t t = 0; t < got.size(); ++t) {
    const uint64_t value = 200 + (200 + (t * 100 + 5)) + t;
    const uint64_t expected = uniform || t < 20 ? value : 7;
    EXPECT_EQ(got[t], expected | uint64_t(3) << 32) << name << " " << t;
  }
}

/// An early return from a function by some threads, and from the kernel.
void testRet(const std::string &name, bool diverging) {
  const std::string some = diverging ? "%t" : "3";
  const auto got = withFunctions(R"(
.func (.param .b32 r) early(.param .b32 x) {
  .reg .b32 a; .reg .pred p;
  ld.param.b32 a, [x];
  st.param.b32 [r], 1;
  setp.lt.u32 p, a, 10;
  @p )" + name + R"(;
  st.param.b32 [r], 2;
  )" + name + ";\n}\n",
                                 R"(
  { .param .b32 x; .param .b32 z; st.param.b32 [x], )" +
                                     some + R"(;
    call (z), early, (x); ld.param.b32 %r1, [z]; }
  st.global.u32 [%out], %r1;
  setp.lt.u32 %p1, )" + some + R"(, 25;
  @%p1 )" + name + R"(;
  st.global.u32 [%out+4], 9;)");
  for (uint64_t t = 0; t < got.size(); ++t) {
    const uint64_t x = diverging ? t : 3;
    EXPECT_EQ(got[t], (x < 10 ? 1 : 2) | uint64_t(x < 25 ? 0 : 9) << 32)
        << name << " " << t;
  }
}

/// Ends the thread, from a function too; a barrier does not wait for it.
void testExit() {
  const auto got = withFunctions(R"(
.func leave(.param .b32 x) {
  .reg .b32 a; .reg .pred p;
  ld.param.b32 a, [x];
  setp.lt.u32 p, a, 10;
  @p exit;
  ret;
})",
                                 R"(
  st.global.u32 [%out], 1;
  { .param .b32 x; st.param.b32 [x], %t; call leave, (x); }
  st.global.u32 [%out], 2;
  setp.eq.u32 %p1, %t, 20;
  @%p1 exit;
  barrier.sync 0;
  st.global.u32 [%out], 3;)");
  EXPECT_EQ(got, perThread([](uint64_t t) -> uint64_t {
              return t < 10 ? 1 : t == 20 ? 2 : 3;
            }));
}

/// Aborts the launch; not where its guard is false.
void testTrap() {
  for (const bool taken : {false, true}) {
    Program program(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 n) {
  .reg .b64 %n; .reg .b32 %t; .reg .pred %p;
  ld.param.u64 %n, [n]; mov.u32 %t, %tid.x;
  setp.eq.u64 %p, %n, 1;
  setp.eq.and.u32 %p, %t, 6, %p;
  @%p trap;
  ret;
})");
    ASSERT_EQ(program.loadError, "");
    EXPECT_EQ(program.run({taken}).ok(), !taken);
  }
}

/// Values of every parameter go in and come out: `bits` wide, in registers of
/// `reg`.
void testParam(const std::string &type, const std::string &reg) {
  const std::string bits = type.substr(1);
  const std::string name = "st.param." + type;
  const auto got = withFunctions(
      ".func (.param ." + type + " r) low(.param ." + type +
          " x, .param .align 16 .b8 y[32]) {\n"
          "  .reg .b" +
          bits + " a, b;\n  ld.param.b" + bits + " a, [x]; ld.param.b" + bits +
          " b, [y+16];\n  xor.b" + bits + " a, a, b;\n  mov.b" + bits + " " +
          "b, a;\n  { .reg ." + reg + " c; mov.b" + bits + " c, a; " + name +
          " [r], c; }\n  ret;\n}\n",
      "  .reg ." + reg + " u, v; .reg .b" + bits + " w;\n  cvt.u" + bits +
          ".u32 w, %t;\n  mov.b" + bits + " u, w;\n  xor.b" + bits +
          " w, w, 0x1234;\n  mov.b" + bits + " v, w;\n  { .param ." + type +
          " x; .param .align 16 .b8 y[32]; .param ." + type + " z;\n    " +
          name + " [x], u; " + name + " [y+16], v;\n    " + name +
          " [y+24], u;\n    call (z), low, (x, y);\n    ld.param.b" + bits +
          " w, [z]; }\n  st.global.b" + bits + " [%out], w;");
  EXPECT_EQ(got, std::vector<uint64_t>(32, 0x1234)) << name;
}

} // namespace

FORMS(control) {
  form("bra", [] {
    testBra("bra", true);
    testBra("bra", false);
  });
  form("bra.uni", [] { testBra("bra.uni", false); });
  form("brx.idx", [] { testBrx("brx.idx", false); });
  form("brx.idx.uni", [] { testBrx("brx.idx.uni", true); });
  form("call", [] {
    testCall("call", false);
    testCall("call", true);
  });
  form("call.uni", [] { testCall("call.uni", true); });
  form("ret", [] {
    testRet("ret", true);
    testRet("ret", false);
  });
  form("ret.uni", [] { testRet("ret.uni", false); });
  form("exit", testExit);
  form("trap", testTrap);
  for (const auto &[type, reg] :
       {std::pair<const char *, const char *>{"b32", "b32"},
        {"b64", "b64"},
        {"f32", "f32"},
        {"f64", "f64"}}) {
    const std::string type_ = type, reg_ = reg;
    form("st.param." + type_, [=] { testParam(type_, reg_); });
  }
}
