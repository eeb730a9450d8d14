#include "test/Unit/ptxsim_count/Fp8Gemm.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace ptxsim;
using namespace counted;

namespace {

constexpr uint32_t tileK = 128, mostShared = 232448;

/// Offsets in shared memory.
struct Layout {
  uint32_t a, b, scales, out, full, empty, end;
  uint32_t pitch; ///< of out: padded against bank conflicts
};
Layout layoutOf(const Fp8Gemm &g, uint32_t stages) {
  Layout l{};
  l.b = stages * g.tileM * tileK;
  l.scales = l.b + stages * g.tileN * tileK;
  l.out = l.scales + stages * g.tileM * 4;
  l.pitch = g.tileN * 2 + 16;
  l.full = l.out + g.tileM * l.pitch;
  l.empty = l.full + 8 * stages;
  l.end = l.empty + 8 * stages;
  return l;
}

TensorMap mapOf(TensorMapDesc d) {
  auto map = encodeTiled(d);
  EXPECT_TRUE(map) << map.message();
  return *map;
}

TensorMap matrix(uint64_t address, uint32_t k, uint32_t rows, uint32_t box) {
  TensorMapDesc d;
  d.rank = 2, d.address = address;
  d.dims = {k, rows}, d.strides = {k}, d.box = {tileK, box};
  d.swizzle = TensorMapDesc::Swizzle128B;
  return mapOf(d);
}

/// f0, f1, ... of a prefix.
std::string registers(const char *prefix, uint32_t n) {
  std::string text = "{";
  for (uint32_t i = 0; i < n; ++i)
    text += fmt::format("{}{}{}", i ? "," : "", prefix, i);
  return text + "}";
}

} // namespace

uint32_t Fp8Gemm::stages() const {
  uint32_t n = 8;
  while (layoutOf(*this, n).end > mostShared)
    --n;
  return n;
}
uint32_t Fp8Gemm::sharedBytes() const { return layoutOf(*this, stages()).end; }

TensorMap Fp8Gemm::mapOfA(uint64_t address) const {
  return matrix(address, k, m, tileM);
}
TensorMap Fp8Gemm::mapOfB(uint64_t address) const {
  return matrix(address, k, groups * n, tileN / multicast);
}
TensorMap Fp8Gemm::mapOfScales(uint64_t address) const {
  TensorMapDesc d;
  d.type = TensorMapDesc::Float32;
  d.rank = 2, d.address = address;
  d.dims = {m, k / tileK}, d.strides = {uint64_t(m) * 4}, d.box = {tileM, 1};
  return mapOf(d);
}

