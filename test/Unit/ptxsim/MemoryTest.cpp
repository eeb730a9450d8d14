// ld and st: spaces, widths, vectors, extension; cvta and isspacep; parameters,
// constants, initialised variables, local memory.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;

TEST(Memory, LoadsExtend) {
  std::vector<uint64_t> in = {0xfedcba9876543280ull};
  auto load = [&](const char *text) {
    return runBody(std::string("  .reg .b64 d; .reg .b32 r; .reg .b16 h;\n") +
                       text,
                   1, in)[0];
  };
  EXPECT_EQ(load("ld.global.u8 r, [%p0]; st.global.b32 [%out], r;"), 0x80u);
  EXPECT_EQ(load("ld.global.s8 r, [%p0]; st.global.b32 [%out], r;"),
            0xffffff80u);
  EXPECT_EQ(load("ld.global.s8 h, [%p0]; st.global.b16 [%out], h;"), 0xff80u);
  EXPECT_EQ(load("ld.global.s8 d, [%p0]; st.global.b64 [%out], d;"),
            0xffffffffffffff80u);
  EXPECT_EQ(load("ld.global.b8 h, [%p0]; st.global.b16 [%out], h;"), 0x80u);
  EXPECT_EQ(load("ld.global.s16 r, [%p0+6]; st.global.b32 [%out], r;"),
            0xfffffedcu);
  EXPECT_EQ(load("ld.global.u16 d, [%p0+6]; st.global.b64 [%out], d;"),
            0xfedcu);
  EXPECT_EQ(load("ld.global.s32 d, [%p0+4]; st.global.b64 [%out], d;"),
            0xfffffffffedcba98u);
  EXPECT_EQ(load("ld.global.u32 d, [%p0+4]; st.global.b64 [%out], d;"),
            0xfedcba98u);
  EXPECT_EQ(load("ld.global.b64 d, [%p0]; st.global.b64 [%out], d;"), in[0]);
  // Stores truncate.
  EXPECT_EQ(load("ld.global.b64 d, [%p0]; st.global.b8 [%out], d;"), 0x80u);
  EXPECT_EQ(load("ld.global.b64 d, [%p0]; st.global.b16 [%out], d;"), 0x3280u);
  EXPECT_EQ(load("mov.b32 r, 0x12345678; st.global.u8 [%out+1], r;"), 0x7800u);
  EXPECT_EQ(load("st.global.b32 [%out], 7;"), 7u);
  EXPECT_EQ(load("st.global.f32 [%out], 0f3F800000;"), f32(1.0f));
}

TEST(Memory, ModifiersThatChangeNothing) {
  std::vector<uint64_t> in = {42};
  for (const char *form :
       {"ld.global.nc.b64", "ld.volatile.global.b64", "ld.global.ca.b64",
        "ld.global.cg.b64", "ld.global.cs.b64", "ld.global.lu.b64",
        "ld.global.cv.b64", "ld.relaxed.gpu.global.b64",
        "ld.acquire.gpu.global.b64", "ld.acquire.sys.global.b64",
        "ld.global.nc.L1::no_allocate.b64", "ld.global.L1::evict_last.b64",
        "ld.global.L2::128B.b64", "ld.b64", "ld.relaxed.cta.b64",
        "ld.weak.global.b64", "ldu.global.b64"})
    EXPECT_EQ(runBody(std::string("  .reg .b64 d;\n  ") + form +
                          " d, [%p0]; st.global.b64 [%out], d;",
                      1, in)[0],
              42u)
        << form;
  for (const char *form :
       {"st.global.wb.b64", "st.global.cg.b64", "st.global.cs.b64",
        "st.global.wt.b64", "st.volatile.global.b64",
        "st.relaxed.gpu.global.b64", "st.release.gpu.global.b64",
        "st.release.sys.global.b64", "st.b64", "st.global.L1::no_allocate.b64"})
    EXPECT_EQ(runBody(std::string("  .reg .b64 d;\n  mov.u64 d, 42; ") + form +
                          " [%out], d;",
                      1)[0],
              42u)
        << form;
  EXPECT_EQ(runBody("  .reg .b64 d, policy;\n  "
                    "createpolicy.fractional.L2::evict_last.b64 policy, 1.0;"
                    " ld.global.L2::cache_hint.b64 d, [%p0], policy; "
                    "st.global.L2::cache_hint.b64 [%out], d, policy;",
                    1, in)[0],
            42u);
}

