// Each term of the formula of devices/README.md against figures worked out by
// hand with the values of h200.json.

#include "runtime/ptxsim/model/Report.h"
#include "test/Unit/ptxsim_count/Modelled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ptxsim;
using testing::Contains;
using testing::HasSubstr;

namespace {

/// A launch of `ctas` CTAs that do nothing yet; one fits on an SM.
KernelCounts launchOf(uint64_t ctas = 1) {
  KernelCounts k;
  k.kernel = "k";
  k.grid = {uint32_t(ctas), 1, 1}, k.block = {128, 1, 1};
  k.sharedBytes = 200000;
  k.launches = 1;
  k.ctas = k.ctasExecuted = ctas;
  k.cachesModelled = true;
  k.work.resize(ctas);
  return k;
}

ModelledTime timeOf(const KernelCounts &k, ModelOptions options = {}) {
  auto t = modelTime(h200(), k, options);
  EXPECT_TRUE(t) << t.message();
  return t ? *t : ModelledTime();
}

#define EXPECT_TIME(actual, expected)                                          \
  EXPECT_NEAR(actual, expected, 1e-6 * (expected))

TEST(Model, Dram) {
  KernelCounts k = launchOf();
  k.total[Counter::DramReadBytes] = 4500000000; // a second at 4500 GB/s: 1 ms
  k.total[Counter::DramWriteBytes] = 1000000000;
  // (4.5e9 + 1.24 * 1e9) / 4.5e12
  EXPECT_TIME(term(timeOf(k), "dram"), 1.2755555556e-3);
}

TEST(Model, L2) {
  KernelCounts k = launchOf();
  k.total[Counter::L2ReadSectors] = 303125;  // 9.7e6 bytes: 1 us at 9700 GB/s
  k.total[Counter::L2WriteSectors] = 143750; // 4.6e6 bytes: 1 us at 4600 GB/s
  EXPECT_TIME(term(timeOf(k), "l2"), 2e-6);
}

TEST(Model, Tensor) {
  KernelCounts k = launchOf();
  // 132 / 794.5e12 s for each FLOP of one SM.
  k.work[0].tensorFlops[unsigned(TensorType::F16)] = 7945000000;
  const ModelledTime t = timeOf(k);
  EXPECT_TIME(term(t, "tensor"), 1.32e-3);
  EXPECT_EQ(t.terms[0].name, "tensor");
  k.work[0].tensorFlops[unsigned(TensorType::F16)] = 0;
  k.work[0].tensorFlops[unsigned(TensorType::Fp8)] = 14534000000;
  EXPECT_TIME(term(timeOf(k), "tensor"), 1.32e-3); // 1453.4 TFLOPS
}

TEST(Model, TensorBoundKernelsRunAtTheTensorClock) {
  KernelCounts k = launchOf();
  k.work[0].instructions = 1600000;                       // 4 per clock
  EXPECT_TIME(term(timeOf(k), "issue"), 2.0202020202e-4); // at 1980 MHz
  k.work[0].tensorFlops[unsigned(TensorType::F16)] = 7945000000;
  EXPECT_TIME(term(timeOf(k), "issue"), 2.5e-4); // at 1600 MHz
  k.work[0].tensorFlops[unsigned(TensorType::F16)] = 0;
  k.work[0].tensorFlops[unsigned(TensorType::Fp8)] = 14534000000;
  EXPECT_TIME(term(timeOf(k), "issue"), 2.7586206897e-4); // at 1450 MHz
}

TEST(Model, LanesByClass) {
  KernelCounts k = launchOf();
  auto &r = k.work[0].results;
  // A microsecond at 1980 MHz each.
  r[unsigned(OpClass::Fp32)] = 128 * 1980;
  r[unsigned(OpClass::Fp16x2)] = 256 * 1980;
  r[unsigned(OpClass::Int32)] = 64 * 1980;
  r[unsigned(OpClass::Mufu)] = 16 * 1980;
  r[unsigned(OpClass::Cvt)] = 64 * 1980;
  r[unsigned(OpClass::CvtFloatToHalf)] = 16 * 1980;
  r[unsigned(OpClass::Lsu)] = 32 * 1980;
  r[unsigned(OpClass::Shuffle)] = 32 * 1980;
  const ModelledTime t = timeOf(k);
  for (const char *name : {"fp32", "fp16x2", "int32", "mufu", "cvt",
                           "cvt_fp32_to_half", "lsu", "shuffle"})
    EXPECT_TIME(term(t, std::string("lane.") + name), 1e-6);
}

TEST(Model, SharedMemory) {
  KernelCounts k = launchOf();
  k.work[0].wavefronts = 1980;        // 1 us: 128 bytes per clock
  k.work[0].bulkBytes = 128 * 1980;   // 1 us
  k.work[0].operandBytes = 64 * 1980; // 0.5 us
  k.work[0].remoteBytes = 16 * 1980;
  const ModelledTime t = timeOf(k);
  EXPECT_TIME(term(t, "smem"), 2.5e-6);
  EXPECT_TIME(term(t, "remote"), 1e-6);
}

TEST(Model, PortAndBytesInFlight) {
  KernelCounts k = launchOf();
  k.work[0].bytesFromL2 = 6400000;
  k.work[0].inFlight = 64000;
  k.total[Counter::L2ReadSectors] = 100;
  k.total[Counter::DramReadBytes] = 3200;
  // 6.4e6 / (64 * 1980e6); 100 times 345 ns.
  EXPECT_TIME(term(timeOf(k), "port"), 5.0505050505e-5);
  EXPECT_TIME(term(timeOf(k), "inflight"), 3.45e-5);
  // Half of them hits: (345 + 141.919192) / 2 ns.
  k.total[Counter::L2ReadSectors] = 200;
  EXPECT_TIME(term(timeOf(k), "inflight"), 2.43459596e-5);
  // All of them by bulk copies: 105 / 1755e6 = 59.829060 ns more.
  k.work[0].bulkBytesFromL2 = 6400000;
  EXPECT_TIME(term(timeOf(k), "inflight"), 3.03288656e-5);
}

TEST(Model, FillAndDrain) {
  KernelCounts k = launchOf();
  ModelledTime t = timeOf(k);
  EXPECT_TIME(t.fill, 345e-9);
  EXPECT_TIME(t.drain, 141.91919192e-9); // 281 clocks at 1980 MHz
  EXPECT_TIME(t.kernel, 486.91919192e-9);
  k.total[Counter::BulkLoadBytes] = k.total[Counter::BulkStoreBytes] = 16;
  t = timeOf(k);
  EXPECT_TIME(t.fill, 404.82905983e-9);
  EXPECT_TIME(t.drain, 201.74825175e-9);
}

TEST(Model, Serial) {
  const ModelledTime t =
      timeOf(launchOf(), {.gridBarriers = 3, .roundTrips = 2});
  // 3 * 1.1 us, and two trips to DRAM.
  EXPECT_TIME(t.serial, 3.99e-6);
}

TEST(Model, WavesMakeTheBusiestSm) {
  KernelCounts k = launchOf(133);
  for (CtaWork &w : k.work)
    w.instructions = 4 * 1980; // 1 us
  ModelledTime t = timeOf(k);
  EXPECT_TIME(term(t, "issue"), 2e-6);
  EXPECT_TIME(t.waves, 133 / 132.);
  EXPECT_TIME(t.fill, 2 * 345e-9); // once per wave, with one CTA per SM
  k.sharedBytes = 100000;          // two of them fit
  t = timeOf(k);
  EXPECT_TIME(term(t, "issue"), 2e-6);
  EXPECT_TIME(t.waves, 133 / 264.);
  EXPECT_TIME(t.fill, 345e-9);
}

TEST(Model, Occupancy) {
  KernelCounts k = launchOf();
  k.sharedBytes = 49152; // 233472 / (49152 + 1024) = 4.65
  EXPECT_EQ(timeOf(k).occupancy.ctas, 4u);
  EXPECT_STREQ(timeOf(k).occupancy.limit, "shared memory");
  k.sharedBytes = 0, k.block = {256, 1, 1};
  EXPECT_EQ(timeOf(k).occupancy.ctas, 8u); // 2048 threads
  // 168 registers: 5376 of a warp, 43008 of eight; 65536 holds one.
  EXPECT_EQ(timeOf(k, {.registers = 168}).occupancy.ctas, 1u);
  EXPECT_STREQ(timeOf(k, {.registers = 168}).occupancy.limit, "registers");
  k.block = {32, 1, 1};
  EXPECT_EQ(timeOf(k).occupancy.ctas, 32u);
  k.sharedBytes = 240000;
  EXPECT_EQ(modelTime(h200(), k).message(),
            "kernel 'k': not one CTA fits on an SM of " + h200().file +
                ": too many shared memory");
}

TEST(Model, Clusters) {
  KernelCounts k = launchOf(128);
  k.cluster = {8, 1, 1};
  for (CtaWork &w : k.work)
    w.instructions = 4 * 1980;
  // 16 clusters of 8, of which 15 fit at once: one SM takes two CTAs.
  const ModelledTime t = timeOf(k);
  EXPECT_TIME(term(t, "issue"), 2e-6);
  EXPECT_TIME(t.waves, 16 / 15.);
}

TEST(Model, Ranges) {
  KernelCounts k = launchOf();
  k.total[Counter::DramReadBytes] = 4500000000;
  const ModelledTime t = timeOf(k);
  // DRAM 4570 / 3890 GB/s, latency 288 / 421 ns; L2 219 / 281 clocks at 1980
  // / 1755 MHz.
  EXPECT_TIME(t.lower, 4.5 / 4570 + 288e-9 + 219 / 1980e6);
  EXPECT_TIME(t.upper, 4.5 / 3890 + 421e-9 + 281 / 1755e6);
}

TEST(Model, SampledFiguresAreScaled) {
  KernelCounts k = launchOf(4);
  k.ctas = 400;
  k.grid = {400, 1, 1};
  k.total[Counter::DramReadBytes] = 45000000; // 100 times that: 1 ms
  const ModelledTime t = timeOf(k);
  EXPECT_TIME(term(t, "dram"), 1e-3);
  EXPECT_THAT(t.assumed,
              Contains("4 of 400 CTAs executed, figures scaled by 100"));
}

// A CTA that was not executed counts as the nearest one that was.
TEST(Model, SampledCtasStandForTheirNeighbours) {
  KernelCounts k = launchOf(4);
  k.ctas = 132;
  k.grid = {132, 1, 1};
  const uint64_t numbers[] = {0, 1, 130, 131};
  for (int i = 0; i < 4; ++i)
    k.work[i].number = numbers[i], k.work[i].instructions = 4 * 1980;
  k.work[2].instructions *= 7;
  EXPECT_TIME(term(timeOf(k), "issue"), 7e-6);
  // With half of the CTAs, as many as stand for themselves: 66 to 131.
  k.ctas = 264, k.grid = {264, 1, 1};
  k.work[2].number = 200, k.work[3].number = 263;
  k.work[1].instructions = 4 * 1980 * 3;
  // One wave of 132 CTAs of which 100 take 3 us and the others 7, then the
  // next.
  const ModelledTime t = timeOf(k);
  EXPECT_TIME(term(t, "issue"), 10e-6);
  EXPECT_EQ(t.byteBound, 0);
  EXPECT_THAT(
      t.notModelled,
      Contains("byte bound: what all CTAs must move is not known from a "
               "sample"));
}

TEST(Model, NullIsNotModelled) {
  KernelCounts k = launchOf();
  k.work[0].tensorFlops[unsigned(TensorType::Int8)] = 1000;
  k.total[Counter::Atomics] = 5;
  const ModelledTime t = timeOf(k);
  EXPECT_EQ(term(t, "tensor"), 0);
  EXPECT_THAT(t.notModelled,
              Contains("tensor FLOP whose rate tensor.int8.sustained is null: "
                       "1000"));
  EXPECT_THAT(t.notModelled,
              Contains("atomics in L2 beyond their bytes, operations: 5"));
}

TEST(Model, EveryTimeIsLabelled) {
  KernelCounts k = launchOf(133);
  k.total[Counter::DramReadBytes] = 45000000;
  k.total[Counter::L2ReadSectors] = 1406250;
  k.total[Counter::Reductions] = 7;
  k.compulsoryReadBytes = 45000000;
  KernelReport report{k, timeOf(k), h200().name, "h200.json"};
  const std::string text = modelledText(report);
  EXPECT_THAT(text, HasSubstr("modelled time of kernel k: "));
  EXPECT_THAT(text, HasSubstr("on NVIDIA H200 SXM5 141GB (h200.json)"));
  EXPECT_THAT(text, HasSubstr("modelled bound: dram 10 us; second: l2 4.639 us "
                              "(46 % of it)"));
  EXPECT_THAT(text, HasSubstr("waves 1.01 (1 CTAs per SM, limited by shared "
                              "memory)"));
  EXPECT_THAT(text, HasSubstr("not modelled: atomics in L2"));
  EXPECT_THAT(text, HasSubstr("assumed: instructions are those of PTX"));
  EXPECT_THAT(text, HasSubstr("modelled time / byte bound: "));
  const std::string json = reportJson({&report, 1});
  EXPECT_THAT(json, HasSubstr("\"label\": \"modelled\""));
  EXPECT_THAT(json, HasSubstr("\"bound\": \"dram\""));
  EXPECT_THAT(json, HasSubstr("\"second_bound\": \"l2\""));
}

} // namespace
