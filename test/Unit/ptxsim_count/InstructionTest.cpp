#include "runtime/ptxsim/counting/Timeline.h"
#include "test/Unit/ptxsim_count/Counted.h"

using namespace counted;

namespace {

TEST(Instructions, WarpsAndThreads) {
  const Counted run(R"(
  setp.lt.u32 %p0, %r0, 40;
  @%p0 add.u32 %r2, %r0, 1;
  add.u32 %r3, %r0, 1;)",
                    {.threads = 64});
  // Two warps; the guard is true in 32 lanes of the first and 8 of the second.
  EXPECT_EQ(run[Counter::Instructions], 2 * (prologue + 3));
  EXPECT_EQ(run[Counter::ThreadInstructions], 64 * (prologue + 2) + 40);
  EXPECT_EQ(run.plain.warpInstructions, run[Counter::Instructions]);
  EXPECT_DOUBLE_EQ(run.counts.total.activeLanes(), (64. * 7 + 40) / 16);
}

TEST(Instructions, PerLine) {
  const Counted run("  add.u32 %r2, %r0, 1;\n  mul.f32 %f0, %f1, %f2;");
  // The body begins in line 15 of the text.
  ASSERT_EQ(run.counts.lines.size(), prologue + 2);
  EXPECT_EQ(run.counts.lines[4].line, 15u);
  EXPECT_EQ(run.counts.lines[4].form, "add.u32");
  EXPECT_EQ(run.counts.lines[5].line, 16u);
  EXPECT_EQ(run.counts.lines[5].counts[Counter::Instructions], 1u);
}

TEST(Instructions, GuardThatIsNeverTrueCounts) {
  const Counted run("  setp.gt.u32 %p0, %r0, 99;\n  @%p0 add.u32 %r2, %r0, 1;");
  EXPECT_EQ(run[Counter::Instructions], prologue + 2);
  EXPECT_EQ(run[Counter::ThreadInstructions], 32 * (prologue + 1));
}

uint64_t results(const Counted &run, OpClass c) {
  return run.counts.total.results[unsigned(c)];
}
uint64_t instructions(const Counted &run, OpClass c) {
  return run.counts.total.instructions[unsigned(c)];
}

TEST(Instructions, Classes) {
  const Counted run(R"(
  fma.rn.f32 %f0, %f1, %f2, %f3;
  add.f32 %f0, %f1, %f2;
  max.f32 %f0, %f1, %f2;
  fma.rn.f16x2 %r2, %r3, %r4, %r5;
  mul.bf16x2 %r2, %r3, %r4;
  add.u32 %r2, %r0, 1;
  add.u64 %d2, %d3, 1;
  ex2.approx.f32 %f0, %f1;
  tanh.approx.f32 %f0, %f1;
  cvt.rn.f32.s32 %f0, %r0;
  cvt.rn.bf16x2.f32 %r2, %f0, %f1;
  cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;
  shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1;
  mov.u32 %r2, %r3;)");
  EXPECT_EQ(results(run, OpClass::Fp32), 2 * 32u);
  EXPECT_EQ(results(run, OpClass::Fp16x2), 2 * 64u);
  // max.f32, add.u32, and two 32-bit halves of add.u64.
  EXPECT_EQ(results(run, OpClass::Int32), 4 * 32u);
  EXPECT_EQ(instructions(run, OpClass::Int32), 3u);
  EXPECT_EQ(results(run, OpClass::Mufu), 2 * 32u);
  EXPECT_EQ(results(run, OpClass::Cvt), 32u + 64u);
  EXPECT_EQ(results(run, OpClass::CvtFloatToHalf), 64u);
  EXPECT_EQ(results(run, OpClass::Shuffle), 32u);
  EXPECT_EQ(instructions(run, OpClass::Move), 5u); // four of the prologue
  EXPECT_EQ(instructions(run, OpClass::Control), 1u);
}

TEST(Instructions, Branches) {
  const Counted run(R"(
  setp.lt.u32 %p0, %r0, 16;
  @%p0 bra THEN;
  add.u32 %r2, %r0, 1;
  bra.uni END;
THEN:
  add.u32 %r2, %r0, 2;
END:
  setp.lt.u32 %p1, %r0, 99;
  @%p1 bra LAST;
LAST:)");
  EXPECT_EQ(run[Counter::Branches], 3u);
  EXPECT_EQ(run[Counter::DivergentBranches], 1u);
}