TEST(Memory, Vectors) {
  std::vector<uint64_t> in;
  for (uint64_t i = 0; i < 64; ++i)
    in.push_back((2 * i + 1) << 32 | 2 * i);
  // Consecutive (all lanes of a warp) and every other lane: two paths, one
  // result.
  for (const char *guard : {"", "@p "}) {
    std::string body =
        "  .reg .b32 r0, r1, r2, r3; .reg .b64 x; .reg .pred p; and.b32 r0, "
        "%t, 1; setp.eq.u32 p, r0, 0;\n"
        "  mul.wide.u32 x, %t, 16; add.s64 x, %p0, x; mov.b32 r0, 0; mov.b32 "
        "r1, 0; mov.b32 r2, 0; mov.b32 r3, 0;\n  ";
    body += guard + std::string("ld.global.v4.b32 {r0, r1, r2, r3}, [x];\n  ");
    body += guard + std::string("st.global.v2.b32 [%out], {r3, r1};");
    std::vector<uint64_t> got = runBody(body, 32, in);
    for (uint64_t t = 0; t < 32; ++t)
      EXPECT_EQ(got[t], *guard && t % 2 ? 0 : (4 * t + 1) << 32 | (4 * t + 3))
          << guard << t;
  }
  std::vector<uint64_t> half =
      runBody("  .reg .b16 a, b, c, d; ld.global.v4.b16 {a, b, c, d}, [%p0+8]; "
              "st.global.v4.u16 [%out], {d, c, b, a};",
              1, {0, 0x4444333322221111});
  EXPECT_EQ(half[0], 0x1111222233334444u);
  std::vector<uint64_t> bytes =
      runBody("  .reg .b16 a, b, c, d; ld.global.v4.u8 {a, b, c, d}, [%p0]; "
              "st.global.v4.b8 [%out], {d, c, b, a};",
              1, {0x44332211});
  EXPECT_EQ(bytes[0], 0x11223344u);
  std::vector<uint64_t> wide = runBody(
      "  .reg .b64 a, b; ld.global.v2.b64 {a, _}, [%p0]; ld.global.v2.b64 {_, "
      "b}, [%p0]; sub.s64 a, b, a; st.global.b64 [%out], a;",
      1, {5, 12});
  EXPECT_EQ(wide[0], 7u);
}

TEST(Memory, DestinationMayBeTheAddress) {
  auto got = runBody("  .reg .b64 x; mul.wide.u32 x, %t, 8; add.s64 x, x, %p0; "
                     "ld.global.b64 x, [x]; st.global.b64 [%out], x;",
                     3, {10, 20, 30});
  EXPECT_EQ(got, (std::vector<uint64_t>{10, 20, 30}));
  got = runBody("  .reg .b64 x, y; mov.b64 x, %p0; ld.global.v2.b64 {x, y}, "
                "[x]; add.s64 x, x, y; st.global.b64 [%out], x;",
                1, {10, 20});
  EXPECT_EQ(got[0], 30u);
}

TEST(Memory, SharedReversesAcrossWarps) {
  auto got =
      runBody("  .shared .align 8 .b8 s[512]; .reg .b32 a, u; .reg .b64 d;\n"
              "  mov.u32 a, s; mad.lo.s32 u, %t, 8, a; mul.wide.u32 d, %t, 3; "
              "st.shared.b64 [u], d; bar.sync 0;\n"
              "  sub.s32 u, 63, %t; mad.lo.s32 u, u, 8, a; ld.shared.b64 d, "
              "[u]; st.global.b64 [%out], d;",
              64);
  for (uint64_t t = 0; t < 64; ++t)
    EXPECT_EQ(got[t], 3 * (63 - t));
}