std::string Fp8Gemm::ptx() const {
  const uint32_t stageCount = stages(), mathThreads = 2 * tileM,
                 mathWarps = mathThreads / 32, steps = k / tileK,
                 partOfB = tileN / multicast;
  const Layout l = layoutOf(*this, stageCount);
  const bool twoScales = tileK % tileN != 0; // a tile spans two blocks of B
  std::string t =
      fmt::format(R"(.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 sm[];
.visible .entry gemm(.param .align 64 .b8 mapA[128], .param .align 64 .b8 mapB[128],
  .param .align 64 .b8 mapS[128], .param .u64 scalesB, .param .u64 out, .param .u64 groupOf)
{}{{
  .reg .b32 %r<96>;
  .reg .b64 %d<32>;
  .reg .f32 %a<80>, %s<80>, %f<16>;
  .reg .pred %p<8>, %q<24>, %first;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, sm;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra READY;
)",
                  multicast > 1 ? fmt::format(".explicitcluster "
                                              ".reqnctapercluster {}, 1, 1 ",
                                              multicast)
                                : "");
  auto add = [&](const std::string &text) { t += text; };
  for (uint32_t s = 0; s < stageCount; ++s)
    add(fmt::format("  mbarrier.init.shared.b64 [%r1+{}], 1;\n"
                    "  mbarrier.init.shared.b64 [%r1+{}], {};\n",
                    l.full + 8 * s, l.empty + 8 * s, multicast * mathWarps));
  add("  fence.mbarrier_init.release.cluster;\nREADY:\n");
  const char *meet = multicast > 1 ? "  barrier.cluster.arrive;\n"
                                     "  barrier.cluster.wait;\n"
                                   : "  bar.sync 0;\n";
  add(meet);
  // %r10: first row of A and of out, %r11: first column, %r12: first row of B.
  // Eight tiles of columns at a time: neighbours share tiles of A and B.
  add(fmt::format(R"(  mov.u32 %r2, %cluster_ctarank;
  mov.u32 %r3, %ctaid.x;
  div.u32 %r3, %r3, {multicast};
  div.u32 %r4, %r3, {perGroup};
  mul.lo.u32 %r5, %r4, {perGroup};
  sub.u32 %r5, %r3, %r5;
  shl.b32 %r4, %r4, 3;
  mov.u32 %r6, {tilesN};
  sub.u32 %r6, %r6, %r4;
  min.u32 %r6, %r6, 8;
  div.u32 %r7, %r5, %r6;
  mul.lo.u32 %r8, %r7, %r6;
  sub.u32 %r8, %r5, %r8;
  add.u32 %r8, %r8, %r4;
  mad.lo.u32 %r7, %r7, {multicast}, %r2;
  mul.lo.u32 %r10, %r7, {tileM};
  mul.lo.u32 %r11, %r8, {tileN};
  ld.param.u64 %d0, [groupOf];
  mul.wide.u32 %d1, %r7, 4;
  add.s64 %d0, %d0, %d1;
  ld.global.nc.u32 %r9, [%d0];
  mad.lo.u32 %r12, %r9, {n}, %r11;
  mov.u32 %r13, 0;
  mov.u32 %r14, 0;
  mov.u32 %r15, 0;
  setp.ge.u32 %p1, %r0, {mathThreads};
  @%p1 bra PRODUCER;
)",
                  fmt::arg("multicast", multicast),
                  fmt::arg("perGroup", tilesM() / multicast * 8),
                  fmt::arg("tilesN", tilesN()), fmt::arg("tileM", tileM),
                  fmt::arg("tileN", tileN), fmt::arg("n", n),
                  fmt::arg("mathThreads", mathThreads)));

  // --- warpgroups that multiply: %r20 warpgroup, %r21 lane, %r22 row ---
  add(fmt::format(R"(  shr.u32 %r20, %r0, 7;
  and.b32 %r21, %r0, 31;
  shr.u32 %r22, %r0, 5;
  and.b32 %r22, %r22, 3;
  shl.b32 %r22, %r22, 4;
  mad.lo.u32 %r22, %r20, 64, %r22;
  shr.u32 %r23, %r21, 2;
  add.u32 %r22, %r22, %r23;
  mad.lo.u32 %r24, %r22, 4, %r1;
  add.u32 %r24, %r24, {scales};
  ld.param.u64 %d2, [scalesB];
  shr.u32 %r25, %r11, 7;
  mad.lo.u32 %r25, %r9, {blocksN}, %r25;
  mul.lo.u32 %r25, %r25, {steps};
  mul.wide.u32 %d3, %r25, 4;
  add.s64 %d2, %d2, %d3;
  mad.lo.u32 %r26, %r20, 8192, %r1;
  add.u32 %r27, %r1, {b};
)",
                  fmt::arg("scales", l.scales), fmt::arg("steps", steps),
                  fmt::arg("blocksN", (n + 127) / 128), fmt::arg("b", l.b)));
  const uint32_t results = tileN / 2;
  for (uint32_t i = 0; i < results; ++i)
    add(fmt::format("  mov.f32 %s{}, 0f00000000;\n", i));
  if (twoScales) {
    add("  and.b32 %r28, %r11, 127;\n");
    for (uint32_t g = 0; g < tileN / 8; ++g)
      add(fmt::format("  add.u32 %r29, %r28, {};\n"
                      "  setp.lt.u32 %q{}, %r29, 128;\n",
                      8 * g, g));
    // The second block, if there is one.
    add(fmt::format("  shr.u32 %r29, %r11, 7;\n  add.u32 %r29, %r29, 1;\n"
                    "  setp.lt.u32 %p7, %r29, {};\n"
                    "  selp.b64 %d4, {}, 0, %p7;\n  add.s64 %d4, %d2, %d4;\n",
                    (n + 127) / 128, steps * 4));
  }
  add(fmt::format(R"(STEP:
  mad.lo.u32 %r30, %r13, 8, %r1;
FULL:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r30+{full}], %r14;
  @!%p2 bra FULL;
  mad.lo.u32 %r31, %r13, {scalesBytes}, %r24;
  ld.shared.f32 %f0, [%r31];
  ld.shared.f32 %f1, [%r31+32];
  ld.global.nc.f32 %f2, [%d2];
  add.s64 %d2, %d2, 4;
)",
                  fmt::arg("full", l.full),
                  fmt::arg("scalesBytes", tileM * 4)));
  if (twoScales)
    add("  ld.global.nc.f32 %f3, [%d4];\n  add.s64 %d4, %d4, 4;\n");
  // Matrix descriptors: 128-byte swizzle, 1024 bytes between groups of rows.
  add(fmt::format(R"(  mad.lo.u32 %r32, %r13, {bytesA}, %r26;
  shr.u32 %r32, %r32, 4;
  cvt.u64.u32 %d5, %r32;
  or.b64 %d5, %d5, 0x4000004000010000;
  mad.lo.u32 %r33, %r13, {bytesB}, %r27;
  shr.u32 %r33, %r33, 4;
  cvt.u64.u32 %d6, %r33;
  or.b64 %d6, %d6, 0x4000004000010000;
  wgmma.fence.sync.aligned;
)",
                  fmt::arg("bytesA", tileM * tileK),
                  fmt::arg("bytesB", tileN * tileK)));
  for (unsigned i = 0; i < 4; ++i)
    add(fmt::format(
        "  wgmma.mma_async.sync.aligned.m64n{}k32.f32.e4m3.e4m3 {}, %d5, %d6, "
        "{}, 1, 1;\n  add.s64 %d5, %d5, 2;\n  add.s64 %d6, %d6, 2;\n",
        tileN, registers("%a", results), i ? 1 : 0));
  add(R"(  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  bar.warp.sync 0xffffffff;
)");
  // One lane for each CTA of the cluster gives the stage back.
  if (multicast > 1)
    add(fmt::format(
        "  setp.lt.u32 %p3, %r21, {};\n"
        "  @%p3 mapa.shared::cluster.u32 %r34, %r30, %r21;\n"
        "  @%p3 mbarrier.arrive.release.cluster.shared::cluster.b64 "
        "_, [%r34+{}];\n",
        multicast, l.empty));
  else
    add(fmt::format("  setp.eq.u32 %p3, %r21, 0;\n"
                    "  @%p3 mbarrier.arrive.shared.b64 _, [%r30+{}];\n",
                    l.empty));
  add("  mul.f32 %f4, %f0, %f2;\n  mul.f32 %f5, %f1, %f2;\n");
  if (twoScales)
    add("  mul.f32 %f6, %f0, %f3;\n  mul.f32 %f7, %f1, %f3;\n");
  for (uint32_t g = 0; g < tileN / 8; ++g) {
    const char *upper = "%f4", *lower = "%f5";
    if (twoScales) {
      add(fmt::format("  selp.f32 %f8, %f4, %f6, %q{0};\n"
                      "  selp.f32 %f9, %f5, %f7, %q{0};\n",
                      g));
      upper = "%f8", lower = "%f9";
    }
    for (uint32_t i = 0; i < 4; ++i)
      add(fmt::format("  fma.rn.f32 %s{0}, %a{0}, {1}, %s{0};\n", 4 * g + i,
                      i < 2 ? upper : lower));
  }
  const std::string next = fmt::format(R"(  add.u32 %r13, %r13, 1;
  setp.eq.u32 %p4, %r13, {};
  @%p4 mov.u32 %r13, 0;
  @%p4 xor.b32 %r14, %r14, 1;
  add.u32 %r15, %r15, 1;
  setp.lt.u32 %p5, %r15, {};
)",
                                       stageCount, steps);
  add(next + "  @%p5 bra STEP;\n");
  // By way of shared memory to rows of 16 bytes per thread.
  add(fmt::format(R"(  and.b32 %r40, %r21, 3;
  shl.b32 %r40, %r40, 2;
  mad.lo.u32 %r40, %r22, {pitch}, %r40;
  add.u32 %r40, %r40, %r1;
)",
                  fmt::arg("pitch", l.pitch)));
  for (uint32_t g = 0; g < tileN / 8; ++g)
    for (uint32_t half = 0; half < 2; ++half)
      add(fmt::format("  cvt.rn.bf16x2.f32 %r41, %s{}, %s{};\n"
                      "  st.shared.b32 [%r40+{}], %r41;\n",
                      4 * g + 2 * half + 1, 4 * g + 2 * half,
                      l.out + half * 8 * l.pitch + g * 16));
  add(fmt::format(R"(  add.u32 %r42, %r20, 1;
  bar.sync %r42, 128;
  and.b32 %r43, %r0, 127;
  ld.param.u64 %d7, [out];
  mov.u32 %r44, 0;
STORE:
  div.u32 %r45, %r43, {chunks};
  mul.lo.u32 %r46, %r45, {chunks};
  sub.u32 %r46, %r43, %r46;
  mad.lo.u32 %r45, %r20, 64, %r45;
  mad.lo.u32 %r47, %r45, {pitch}, %r1;
  mad.lo.u32 %r47, %r46, 16, %r47;
  ld.shared.v4.b32 {{%r50,%r51,%r52,%r53}}, [%r47+{out}];
  mad.lo.u32 %r46, %r46, 8, %r11;
  setp.lt.u32 %p6, %r46, {n};
  add.u32 %r45, %r45, %r10;
  mul.wide.u32 %d8, %r45, {n};
  cvt.u64.u32 %d9, %r46;
  add.s64 %d8, %d8, %d9;
  shl.b64 %d8, %d8, 1;
  add.s64 %d8, %d7, %d8;
  @%p6 st.global.v4.b32 [%d8], {{%r50,%r51,%r52,%r53}};
  add.u32 %r43, %r43, 128;
  add.u32 %r44, %r44, 1;
  setp.lt.u32 %p5, %r44, {rounds};
  @%p5 bra STORE;
  bra END;
)",
                  fmt::arg("chunks", tileN / 8), fmt::arg("pitch", l.pitch),
                  fmt::arg("out", l.out), fmt::arg("n", n),
                  fmt::arg("rounds", tileN / 16)));

  // --- the thread that copies ---
  add(fmt::format(
      R"(PRODUCER:
  setp.ne.u32 %p2, %r0, {mathThreads};
  @%p2 bra END;
  mov.b64 %d10, mapA;
  cvta.param.u64 %d10, %d10;
  mov.b64 %d11, mapB;
  cvta.param.u64 %d11, %d11;
  mov.b64 %d12, mapS;
  cvta.param.u64 %d12, %d12;
  mov.u32 %r14, 1;
  mad.lo.u32 %r60, %r2, {partOfB}, %r12;
  mul.lo.u32 %r61, %r2, {bytesOfPart};
  add.u32 %r61, %r61, %r1;
  mov.u32 %r62, 0;
COPY:
  mad.lo.u32 %r30, %r13, 8, %r1;
EMPTY:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r30+{empty}], %r14;
  @!%p2 bra EMPTY;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r30+{full}], {bytes};
  add.u32 %r63, %r30, {full};
  mad.lo.u32 %r64, %r13, {bytesA}, %r1;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r64], [%d10, {{%r62, %r10}}], [%r63];
  mad.lo.u32 %r65, %r13, {scalesBytes}, %r1;
  add.u32 %r65, %r65, {scales};
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r65], [%d12, {{%r10, %r15}}], [%r63];
  mad.lo.u32 %r66, %r13, {bytesB}, %r61;
  add.u32 %r66, %r66, {b};
)",
      fmt::arg("mathThreads", mathThreads), fmt::arg("partOfB", partOfB),
      fmt::arg("bytesOfPart", partOfB * tileK), fmt::arg("empty", l.empty),
      fmt::arg("full", l.full),
      fmt::arg("bytes", tileM * tileK + tileN * tileK + tileM * 4),
      fmt::arg("bytesA", tileM * tileK), fmt::arg("bytesB", tileN * tileK),
      fmt::arg("scalesBytes", tileM * 4), fmt::arg("scales", l.scales),
      fmt::arg("b", l.b)));
  if (multicast > 1)
    add(fmt::format("  {{ .reg .b16 %all;\n  mov.u16 %all, {};\n"
                    "  cp.async.bulk.tensor.2d.shared::cluster.global."
                    "mbarrier::complete_tx::bytes.multicast::cluster [%r66], "
                    "[%d11, {{%r62, %r60}}], [%r63], %all; }}\n",
                    (1 << multicast) - 1));
  else
    add("  cp.async.bulk.tensor.2d.shared::cluster.global."
        "mbarrier::complete_tx::bytes [%r66], [%d11, {%r62, %r60}], "
        "[%r63];\n");
  add("  add.u32 %r62, %r62, 128;\n" + next + "  @%p5 bra COPY;\nEND:\n");
  if (multicast > 1) // nobody leaves while others copy to it or arrive at it
    add(meet);
  return t + "  ret;\n}\n";
}