TEST(Instructions, IndexedBranchDivergesWhereTargetsDiffer) {
  const std::string body = R"(
T: .branchtargets A, B;
  and.b32 %r2, %r0, MASK;
  brx.idx %r2, T;
A: add.u32 %r3, %r0, 1;
B: add.u32 %r3, %r0, 2;)";
  auto with = [&](const char *mask) {
    std::string text = body;
    text.replace(text.find("MASK"), 4, mask);
    return Counted(text)[Counter::DivergentBranches];
  };
  EXPECT_EQ(with("0"), 0u);
  EXPECT_EQ(with("1"), 1u);
}

// A shfl.sync whose lanes come at different times waits, and counts once more
// only because it is executed once more.
TEST(Instructions, WaitingDoesNotCount) {
  const Counted run(R"(
  setp.lt.u32 %p0, %r0, 16;
  @%p0 bra THEN;
  mov.u32 %r2, 7;
THEN:
  shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1;)");
  EXPECT_EQ(instructions(run, OpClass::Shuffle), 1u);
}

TEST(Instructions, BarriersCountWarps) {
  const Counted run("  bar.sync 0;\n  bar.sync 1;", {.threads = 96});
  EXPECT_EQ(run[Counter::Barriers], 2 * 3u);
  EXPECT_EQ(run[Counter::Instructions], 3 * (prologue + 2));
}

TEST(Instructions, TensorOpsByShape) {
  const Counted run(R"(
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, {%f4,%f5,%f6,%f7};
  mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, {%f4,%f5,%f6,%f7};
  mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, {%f4,%f5,%f6,%f7};)");
  const auto &tensor = run.counts.tensor;
  ASSERT_EQ(tensor.size(), 2u);
  EXPECT_EQ(tensor.at("mma.m16n8k16.f32.bf16.bf16.f32").flops,
            2u * 16 * 8 * 16);
  EXPECT_EQ(tensor.at("mma.m16n8k32.f32.e4m3.e4m3.f32").ops, 2u);
  EXPECT_EQ(run[Counter::TensorFlops], 2u * 16 * 8 * (16 + 2 * 32));
  EXPECT_EQ(run.plain.tensorFlops, run[Counter::TensorFlops]);
  EXPECT_EQ(run.counts.work[0].tensorFlops[unsigned(TensorType::F16)],
            2u * 16 * 8 * 16);
  EXPECT_EQ(run.counts.work[0].tensorFlops[unsigned(TensorType::Fp8)],
            2u * 16 * 8 * 64);
}

TEST(Instructions, SkippedTensorArithmeticKeepsTheAccumulator) {
  DeviceOptions options;
  options.skipTensor = true;
  const Counted run(R"(
  mov.f32 %f4, 0f40400000;
  mov.f32 %f5, 0f40400000;
  mov.f32 %f6, 0f40400000;
  mov.f32 %f7, 0f40400000;
  mov.b32 %r2, 0x3f803f80;
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r2,%r2,%r2,%r2}, {%r2,%r2}, {%f4,%f5,%f6,%f7};
  mul.wide.u32 %d2, %r0, 4;
  add.s64 %d2, %d1, %d2;
  st.global.f32 [%d2], %f0;)",
                    {.options = options});
  EXPECT_EQ(run.out[5], 0x40400000u); // 3; with the products it would be 19
  EXPECT_EQ(run[Counter::TensorFlops], 4096u);
  EXPECT_TRUE(run.counts.skippedTensor);
}

TEST(Instructions, SampledCtasAreEvenlySpaced) {
  DeviceOptions options;
  options.sampleCtas = 3;
  const Counted run(R"(
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.s64 %d2, %d1, %d2;
  mov.u32 %r3, 1;
  st.global.u32 [%d2], %r3;)",
                    {.grid = {10, 1, 1}, .options = options});
  const std::vector<uint32_t> marks(run.out.begin(), run.out.begin() + 10);
  EXPECT_THAT(marks, testing::ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 0, 1));
  EXPECT_EQ(run.counts.ctas, 10u);
  EXPECT_EQ(run.counts.ctasExecuted, 3u);
  EXPECT_EQ(run[Counter::Instructions], 3 * (prologue + 5));
  EXPECT_EQ(run.counts.work.size(), 3u);
}