TEST(Memory, GenericAddressesKnowTheirSpace) {
  // Shared and local memory through generic pointers, and back.
  auto got = runBody("  .shared .align 8 .b8 s[256]; .local .align 8 .b8 "
                     "l[16]; .reg .b64 gs, gl, x, y, o; .reg .b32 v, w;\n"
                     "  mov.u64 x, s; cvta.shared.u64 gs, x; mov.u64 y, l; "
                     "cvta.local.u64 gl, y;\n"
                     "  mul.wide.u32 o, %t, 8; add.s64 gs, gs, o;\n"
                     "  add.s32 v, %t, 100; st.b32 [gs], v; add.s32 w, %t, "
                     "1000; st.b32 [gl+4], w;\n"
                     "  cvta.to.shared.u64 x, gs; ld.shared.b32 v, [x]; "
                     "cvta.to.local.u64 y, gl; ld.local.b32 w, [y+4];\n"
                     "  add.s32 v, v, w; st.global.b32 [%out], v;",
                     32);
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], 1100 + 2 * t);
  EXPECT_EQ(
      runBody("  .shared .align 8 .b8 s[8]; .reg .b64 g, x; .reg .pred p, q, "
              "r; .reg .b32 a, b, c;\n"
              "  mov.u64 x, s; cvta.shared.u64 g, x; isspacep.shared p, g; "
              "isspacep.global q, g; isspacep.global r, %p0;\n"
              "  selp.b32 a, 1, 0, p; selp.b32 b, 2, 0, q; selp.b32 c, 4, 0, "
              "r; or.b32 a, a, b; or.b32 a, a, c; st.global.b32 [%out], a;",
              1)[0],
      5u);
}

TEST(Memory, LocalMemoryIsPerThread) {
  auto got = runBody("  .local .align 4 .b8 depot[64]; .reg .b32 i, v; .reg "
                     ".pred p; .reg .b64 a, o;\n"
                     "  mov.u32 i, 0; mov.u64 a, depot;\n"
                     "LOOP: mul.wide.u32 o, i, 4; add.s64 o, o, a; mad.lo.s32 "
                     "v, i, 10, %t; st.local.b32 [o], v; add.s32 i, i, 1; "
                     "setp.lt.u32 p, i, 16; @p bra LOOP;\n"
                     "  ld.local.b32 v, [a+60]; st.global.b32 [%out], v;",
                     40);
  for (uint64_t t = 0; t < 40; ++t)
    EXPECT_EQ(got[t], 150 + t);
}

TEST(Memory, Variables) {
  Sim sim(header + R"(
.global .align 4 .u32 table[4] = {1, 0x10, -1, 7};
.const .align 8 .b8 bytes[8] = {1, 2, 3};
.global .f32 f = 0f40490FDB;
.global .align 8 .u64 link[2] = {generic(table)+8, bytes};
.visible .global .u32 counter;
.visible .entry k(.param .u64 out) {
  .reg .b64 %o, %a, %rd<4>; .reg .b32 %r<8>; .reg .f32 %x;
  ld.param.u64 %o, [out];
  ld.global.u32 %r1, [table+4]; st.global.u32 [%o], %r1;
  ld.const.u8 %r2, [bytes+2]; st.global.u32 [%o+4], %r2;
  ld.const.u8 %r2, [bytes+7]; st.global.u32 [%o+8], %r2;
  ld.global.f32 %x, [f]; st.global.f32 [%o+12], %x;
  ld.global.u64 %a, [link]; ld.u32 %r3, [%a]; st.global.u32 [%o+16], %r3;
  mov.u64 %rd1, table; cvta.global.u64 %rd1, %rd1; ld.u32 %r4, [%rd1+12]; st.global.u32 [%o+20], %r4;
  mov.u32 %r5, 99; st.global.u32 [counter], %r5;
  ret;
})");
  ASSERT_EQ(sim.loadError, "");
  uint64_t out = sim.buffer("out", std::vector<uint32_t>(6));
  ASSERT_EQ(sim.run({out}, {1, 1, 1}).message(), "");
  EXPECT_EQ(sim.read<uint32_t>(out, 6),
            (std::vector<uint32_t>{0x10, 3, 0, 0x40490fdb, 0xffffffff, 7}));
  auto counter = sim.module->global("counter");
  ASSERT_TRUE(counter.has_value());
  EXPECT_EQ(counter->second, 4u);
  EXPECT_EQ(sim.read<uint32_t>(counter->first, 1)[0], 99u);
  EXPECT_FALSE(sim.module->global("nothing").has_value());
}

