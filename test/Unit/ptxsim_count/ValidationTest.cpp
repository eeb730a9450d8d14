// Modelled times of kernels that others have measured: what a simple kernel of
// the same kind takes by the model must be at most a little less than what was
// published. With K2C_PRINT_VALIDATION=1 the table of the README is printed.

#include "runtime/ptxsim/model/Model.h"
#include "test/Unit/ptxsim_count/Modelled.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace ptxsim;

namespace {

void report(const std::string &what, double published, double modelled,
            const ModelledTime &time) {
  if (std::getenv("K2C_PRINT_VALIDATION"))
    fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {} |\n", what,
               published * 1e6, modelled * 1e6, published / modelled,
               time.terms[0].name);
}

// y = A x in fp16: a warp per row, 16 bytes per lane and step, four warps.
const char gemv[] = R"(.version 8.4
.target sm_90a
.address_size 64
.visible .entry gemv(.param .u64 A, .param .u64 x, .param .u64 y, .param .u32 k) {
  .reg .pred %p<4>;
  .reg .b32 %r<40>;
  .reg .b64 %d<16>;
  ld.param.u64 %d0, [A];
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.param.u32 %r0, [k];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shr.u32 %r3, %r1, 5;
  and.b32 %r4, %r1, 31;
  mad.lo.u32 %r5, %r2, 4, %r3;
  mul.wide.u32 %d3, %r5, %r0;
  shl.b64 %d3, %d3, 1;
  add.s64 %d3, %d0, %d3;
  mul.wide.u32 %d4, %r4, 16;
  add.s64 %d3, %d3, %d4;
  add.s64 %d5, %d1, %d4;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
  mov.u32 %r8, 0;
LOOP:
  ld.global.nc.v4.b32 {%r10,%r11,%r12,%r13}, [%d3];
  ld.global.nc.v4.b32 {%r14,%r15,%r16,%r17}, [%d3+512];
  ld.global.nc.v4.b32 {%r20,%r21,%r22,%r23}, [%d5];
  ld.global.nc.v4.b32 {%r24,%r25,%r26,%r27}, [%d5+512];
  fma.rn.f16x2 %r7, %r10, %r20, %r7;
  fma.rn.f16x2 %r8, %r11, %r21, %r8;
  fma.rn.f16x2 %r7, %r12, %r22, %r7;
  fma.rn.f16x2 %r8, %r13, %r23, %r8;
  fma.rn.f16x2 %r7, %r14, %r24, %r7;
  fma.rn.f16x2 %r8, %r15, %r25, %r8;
  fma.rn.f16x2 %r7, %r16, %r26, %r7;
  fma.rn.f16x2 %r8, %r17, %r27, %r8;
  add.s64 %d3, %d3, 1024;
  add.s64 %d5, %d5, 1024;
  add.u32 %r6, %r6, 512;
  setp.lt.u32 %p0, %r6, %r0;
  @%p0 bra LOOP;
  add.rn.f16x2 %r7, %r7, %r8;
  setp.eq.u32 %p1, %r4, 0;
  mul.wide.u32 %d6, %r5, 4;
  add.s64 %d6, %d2, %d6;
  @%p1 st.global.b32 [%d6], %r7;
  ret;
}
)";

