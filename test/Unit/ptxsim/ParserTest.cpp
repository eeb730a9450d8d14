// The text the loader accepts, and how it refuses the rest.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::HasSubstr;

namespace {
std::string loadError(const std::string &text) { return Sim(text).loadError; }
std::string bodyError(const std::string &body) {
  return loadError(header + ".visible .entry k(.param .u64 p) {\n" + body +
                   "\n}\n");
}
} // namespace

TEST(Parser, EntryAttributes) {
  Sim sim(header + R"(
.extern .shared .align 1024 .b8 dynamic[];
.shared .align 16 .b8 tile[2][1000];
.shared .align 4 .b8 unused[64];
.visible .entry first(
	.param .u64 .ptr .global .align 16 first_param_0, // comment
	.param .align 64 .b8 first_param_1[128]
)
.reqntid 128, 1, 1
.minnctapersm 2
.maxnreg 128
{
	.pragma "nounroll";
	.reg .pred 	%p<3>;
	.reg .b32 	%r<5>;
	mov.u32 	%r1, tile;
	mov.b32 %r2, dynamic;
	.loc	1 3 5, function_name $L__info_string0, inlined_at 1 20 2
$L__BB0_1:
	ret;
	/* more
	   than a line */
}
.entry second() .maxntid 64 { ret; }
.section .debug_str { $L__info_string0: .b8 116 .b8 0 }
.file 1 "a.py"
)");
  ASSERT_EQ(sim.loadError, "");
  const auto &kernels = sim.module->kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "first");
  ASSERT_EQ(kernels[0].params.size(), 2u);
  EXPECT_EQ(kernels[0].params[0].name, "first_param_0");
  EXPECT_EQ(kernels[0].params[1].align, 64u);
  EXPECT_EQ(kernels[0].params[1].offset, 64u);
  EXPECT_EQ(kernels[0].paramBytes, 192u);
  ASSERT_TRUE(kernels[0].reqntid.has_value());
  EXPECT_EQ(kernels[0].reqntid->x, 128u);
  EXPECT_EQ(kernels[0].staticSharedBytes, 2000u);
  EXPECT_EQ(kernels[0].dynamicShared, "dynamic");
  EXPECT_EQ(kernels[1].maxntid->x, 64u);
  EXPECT_EQ(kernels[1].staticSharedBytes, 0u);
  EXPECT_EQ(sim.module->find("second"), &kernels[1]);
  EXPECT_EQ(sim.module->find("third"), nullptr);
}

TEST(Parser, FreeLayoutAndNumbers) {
  auto got = runBody(
      "{.reg.b32 a,b;mov.u32 a,0x10;mov.u32 b,017;add.s32 a,a,b;mov.u32 "
      "b,0b101;add.s32 a , a ,b;add.s32 a,a,+3; add.s32 a,a,-1;\n"
      "mov.u32 b, 4U; add.s32 a, a, b;mov.u32 b,WARP_SZ;add.s32 "
      "a,a,b;st.global.b32 [ %out + 0 ] , a ;}",
      1);
  EXPECT_EQ(got[0], 16u + 15 + 5 + 3 - 1 + 4 + 32);
}

TEST(Parser, RefusesWithPositionAndForm) {
  EXPECT_EQ(bodyError("  tex.2d.v4.f32.f32 {a,b,c,d}, [t, {x,y}];"),
            "k.ptx:5:3: error: unsupported instruction 'tex.2d.v4.f32.f32'");
  EXPECT_EQ(bodyError("  .reg .b32 %r<3>;\n  frobnicate.b32 %r1, %r2;"),
            "k.ptx:6:3: error: unsupported instruction 'frobnicate.b32'");
  EXPECT_EQ(
      bodyError("  .reg .b32 %r<3>;\n  add.wide.s32 %r1, %r2, 1;"),
      "k.ptx:6:3: error: unsupported form 'add.wide.s32' in 'add.wide.s32 %r1, "
      "%r2, 1;'");
  EXPECT_EQ(bodyError("  .reg .b32 %r<3>;\n\n  ld.global.v8.b32 %r1, [%r2];"),
            "k.ptx:7:3: error: unsupported form 'ld.global.v8.b32' in "
            "'ld.global.v8.b32 %r1, [%r2];'");
  EXPECT_EQ(
      bodyError("  .reg .b32 %r<3>; .reg .b64 %d;\n  add.s32 %r1, %r2, %d;"),
      "k.ptx:6:3: error: expected a source register of 32 bits, but got one of "
      "64 in "
      "'add.s32 %r1, %r2, %d;'");
  EXPECT_EQ(bodyError("  .reg .b32 %r<3>;\n  add.s32 %r1, %r2;"),
            "k.ptx:6:3: error: expected 3 operands, but got 2 in 'add.s32 %r1, "
            "%r2;'");
  EXPECT_EQ(bodyError("  bra NOWHERE;"),
            "k.ptx:5:3: error: label 'NOWHERE' is not defined");
  EXPECT_EQ(bodyError("L: L: ret;"),
            "k.ptx:5:4: error: label 'L' is already defined");
  EXPECT_EQ(bodyError("  { L: } bra L;"),
            "k.ptx:5:10: error: label 'L' is not defined");
  EXPECT_EQ(bodyError("  .reg .b32 %r<3>; mov.u32 %r5, 1;"),
            "k.ptx:5:20: error: expected a register as destination in 'mov.u32 "
            "%r5, 1;'");
  EXPECT_EQ(
      bodyError("  .reg .b32 %r<3>; mov.u32 %r1, %foo;"),
      "k.ptx:5:20: error: unsupported special register '%foo' in 'mov.u32 %r1, "
      "%foo;'");
  EXPECT_THAT(
      bodyError("  tex.1d.v4.f32.s32 a, b;"),
      HasSubstr(
          "k.ptx:5:3: error: unsupported instruction 'tex.1d.v4.f32.s32'"));
  EXPECT_THAT(bodyError("  .reg .b32 a<3>; .reg .b64 a<2>;"),
              HasSubstr("register 'a' is already declared"));
  EXPECT_THAT(bodyError("  .reg .b32 %r<3>; mov.u32 %r1, 1"),
              HasSubstr("expected ',' between operands"));
  EXPECT_THAT(bodyError("  .reg .f32 %f; add.f32 %f, %f, 1;"),
              HasSubstr("an integer where a floating-point number is needed"));
  EXPECT_THAT(
      bodyError("  @%q ret;"),
      HasSubstr("expected a predicate register as guard, but got '%q'"));
}

