// Every opcode that touches memory is counted: figures worked out by hand for
// each. An opcode that is new in Opcodes.def belongs into one of the two lists.

#include "runtime/ptxsim/TensorMap.h"
#include "test/Unit/ptxsim_count/Counted.h"

#include <map>
#include <set>

using namespace counted;

namespace {

using Expected = std::map<Counter, uint64_t>;
struct Case {
  const char *body;
  Expected counters; ///< of memory; all others must be zero
  Setup setup = {};
};

const char *opcodes[] = {
#define PTXSIM_OPCODE(opcode, decode) opcode,
#include "runtime/ptxsim/Opcodes.def"
#undef PTXSIM_OPCODE
};

/// Opcodes that compute, move registers, jump or synchronise.
const std::set<std::string> untouching = {
    "and",           "or",        "xor",          "not",      "cnot",
    "cvt",           "add",       "sub",          "mul",      "fma",
    "min",           "max",       "abs",          "neg",      "setp",
    "set",           "ex2",       "lg2",          "sin",      "cos",
    "tanh",          "rcp",       "sqrt",         "rsqrt",    "div",
    "mma",           "movmatrix", "barrier",      "mapa",     "getctarank",
    "mov",           "bra",       "brx",          "ret",      "exit",
    "trap",          "brkpt",     "mad",          "mul24",    "mad24",
    "sad",           "rem",       "addc",         "subc",     "madc",
    "shl",           "shr",       "shf",          "lop3",     "prmt",
    "bfe",           "bfi",       "bfind",        "brev",     "clz",
    "popc",          "szext",     "bmsk",         "fns",      "dp4a",
    "dp2a",          "selp",      "slct",         "copysign", "testp",
    "cvta",          "isspacep",  "bar",          "shfl",     "vote",
    "match",         "redux",     "activemask",   "elect",    "fence",
    "membar",        "nanosleep", "createpolicy", "pmevent",  "griddepcontrol",
    "setmaxnreg",
    "applypriority", // changes which lines go first, moves none
};

/// What a case may count.
const Counter memory[] = {
    Counter::GlobalLoadRequests,
    Counter::GlobalLoadSectors,
    Counter::GlobalLoadHits,
    Counter::GlobalStoreRequests,
    Counter::GlobalStoreSectors,
    Counter::AsyncLoadRequests,
    Counter::AsyncLoadSectors,
    Counter::AtomicSectors,
    Counter::ReductionSectors,
    Counter::SharedLoadWavefronts,
    Counter::SharedStoreWavefronts,
    Counter::SharedAtomicWavefronts,
    Counter::SharedAsyncWavefronts,
    Counter::SharedLoadConflicts,
    Counter::SharedStoreConflicts,
    Counter::SharedAtomicConflicts,
    Counter::SharedAsyncConflicts,
    Counter::AsyncBytes,
    Counter::BulkLoadBytes,
    Counter::BulkStoreBytes,
    Counter::WgmmaOperandBytes,
    Counter::RemoteSharedBytes,
    Counter::LocalBytes,
    Counter::ConstantRequests,
    Counter::ConstantAddresses,
    Counter::PrefetchRequests,
    Counter::UncountedAccesses,
    Counter::Atomics,
    Counter::Reductions,
    Counter::AtomicConflicts,
    Counter::SharedAtomics,
    Counter::MbarrierOperations,
    Counter::L2ReadSectors,
    Counter::L2WriteSectors,
    Counter::L2AtomicSectors,
    Counter::L2ReductionSectors,
    Counter::L2PrefetchSectors,
};

void expectCounts(const Case &c) {
  SCOPED_TRACE(c.body);
  // Before each: %d2 = in + 4 * lane, %d3 = in + 16 * lane, %r2 and %r3 the
  // same in shared memory.
  const Counted run(std::string(R"(
  mul.wide.u32 %d2, %r0, 4;
  add.s64 %d2, %d0, %d2;
  mul.wide.u32 %d3, %r0, 16;
  add.s64 %d3, %d0, %d3;
  mad.lo.u32 %r2, %r0, 4, %r1;
  mad.lo.u32 %r3, %r0, 16, %r1;
  setp.eq.u32 %p0, %r0, 0;
)") + c.body,
                    c.setup);
  for (Counter counter : memory) {
    const auto it = c.counters.find(counter);
    EXPECT_EQ(run[counter], it == c.counters.end() ? 0 : it->second)
        << counterName(counter);
  }
}

Setup with(const char *declarations) {
  Setup s;
  s.declarations = declarations;
  return s;
}
Setup pairOfCtas() {
  Setup s;
  s.grid = {2, 1, 1}, s.cluster = Dim3{2, 1, 1};
  return s;
}
Setup warpgroup() {
  Setup s;
  s.threads = 128, s.options.skipTensor = true;
  return s;
}

/// An mbarrier at smem + 16384.
#define INIT                                                                   \
  "  add.u32 %r20, %r1, 16384;\n"                                              \
  "  @%p0 mbarrier.init.shared.b64 [%r20], 1;\n"                               \
  "  fence.mbarrier_init.release.cluster;\n  bar.sync 0;\n"
#define WAIT                                                                   \
  "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;\n"             \
  "  @!%p1 bra WAIT;\n"

using C = Counter;
const std::map<std::string, std::vector<Case>> &cases() {
  static const std::map<std::string, std::vector<Case>> table = {
      {"ld",
       {{"ld.global.b32 %r4, [%d2];",
         {{C::GlobalLoadRequests, 1},
          {C::GlobalLoadSectors, 4},
          {C::L2ReadSectors, 4}}},
        {"ld.global.v4.b32 {%r4,%r5,%r6,%r7}, [%d3];",
         {{C::GlobalLoadRequests, 1},
          {C::GlobalLoadSectors, 16},
          {C::L2ReadSectors, 16}}},
        {"ld.relaxed.gpu.global.b32 %r4, [%d0];",
         {{C::GlobalLoadRequests, 1},
          {C::GlobalLoadSectors, 1},
          {C::L2ReadSectors, 1}}},
        {"ld.shared.b32 %r4, [%r2];", {{C::SharedLoadWavefronts, 1}}},
        {".local .align 16 .b8 own[16];\n  ld.local.b32 %r4, [own];",
         {{C::LocalBytes, 128}}},
        // All lanes read one word; then 32 words.
        {"ld.const.b32 %r4, [table];",
         {{C::ConstantRequests, 1}, {C::ConstantAddresses, 1}},
         with(".const .align 4 .b32 table[32];\n")},
        {"mul.wide.u32 %d4, %r0, 4;\n  mov.u64 %d5, table;\n"
         "  add.s64 %d4, %d4, %d5;\n  ld.const.b32 %r4, [%d4];",
         {{C::ConstantRequests, 1}, {C::ConstantAddresses, 32}},
         with(".const .align 4 .b32 table[32];\n")},
        // An operand in SASS.
        {"ld.param.u64 %d4, [in];", {}},
        {"mov.b64 %d4, in;\n  cvta.param.u64 %d4, %d4;\n  ld.b64 %d5, [%d4];",
         {{C::ConstantRequests, 1}, {C::ConstantAddresses, 1}}}}},
      {"ldu",
       {{"ldu.global.b32 %r4, [%d2];",
         {{C::GlobalLoadRequests, 1},
          {C::GlobalLoadSectors, 4},
          {C::L2ReadSectors, 4}}}}},
      {"st",
       {{"st.global.b32 [%d2], %r0;",
         {{C::GlobalStoreRequests, 1},
          {C::GlobalStoreSectors, 4},
          {C::L2WriteSectors, 4}}},
        {"st.shared.b32 [%r2], %r0;", {{C::SharedStoreWavefronts, 1}}},
        {".local .align 16 .b8 own[16];\n  st.local.b64 [own], %d0;",
         {{C::LocalBytes, 256}}},
        {"mov.u32 %r4, %cluster_ctarank;\n  xor.b32 %r4, %r4, 1;\n"
         "  mapa.shared::cluster.u32 %r5, %r2, %r4;\n"
         "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n"
         "  st.shared::cluster.b32 [%r5], %r0;\n"
         "  barrier.cluster.arrive;\n  barrier.cluster.wait;",
         {{C::RemoteSharedBytes, 2 * 128}},
         pairOfCtas()}}},
      // To the other CTA's shared memory, 512 bytes from each of two.
      {"st.async",
       {{INIT "  mov.u32 %r4, %cluster_ctarank;\n  xor.b32 %r4, %r4, 1;\n"
              "  mapa.shared::cluster.u32 %r5, %r3, %r4;\n"
              "  mapa.shared::cluster.u32 %r6, %r20, %r4;\n"
              "  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 512;\n"
              "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n"
              "  st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
              "[%r5], {%r0,%r0,%r0,%r0}, [%r6];\n" WAIT
              "  barrier.cluster.arrive;\n  barrier.cluster.wait;",
         {{C::RemoteSharedBytes, 2 * 512}, {C::MbarrierOperations, 2 * 2}},
         pairOfCtas()}}},
      {"red.async",
       {{INIT "  mov.u32 %r4, 0;\n  st.shared.b32 [%r2], %r4;\n"
              "  mov.u32 %r4, %cluster_ctarank;\n  xor.b32 %r4, %r4, 1;\n"
              "  mapa.shared::cluster.u32 %r5, %r2, %r4;\n"
              "  mapa.shared::cluster.u32 %r6, %r20, %r4;\n"
              "  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 128;\n"
              "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n"
              "  red.async.relaxed.cluster.shared::cluster."
              "mbarrier::complete_tx::bytes.add.u32 [%r5], %r0, [%r6];\n" WAIT
              "  barrier.cluster.arrive;\n  barrier.cluster.wait;",
         {{C::RemoteSharedBytes, 2 * 128},
          {C::SharedAtomics, 2 * 32},
          {C::SharedStoreWavefronts, 2},
          {C::MbarrierOperations, 2 * 2}},
         pairOfCtas()}}},
      {"atom",
       {{"atom.global.add.u32 %r4, [%d0], 1;\n  st.shared.b32 [%r2], %r4;",
         {{C::AtomicSectors, 1},
          {C::Atomics, 32},
          {C::AtomicConflicts, 31},
          {C::L2AtomicSectors, 1},
          {C::SharedStoreWavefronts, 1}}},
        {"atom.global.add.v4.f32 {%f0,%f1,%f2,%f3}, [%d3], "
         "{%f4,%f5,%f6,%f7};\n  st.shared.b32 [%r2], %f3;",
         {{C::AtomicSectors, 16},
          {C::Atomics, 32},
          {C::L2AtomicSectors, 16},
          {C::SharedStoreWavefronts, 1}}},
        {"atom.global.exch.b64 %d4, [%d0], %d1;\n"
         "  st.shared.b64 [smem+8192], %d4;",
         {{C::AtomicSectors, 1},
          {C::Atomics, 32},
          {C::AtomicConflicts, 31},
          {C::L2AtomicSectors, 1},
          {C::SharedStoreWavefronts, 2}}},
        {"atom.shared.cas.b32 %r4, [%r2], 0, 1;",
         {{C::SharedAtomics, 32}, {C::SharedAtomicWavefronts, 1}}}}},
      {"red",
       {{"red.global.add.u32 [%d2], 1;",
         {{C::ReductionSectors, 4},
          {C::Reductions, 32},
          {C::L2ReductionSectors, 4}}},
        {"red.global.gpu.relaxed.add.v4.f32 [%d3], {%f4,%f5,%f6,%f7};",
         {{C::ReductionSectors, 16},
          {C::Reductions, 32},
          {C::L2ReductionSectors, 16}}},
        {"red.shared.add.u32 [%r1], 1;",
         {{C::SharedAtomics, 32},
          {C::SharedAtomicWavefronts, 32},
          {C::SharedAtomicConflicts, 31}}}}},
      {"ldmatrix",
       {{"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4,%r5}, [%r3];",
         {{C::SharedLoadWavefronts, 2}}}}},
      {"stmatrix",
       {{"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], "
         "{%r4,%r5,%r6,%r7};",
         {{C::SharedStoreWavefronts, 4}}}}},
      // 16 rows of 32 bytes, in pieces of 16 by 32 lanes.
      {"wmma",
       {{"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
         "{%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [%d0], 64;",
         {{C::GlobalLoadRequests, 1},
          {C::GlobalLoadSectors, 16},
          {C::L2ReadSectors, 16}}},
        {"wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 "
         "{%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [%r1];",
         {{C::SharedLoadWavefronts, 4}}},
        // Four rows of a quarter of the warp in the same eight banks.
        {"wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 "
         "{%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [%r1], 64;",
         {{C::SharedLoadWavefronts, 16}, {C::SharedLoadConflicts, 12}}},
        // 16 rows of 64 bytes: two accesses.
        {"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d1], "
         "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, 16;",
         {{C::GlobalStoreRequests, 2},
          {C::GlobalStoreSectors, 32},
          {C::L2WriteSectors, 32}}},
        {"cvta.shared.u64 %d4, 1024;\n"
         "  wmma.store.d.sync.aligned.row.m16n16k16.f32 [%d4], "
         "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
         {{C::SharedStoreWavefronts, 8}}}}},
      {"cp",
       {{"cp.async.cg.shared.global [%r3], [%d3], 16;\n  cp.async.wait_all;",
         {{C::AsyncLoadRequests, 1},
          {C::AsyncLoadSectors, 16},
          {C::AsyncBytes, 512},
          {C::SharedAsyncWavefronts, 4},
          {C::L2ReadSectors, 16}}},
        {INIT
         "  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 512;\n"
         "  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
         "bytes [%r1], [%d0], 512, [%r20];\n" WAIT,
         {{C::BulkLoadBytes, 512},
          {C::L2ReadSectors, 16},
          {C::MbarrierOperations, 2}}},
        {"fence.proxy.async;\n"
         "  @%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], "
         "256;\n  cp.async.bulk.commit_group;\n"
         "  cp.async.bulk.wait_group 0;",
         {{C::BulkStoreBytes, 256}, {C::L2WriteSectors, 8}}},
        {"fence.proxy.async;\n"
         "  @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
         "[%d1], [%r1], 256;\n  cp.async.bulk.commit_group;\n"
         "  cp.async.bulk.wait_group 0;",
         {{C::BulkStoreBytes, 256}, {C::L2ReductionSectors, 8}}},
        // From byte 16 on: 17 sectors.
        {"@%p0 cp.async.bulk.prefetch.L2.global [%d0+16], 512;",
         {{C::PrefetchRequests, 1}, {C::L2PrefetchSectors, 17}}}}},
      {"mbarrier",
       {{INIT "  @%p0 mbarrier.arrive.shared.b64 %d4, [%r20];\n" WAIT
              "  bar.sync 0;\n  @%p0 mbarrier.inval.shared.b64 [%r20];",
         {{C::MbarrierOperations, 3}}}}},
      {"wgmma",
       {{"mov.b64 %d4, 0x4000004000400040;\n  wgmma.fence.sync.aligned;\n"
         "  wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 "
         "{%f0,%f1,%f2,%f3}, %d4, %d4, 0, 1, 1;\n"
         "  wgmma.commit_group.sync.aligned;\n"
         "  wgmma.wait_group.sync.aligned 0;",
         {{C::WgmmaOperandBytes, 64 * 32 + 8 * 32}},
         warpgroup()}}},
      {"prefetch",
       {{"prefetch.global.L2 [%d2];",
         {{C::PrefetchRequests, 1}, {C::L2PrefetchSectors, 4}}},
        // 32 times 16 bytes: four lines.
        {"prefetch.global.L1 [%d3];",
         {{C::PrefetchRequests, 1}, {C::L2ReadSectors, 16}}},
        // No memory there.
        {"prefetch.global.L2 [16];", {{C::PrefetchRequests, 1}}},
        {"cvta.shared.u64 %d4, 1024;\n  prefetch.L2 [%d4];", {}}}},
      {"prefetchu",
       {{"prefetchu.L1 [%d2];",
         {{C::PrefetchRequests, 1}, {C::L2ReadSectors, 4}}}}},
      {"discard",
       {{"@%p0 discard.global.L2 [%d0], 128;", {{C::UncountedAccesses, 1}}}}},
      {"tensormap",
       {{"mov.u32 %r4, 0;\n  st.shared.b32 [%r2], %r4;\n  @%p0 "
         "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r1], 1;",
         {{C::SharedStoreWavefronts, 2}}},
        {"@%p0 tensormap.replace.tile.rank.global.b1024.b32 [%d0], 1;",
         {{C::GlobalStoreRequests, 1},
          {C::GlobalStoreSectors, 4},
          {C::L2WriteSectors, 4}}},
        {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic."
         "release.gpu.sync.aligned [%d0], [%r1], 128;",
         {{C::SharedLoadWavefronts, 1},
          {C::GlobalStoreRequests, 1},
          {C::GlobalStoreSectors, 4},
          {C::L2WriteSectors, 4}}}}},
  };
  return table;
}

TEST(Opcodes, EachTouchesMemoryOrDoesNot) {
  for (const char *opcode : opcodes)
    EXPECT_NE(untouching.contains(opcode), cases().contains(opcode))
        << opcode
        << ": whether it touches memory must be said in exactly one list";
}

TEST(Opcodes, WhatTheyAccessIsCounted) {
  for (const auto &[opcode, all] : cases())
    for (const Case &c : all)
      expectCounts(c);
}

// The traffic to DRAM of what is fetched before it is needed.
TEST(Opcodes, PrefetchesFillL2) {
  const Counted run("  prefetch.global.L2 [%d0];\n  ld.global.b32 %r2, [%d0];",
                    {.caches = {.l2Bytes = 1 << 20}});
  EXPECT_EQ(run[Counter::DramReadBytes], 128u);
  EXPECT_EQ(run[Counter::L2Misses], 4u);
  EXPECT_EQ(run[Counter::L2Hits], 1u);
  EXPECT_EQ(run.counts.work[0].bytesFromL2, 32u); // of the load alone
  EXPECT_EQ(run.counts.compulsoryReadBytes, 128u);
}

// A box of 2 rows of 64 bytes, of which the second lies beyond the tensor.
TEST(Opcodes, TensorPrefetch) {
  Device device;
  Collector collector({});
  device.observe({&collector});
  auto module = device.loadModule(R"(.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128]) {
  .reg .b64 %d<4>;
  .reg .b32 %r<4>;
  .reg .pred %p0;
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  mov.b64 %d0, map;
  cvta.param.u64 %d1, %d0;
  mov.u32 %r1, 0;
  mov.u32 %r2, 7;
  prefetch.tensormap [%d1];
  @%p0 cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d1, {%r1, %r2}];
  ret;
}
)",
                                  "k.ptx");
  ASSERT_TRUE(module) << module.message();
  TensorMapDesc desc;
  desc.rank = 2;
  desc.address = *device.allocate(8 * 256, "t");
  desc.dims = {256, 8}, desc.strides = {256}, desc.box = {64, 2};
  const TensorMap map = *encodeTiled(desc);
  const void *params[] = {&map};
  const Status status = device.launch(**module, (*module)->kernels()[0],
                                      {1, 1, 1}, {32, 1, 1}, 0, params);
  ASSERT_TRUE(status) << status.message();
  const EventCounts &c = collector.latest().total;
  EXPECT_EQ(c[Counter::PrefetchRequests], 1u);
  EXPECT_EQ(c[Counter::L2PrefetchSectors], 2u);
}

} // namespace