TEST(Validation, Fp16GemvOnH200) {
  // TB/s of a tuned kernel: tile-ai/TileOPs, pull request 243.
  struct Published {
    uint32_t n, k;
    double rate;
  };
  for (const Published &p : {Published{7168, 16384, 3.47e12},
                             {18432, 7168, 3.80e12},
                             {28672, 8192, 4.02e12},
                             {57344, 7168, 4.26e12}}) {
    DeviceOptions options;
    options.sampleCtas = 64;
    Device device(options);
    Collector collector(h200().cacheSizes());
    device.observe({&collector});
    auto module = device.loadModule(gemv, "gemv.ptx");
    ASSERT_TRUE(module) << module.message();
    const uint64_t bytes = uint64_t(p.n) * p.k * 2;
    // Pages that no CTA reads cost nothing.
    const uint64_t a = *device.allocate(bytes, "A"),
                   x = *device.allocate(p.k * 2, "x"),
                   y = *device.allocate(p.n * 4, "y");
    const void *params[] = {&a, &x, &y, &p.k};
    const Status status =
        device.launch(**module, (*module)->kernels()[0], {p.n / 4, 1, 1},
                      {128, 1, 1}, 0, params);
    ASSERT_TRUE(status) << status.message();
    auto time = modelTime(h200(), collector.latest(), {.registers = 40});
    ASSERT_TRUE(time) << time.message();
    // The matrix is read once.
    const double read =
        double(collector.latest().total[Counter::DramReadBytes]) * (p.n / 4) /
        64;
    EXPECT_NEAR(read / double(bytes), 1, 0.05);
    EXPECT_EQ(time->terms[0].name, "dram");
    const double published = double(bytes) / p.rate,
                 modelled = time->kernel + *time->gapGraph;
    EXPECT_GT(published / modelled, 1.0);
    EXPECT_LT(published / modelled, 1.3);
    report(fmt::format("fp16 GEMV {} x {}, H200", p.n, p.k), published,
           modelled, *time);
  }
}

// a[i] = b[i] * 0.25 in double, 256 threads, then back, in a graph.
const char scale[] = R"(.version 8.4
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 a, .param .u64 b, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  .reg .f64 %f<4>;
  ld.param.u64 %d0, [a];
  ld.param.u64 %d1, [b];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  setp.ge.u32 %p0, %r4, %r0;
  @%p0 ret;
  mul.wide.u32 %d2, %r4, 8;
  add.s64 %d3, %d1, %d2;
  ld.global.nc.f64 %f0, [%d3];
  mul.f64 %f1, %f0, 0d3fd0000000000000;
  add.s64 %d4, %d0, %d2;
  st.global.f64 [%d4], %f1;
  ret;
}
)";

TEST(Validation, KernelsInL2OnH200) {
  // GB/s of reads and writes: RRZE-HPC/gpu-benches, commit 1038c5d,
  // gpu-small-kernels/h200_graph.txt, column of 256 threads.
  struct Published {
    uint32_t n;
    double rate;
  };
  for (const Published &p : {Published{4096, 51e9},
                             {31432, 360e9},
                             {127236, 1258e9},
                             {515148, 3068e9},
                             {2085772, 5015e9}}) {
    Device device;
    CacheSizes sizes = h200().cacheSizes();
    sizes.keepL2 = true;
    Collector collector(sizes);
    device.observe({&collector});
    auto module = device.loadModule(scale, "scale.ptx");
    ASSERT_TRUE(module) << module.message();
    const uint64_t a = *device.allocate(uint64_t(p.n) * 8, "a"),
                   b = *device.allocate(uint64_t(p.n) * 8, "b");
    for (int i = 0; i < 2; ++i) {
      const uint64_t to = i ? b : a, from = i ? a : b;
      const void *params[] = {&to, &from, &p.n};
      const Status status =
          device.launch(**module, (*module)->kernels()[0],
                        {p.n / 256 + 1, 1, 1}, {256, 1, 1}, 0, params);
      ASSERT_TRUE(status) << status.message();
    }
    // The second one finds all in L2.
    EXPECT_EQ(collector.latest().total[Counter::DramReadBytes], 0u);
    auto time = modelTime(h200(), collector.latest(), {.registers = 16});
    ASSERT_TRUE(time) << time.message();
    const double published = double(p.n) * 16 / p.rate,
                 modelled = time->kernel + *time->gapGraph;
    // The smallest have one latency too many: fill, and bytes in flight.
    EXPECT_GT(published / modelled, 0.8);
    EXPECT_LT(published / modelled, 1.3);
    report(fmt::format("scale of {} doubles in L2, H200", p.n), published,
           modelled, *time);
  }
}

} // namespace
