#include "test/Unit/ptxsim_count/Counted.h"

#include <fmt/format.h>

using namespace counted;

namespace {

/// Each lane's address in %d2: in + lane * stride + offset.
std::string globalAddress(unsigned stride, unsigned offset = 0) {
  return fmt::format("  mul.wide.u32 %d2, %r0, {};\n  add.s64 %d2, %d0, %d2;\n"
                     "  add.s64 %d2, %d2, {};\n",
                     stride, offset);
}
/// In %r2: smem + lane * stride.
std::string sharedAddress(unsigned stride) {
  return fmt::format("  mad.lo.u32 %r2, %r0, {}, %r1;\n", stride);
}

uint64_t loadSectors(unsigned stride, const char *type, unsigned offset = 0) {
  return Counted(globalAddress(stride, offset) + "  ld.global." + type +
                 " [%d2];")[Counter::GlobalLoadSectors];
}

TEST(Sectors, OfLoads) {
  EXPECT_EQ(loadSectors(4, "b32 %r3,"), 4u);    // 128 B
  EXPECT_EQ(loadSectors(4, "b32 %r3,", 4), 5u); // 128 B from byte 4 on
  EXPECT_EQ(loadSectors(8, "b32 %r3,"), 8u);    // every other word
  EXPECT_EQ(loadSectors(32, "b32 %r3,"), 32u);
  EXPECT_EQ(loadSectors(128, "b32 %r3,"), 32u);
  EXPECT_EQ(loadSectors(0, "b32 %r3,"), 1u);
  EXPECT_EQ(loadSectors(2, "b16 %h0,"), 2u);                    // 64 B
  EXPECT_EQ(loadSectors(8, "b64 %d3,"), 8u);                    // 256 B
  EXPECT_EQ(loadSectors(16, "v4.b32 {%r3,%r4,%r5,%r6},"), 16u); // 512 B
  EXPECT_EQ(loadSectors(16, "v4.b32 {%r3,%r4,%r5,%r6},", 16), 17u);
}

TEST(Sectors, OfStoresAndOfSomeLanes) {
  const Counted run(globalAddress(4) + R"(
  setp.lt.u32 %p0, %r0, 9;
  @%p0 st.global.b32 [%d2], %r0;)");
  // 9 words: 36 bytes.
  EXPECT_EQ(run[Counter::GlobalStoreSectors], 2u);
  EXPECT_EQ(run[Counter::GlobalStoreRequests], 1u);
  EXPECT_EQ(run[Counter::GlobalLoadRequests], 0u);
  EXPECT_EQ(run[Counter::L2WriteSectors], 2u);
}

TEST(Sectors, GenericAddressesAreSortedBySpace) {
  const Counted run(globalAddress(4) +
                    "  ld.b32 %r3, [%d2];\n"
                    "  mul.wide.u32 %d4, %r0, 4;\n  mov.u64 %d5, smem;\n"
                    "  cvta.shared.u64 %d5, %d5;\n"
                    "  add.s64 %d4, %d4, %d5;\n  ld.b32 %r4, [%d4];");
  EXPECT_EQ(run[Counter::GlobalLoadSectors], 4u);
  EXPECT_EQ(run[Counter::SharedLoadWavefronts], 1u);
}

struct Banks {
  uint64_t wavefronts, conflicts;
  bool operator==(const Banks &) const = default;
};
void PrintTo(const Banks &b, std::ostream *o) {
  *o << b.wavefronts << " wavefronts, " << b.conflicts << " conflicts";
}
Banks load(unsigned stride, const char *what) {
  const Counted run(sharedAddress(stride) + "  ld.shared." + what + " [%r2];");
  return {run[Counter::SharedLoadWavefronts],
          run[Counter::SharedLoadConflicts]};
}
Banks store(unsigned stride, const char *what) {
  const Counted run(sharedAddress(stride) + "  st.shared." + what);
  return {run[Counter::SharedStoreWavefronts],
          run[Counter::SharedStoreConflicts]};
}

TEST(BankConflicts, B32) {
  EXPECT_EQ(load(4, "b32 %r3,"), (Banks{1, 0}));
  EXPECT_EQ(load(8, "b32 %r3,"), (Banks{2, 1})); // lanes l and l + 16
  EXPECT_EQ(load(12, "b32 %r3,"),
            (Banks{1, 0})); // 3 and 32 have no factor in common
  EXPECT_EQ(load(128, "b32 %r3,"), (Banks{32, 31}));
  EXPECT_EQ(load(0, "b32 %r3,"), (Banks{1, 0})); // one word for all
  EXPECT_EQ(load(2, "b16 %h0,"), (Banks{1, 0})); // two lanes in a word
  EXPECT_EQ(store(8, "b32 [%r2], %r0;"), (Banks{2, 1}));
}

TEST(BankConflicts, B64InHalves) {
  EXPECT_EQ(load(8, "b64 %d3,"), (Banks{2, 0}));
  EXPECT_EQ(load(16, "b64 %d3,"), (Banks{4, 2})); // lanes l and l + 8
  EXPECT_EQ(load(0, "b64 %d3,"), (Banks{2, 0}));
}

TEST(BankConflicts, B128InQuarters) {
  const char *v4 = "v4.b32 {%r3,%r4,%r5,%r6},";
  EXPECT_EQ(load(16, v4), (Banks{4, 0}));
  EXPECT_EQ(load(32, v4), (Banks{8, 4})); // lanes l and l + 4
  EXPECT_EQ(load(128, v4), (Banks{32, 28}));
  EXPECT_EQ(store(32, "v4.b32 [%r2], {%r3,%r4,%r5,%r6};"), (Banks{8, 4}));
}

TEST(BankConflicts, Matrices) {
  auto matrix = [](unsigned stride) {
    const Counted run(sharedAddress(stride) +
                      "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                      "{%r3,%r4,%r5,%r6}, [%r2];");
    return Banks{run[Counter::SharedLoadWavefronts],
                 run[Counter::SharedLoadConflicts]};
  };
  EXPECT_EQ(matrix(16), (Banks{4, 0}));
  EXPECT_EQ(matrix(32), (Banks{8, 4}));    // rows r and r + 4
  EXPECT_EQ(matrix(128), (Banks{32, 28})); // all rows in the same four banks
  EXPECT_EQ(matrix(144), (Banks{4, 0}));   // padded by 16 B
  const Counted run(
      sharedAddress(128) +
      "  stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r2], {%r3,%r4};");
  EXPECT_EQ(run[Counter::SharedStoreWavefronts], 16u);
  EXPECT_EQ(run[Counter::SharedStoreConflicts], 14u);
}

TEST(BankConflicts, AtomicsAtOneAddressGoOneByOne) {
  const Counted same("  atom.shared.add.u32 %r3, [%r1], 1;"),
      apart(sharedAddress(4) + "  atom.shared.add.u32 %r3, [%r2], 1;");
  EXPECT_EQ(same[Counter::SharedAtomicWavefronts], 32u);
  EXPECT_EQ(same[Counter::SharedAtomicConflicts], 31u);
  EXPECT_EQ(same[Counter::SharedAtomics], 32u);
  EXPECT_EQ(apart[Counter::SharedAtomicWavefronts], 1u);
}

TEST(Atomics, WithAndWithoutResult) {
  const Counted used(globalAddress(4) + "  atom.global.add.u32 %r3, [%d2], 1;\n"
                                        "  add.u32 %r4, %r3, 1;"),
      dead(globalAddress(4) + "  atom.global.add.u32 %r3, [%d2], 1;"),
      sink(globalAddress(4) + "  atom.global.add.u32 _, [%d2], 1;"),
      red(globalAddress(0) + "  red.global.add.u32 [%d2], 1;");
  EXPECT_EQ(used[Counter::Atomics], 32u);
  EXPECT_EQ(used[Counter::Reductions], 0u);
  EXPECT_EQ(used[Counter::AtomicSectors], 4u);
  EXPECT_EQ(used[Counter::L2AtomicSectors], 4u);
  for (const Counted *run : {&dead, &sink}) {
    EXPECT_EQ((*run)[Counter::Atomics], 0u);
    EXPECT_EQ((*run)[Counter::Reductions], 32u);
    EXPECT_EQ((*run)[Counter::L2ReductionSectors], 4u);
  }
  EXPECT_EQ(red[Counter::AtomicConflicts], 31u);
  EXPECT_EQ(red[Counter::ReductionSectors], 1u);
}

TEST(Local, Bytes) {
  const Counted run("  .local .align 8 .b8 l[16];\n  mov.u32 %r2, l;\n"
                    "  st.local.b32 [%r2], %r0;\n  ld.local.b32 %r3, [%r2];");
  EXPECT_EQ(run[Counter::LocalBytes], 2 * 32 * 4u);
  EXPECT_EQ(run[Counter::GlobalStoreSectors], 0u);
}

} // namespace