TEST(Parser, RefusesBrokenText) {
  EXPECT_THAT(loadError(header + ".visible .entry k() { ret;"),
              HasSubstr("a function that does not end"));
  EXPECT_THAT(loadError(header + "/* never closed"),
              HasSubstr("k.ptx:4:1: error: a comment that does not end"));
  EXPECT_THAT(
      loadError("hello"),
      HasSubstr("k.ptx:1:6: error: expected a directive at module level"));
  EXPECT_THAT(loadError(".version 8.4\n.target sm_90a\n.address_size 32\n"),
              HasSubstr("unsupported .address_size 32"));
  EXPECT_THAT(loadError(header + ".global .b8 x[];"),
              HasSubstr("expected 'x' to have a size"));
  EXPECT_THAT(loadError(header + ".global .u32 x = " + std::string(9999, '{')),
              HasSubstr("initial values nested more than 32 deep"));
  EXPECT_THAT(loadError(header + ".entry k { " + std::string(9999, '{')),
              HasSubstr("blocks nested more than 255 deep"));
  EXPECT_THAT(loadError(header + ".global .u32 x[2] = {1, 2, 3};"),
              HasSubstr("too many initial values"));
  EXPECT_THAT(loadError(header + ".tex .u64 t;"),
              HasSubstr("unsupported directive '.tex'"));
  EXPECT_THAT(
      loadError(header +
                ".visible .entry k() .reqnctapercluster 17, 1, 1 { ret; }"),
      HasSubstr("expected a cluster of 1 to 16 CTAs"));
  EXPECT_EQ(loadError(""), "");
}

TEST(Parser, TruncationAtEveryByteIsAnErrorOrFine) {
  const std::string text =
      header +
      ".shared .align 16 .b8 s[16];\n.visible .entry k(.param .u64 p)\n{ .reg "
      ".b32 %r<4>; .reg .pred %p; ld.param.u32 %r1, [p+4];\n"
      "@%p bra L; mov.b64 {%r1,%r2}, 0x7; L: shfl.sync.idx.b32 %r1|%p, %r2, 0, "
      "31, -1; // c\n st.shared.f32 [s+4], 0f3F800000; }\n";
  for (size_t n = 0; n < text.size(); ++n) {
    Device device(onThreads(1));
    auto result = device.loadModule(text.substr(0, n), "k.ptx");
    EXPECT_TRUE(result.ok() || result.message().starts_with("k.ptx:")) << n;
  }
}

TEST(Parser, MutantsAreErrorsOrFine) {
  // Characters dropped, changed, repeated: an error with a position or a
  // module, never anything else. Loaded ones run.
  const std::string text =
      header +
      ".shared .align 16 .b8 s[64];\n.global .align 4 .u32 g[4] = {1, "
      "2};\n.visible .entry k(.param .u64 p, .param .align 8 .b8 q[16])\n"
      "{ .reg .b32 %r<6>; .reg .b64 %d<3>; .reg .pred %p<2>; ld.param.u64 %d1, "
      "[p]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5;\n"
      "@%p1 bra L; mov.b64 {%r1,%r2}, %d1; { .reg .b32 x; mov.u32 x, 3; "
      "add.s32 %r3, x, 0x10; }\nL: shfl.sync.idx.b32 %r1|%p0, %r2, 0, 31, -1;\n"
      "st.shared.v2.b32 [s+8], {%r1, %r3}; bar.sync 0; ld.shared.b32 %r4, "
      "[s+8]; "
      "st.global.b32 [g+4], %r4; .loc 1 2 3\n ret; }\n";
  uint64_t state = 1;
  auto random = [&](uint64_t n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % n;
  };
  unsigned loaded = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string mutant = text;
    for (uint64_t m = random(3) + 1; m; --m) {
      const size_t at = random(mutant.size());
      switch (random(3)) {
      case 0:
        mutant.erase(at, 1 + random(4));
        break;
      case 1:
        mutant[at] = char(32 + random(95));
        break;
      case 2:
        mutant.insert(at, mutant.substr(random(mutant.size()), random(12)));
        break;
      }
    }
    DeviceOptions options = onThreads(1);
    options.instructionLimit = 10000;
    Device device(options);
    auto result = device.loadModule(mutant, "k.ptx");
    if (!result) {
      EXPECT_TRUE(result.message().starts_with("k.ptx:")) << result.message();
      continue;
    }
    ++loaded;
    uint64_t values[32] = {};
    std::vector<const void *> params(32, values);
    for (const Kernel &kernel : (*result)->kernels())
      if (kernel.params.size() <= 32 && kernel.paramBytes <= sizeof(values))
        (void)device.launch(**result, kernel, {}, {32, 1, 1}, 0, params.data());
  }
  EXPECT_GT(loaded, 100u);
}