TEST(Instructions, OptionsAsText) {
  DeviceOptions options;
  ASSERT_TRUE(readOptions("mode=counters,sample=12", options));
  EXPECT_TRUE(options.skipTensor);
  EXPECT_EQ(options.sampleCtas, 12u);
  EXPECT_EQ(readOptions("mode=quick", options).message(),
            "mode: expected full or counters, but got 'quick'");
  EXPECT_EQ(readOptions("sample=0", options).message(),
            "sample: expected a number of CTAs from 1, but got '0'");
}

TEST(Instructions, LargeSamplesAreRunsOfNeighbours) {
  DeviceOptions options;
  options.sampleCtas = 300;
  const std::string body = R"(
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.s64 %d2, %d1, %d2;
  mov.u32 %r3, 1;
  st.global.u32 [%d2], %r3;)";
  const Counted run(body, {.grid = {1000, 1, 1}, .options = options});
  // 132, and the 168 at the end.
  for (uint32_t i = 0; i < 1000; ++i)
    EXPECT_EQ(run.out[i], uint32_t(i < 132 || i >= 832)) << i;
  ASSERT_EQ(run.counts.work.size(), 300u);
  EXPECT_EQ(run.counts.work[131].number, 131u);
  EXPECT_EQ(run.counts.work[132].number, 832u);
  // Pairs: runs of 66 of them; the whole grid is itself.
  options.sampleCtas = 1000;
  const Counted all(
      body,
      {.grid = {1000, 1, 1}, .cluster = Dim3{2, 1, 1}, .options = options});
  for (uint32_t i = 0; i < 1000; ++i)
    EXPECT_EQ(all.out[i], 1u) << i;
}

// Tensor work by the types of A and B, whatever the form names.
TEST(Instructions, TensorTypes) {
  const std::string f8 = "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}",
                    r8 = "{%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}";
  for (const auto &[text, type, flops] :
       {std::tuple{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                   "{%f0,%f1,%f2,%f3}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, "
                   "{%f0,%f1,%f2,%f3};",
                   TensorType::F16, 2ull * 16 * 8 * 16},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
         "{%r8,%r9,%r10,%r11}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, "
         "{%r8,%r9,%r10,%r11};",
         TensorType::Int8, 2ull * 16 * 8 * 32},
        // A product of 8 x 8 x 4 for each quarter of the warp.
        {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 "
         "{%r8,%r9,%r10,%r11}, {%r2,%r3}, {%r6,%r7}, {%r8,%r9,%r10,%r11};",
         TensorType::F16, 4 * 2ull * 8 * 8 * 4},
        {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r8,%r9}, {%r2}, "
         "{%r6}, {%r8,%r9};",
         TensorType::None, 2ull * 8 * 8 * 32},
        {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r8,%r9}, "
         "{%r2}, {%r6}, {%r8,%r9};",
         TensorType::None, 2ull * 8 * 8 * 32}}) {
    const Counted run(std::string("  ") + text);
    EXPECT_EQ(run[Counter::TensorFlops], flops) << text;
    EXPECT_EQ(run.counts.work[0].tensorFlops[unsigned(type)], flops) << text;
    EXPECT_EQ(run.plain.tensorFlops, flops) << text;
  }
  const Counted half("  wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " + f8 +
                     ", " + r8 + ", " + r8 + ", " + f8 + ";");
  EXPECT_EQ(half.counts.work[0].tensorFlops[unsigned(TensorType::F16)],
            2u * 16 * 16 * 16);
}

TEST(Instructions, SamplesAreWholeClusters) {
  DeviceOptions options;
  options.sampleCtas = 3; // two clusters of two
  const Counted run(
      "  mov.u32 %r2, %ctaid.x;\n  mul.wide.u32 %d2, %r2, 4;\n"
      "  add.s64 %d2, %d1, %d2;\n  mov.u32 %r3, 1;\n"
      "  st.global.u32 [%d2], %r3;",
      {.grid = {8, 1, 1}, .cluster = Dim3{2, 1, 1}, .options = options});
  const std::vector<uint32_t> marks(run.out.begin(), run.out.begin() + 8);
  EXPECT_THAT(marks, testing::ElementsAre(1, 1, 0, 0, 0, 0, 1, 1));
  EXPECT_EQ(run.counts.ctasExecuted, 4u);
}