TEST(Memory, Parameters) {
  Sim sim(header + R"(
.visible .entry k(.param .u64 .ptr .global .align 1 out, .param .u32 n, .param .align 16 .b8 blob[32], .param .u8 small) {
  .reg .b64 %o, %a, %d; .reg .b32 %r<6>; .reg .b16 %h;
  ld.param.b64 %o, [out];
  ld.param.b32 %r1, [n]; st.global.b32 [%o], %r1;
  ld.param.v2.b32 {%r2, %r3}, [blob+8]; st.global.v2.b32 [%o+8], {%r2, %r3};
  mov.b64 %a, blob; ld.param.b32 %r4, [%a+16]; st.global.b32 [%o+4], %r4;
  cvta.param.u64 %a, %a; ld.b32 %r4, [%a+20]; st.global.b32 [%o+16], %r4;
  ld.param.u8 %h, [small]; st.global.b16 [%o+20], %h;
  ld.param::entry.b32 %r5, [n]; st.global.b32 [%o+24], %r5;
  ret;
})");
  ASSERT_EQ(sim.loadError, "");
  const Kernel &k = sim.module->kernels()[0];
  ASSERT_EQ(k.params.size(), 4u);
  EXPECT_EQ(k.params[2].offset, 16u);
  EXPECT_EQ(k.params[2].size, 32u);
  EXPECT_EQ(k.params[2].align, 16u);
  EXPECT_EQ(k.params[3].type, "u8");
  EXPECT_EQ(k.paramBytes, 49u);
  uint64_t out = sim.buffer("out", std::vector<uint32_t>(7));
  uint32_t n = 5, blob[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  uint8_t small = 200;
  const void *params[] = {&out, &n, blob, &small};
  ASSERT_EQ(
      sim.device.launch(*sim.module, k, {}, {1, 1, 1}, 0, params).message(),
      "");
  EXPECT_EQ(sim.read<uint32_t>(out, 7),
            (std::vector<uint32_t>{5, 4, 2, 3, 5, 200, 5}));
}

TEST(Memory, DeviceCopiesCheckBounds) {
  Device device;
  auto p = device.allocate(16, "weights");
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(*p % 256, 0u);
  char host[32] = {};
  EXPECT_TRUE(device.copyToDevice(*p, host, 16).ok());
  EXPECT_THAT(device.copyToDevice(*p, host, 17).message(),
              testing::HasSubstr("run over the end of 'weights' of 16 bytes"));
  EXPECT_THAT(device.copyToHost(host, *p + 8, 16).message(),
              testing::HasSubstr("'weights'"));
  EXPECT_TRUE(device.fill32(*p, 0x01020304, 4).ok());
  EXPECT_TRUE(device.copyToHost(host, *p, 16).ok());
  EXPECT_EQ(host[0], 4);
  EXPECT_EQ(reinterpret_cast<const char *>(*p)[15], 1);
  EXPECT_TRUE(device.fill8(*p, 9, 16).ok());
  auto q = device.allocate(16, "copy");
  EXPECT_TRUE(device.copyOnDevice(*q, *p, 16).ok());
  EXPECT_EQ(reinterpret_cast<const char *>(*q)[15], 9);
  EXPECT_TRUE(device.free(*p).ok());
  EXPECT_THAT(device.copyToHost(host, *p, 4).message(),
              testing::HasSubstr("'weights', which has been freed"));
  EXPECT_FALSE(device.free(*p).ok());
  EXPECT_FALSE(device.free(*q + 4).ok());
}

TEST(Memory, PoisonIsNaN) {
  DeviceOptions options;
  options.poison = true;
  Device device(options);
  auto p = device.allocate(8, "x");
  float f;
  ASSERT_TRUE(device.copyToHost(&f, *p, 4).ok());
  EXPECT_TRUE(f != f);
}