// Observers see an access before its checks: addresses may be anything.
TEST(Instructions, FaultsUnderObservers) {
  for (const char *body :
       {"  mov.u64 %d2, 0;\n  ld.global.v4.b32 {%r2,%r3,%r4,%r5}, [%d2];",
        "  mov.u64 %d2, -8;\n  st.global.b64 [%d2], %d2;",
        "  mov.u64 %d2, -8;\n  ld.b64 %d3, [%d2];",
        "  mov.u32 %r2, -16;\n  st.shared.b32 [%r2], %r2;",
        "  mov.u32 %r2, -16;\n  ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
        "{%r3,%r4,%r5,%r6}, [%r2];",
        "  mov.u64 %d2, -8;\n  atom.global.add.u64 %d3, [%d2], 1;",
        "  mov.u64 %d2, -16;\n  cp.async.cg.shared.global [%r1], [%d2], 16;",
        "  mov.u32 %r2, -64;\n  mbarrier.try_wait.parity.shared.b64 %p0, "
        "[%r2], "
        "0;",
        "  mov.u32 %r2, 999;\n  bar.sync %r2;"}) {
    Device device;
    Collector collector({.l2Bytes = 1 << 20, .l1AndSharedBytes = 1 << 18});
    Timeline timeline;
    device.observe({&collector, &timeline});
    auto module = device.loadModule(kernel(body), "k.ptx");
    ASSERT_TRUE(module) << module.message();
    const uint64_t in = *device.allocate(4096, "in");
    const void *params[] = {&in, &in};
    for (int i = 0; i < 2; ++i)
      EXPECT_FALSE(device.launch(**module, (*module)->kernels()[0], {2, 1, 1},
                                 {64, 1, 1}, 0, params))
          << body;
    EXPECT_EQ(collector.latest().kernel, "k");
    EXPECT_FALSE(timeline.json().empty());
  }
}

TEST(Instructions, LaunchesAddUp) {
  const std::string body = R"(
  setp.ge.u32 %p0, %r0, 32;
  @!%p0 bra END;
  fma.rn.f32 %f0, %f1, %f2, %f3;
END:)";
  const Counted small(body), large(body, {.threads = 64});
  ASSERT_EQ(small.counts.lines.size() + 1, large.counts.lines.size());
  KernelCounts sum;
  sum.add(small.counts);
  sum.add(large.counts);
  EXPECT_EQ(sum.launches, 2u);
  EXPECT_EQ(sum.ctas, 2u);
  EXPECT_EQ(sum.total[Counter::Instructions],
            small[Counter::Instructions] + large[Counter::Instructions]);
  ASSERT_EQ(sum.lines.size(), large.counts.lines.size());
  for (size_t i = 0; i < sum.lines.size(); ++i) {
    EXPECT_EQ(sum.lines[i].line, large.counts.lines[i].line);
    // One warp, then two; only the second executes the fma.
    EXPECT_EQ(sum.lines[i].counts[Counter::Instructions],
              sum.lines[i].form == "fma.rn.f32" ? 1u : 3u);
  }
}

// All CTAs of a cooperative launch are under way at once; each keeps its own
// figures.
TEST(Instructions, CooperativeLaunch) {
  Device device;
  Collector collector({});
  device.observe({&collector});
  auto module = device.loadModule(kernel(R"(
  mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p0, %r2, 2;
  @%p0 bra LAST;
  bar.sync 0;
  bra END;
LAST:
  fma.rn.f32 %f0, %f1, %f2, %f3;
END:)"),
                                  "k.ptx");
  ASSERT_TRUE(module) << module.message();
  const uint64_t in = *device.allocate(4096, "in");
  const void *params[] = {&in, &in};
  const Status status =
      device.launch(**module, (*module)->kernels()[0], {3, 1, 1}, {64, 1, 1}, 0,
                    params, nullptr, std::nullopt, true);
  ASSERT_TRUE(status) << status.message();
  const std::vector<CtaWork> &work = collector.latest().work;
  ASSERT_EQ(work.size(), 3u);
  EXPECT_EQ(work[0].instructions, 2 * (prologue + 5));
  EXPECT_EQ(work[1].results[unsigned(OpClass::Fp32)], 0u);
  EXPECT_EQ(work[2].instructions, 2 * (prologue + 4));
  EXPECT_EQ(work[2].results[unsigned(OpClass::Fp32)], 64u);
}

} // namespace
