// wgmma.mma_async against a naive product. Where elements lie in shared memory
// and in registers is written down here a second time: the canonical layouts as
// nested shapes and strides, the fragments as the ISA's figures have them.

#include "test/Unit/ptxsim_hopper/Kernel.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

using namespace hopper;

namespace {

struct Element {
  const char *name;
  uint32_t bytes;
  int least, most; ///< integers that the format holds exactly
  uint32_t (*encode)(int);
};

uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }
/// Small integers in a float format of e exponent bits (by bias) and m mantissa
/// bits.
uint32_t narrow(int v, int bias, int m) {
  if (v == 0)
    return 0;
  int exponent = 0;
  float fraction = std::frexp(float(std::abs(v)), &exponent); // in [0.5, 1)
  const uint32_t mantissa = uint32_t(std::ldexp(fraction * 2 - 1, m));
  const int e = bias == 7 ? 4 : 5;
  return uint32_t(v < 0) << (e + m) | uint32_t(exponent - 1 + bias) << m |
         mantissa;
}
const Element bf16{"bf16", 2, -9, 9,
                   [](int v) { return bits(float(v)) >> 16; }},
    f16{"f16", 2, -9, 9, [](int v) { return narrow(v, 15, 10); }},
    tf32{"tf32", 4, -9, 9, [](int v) { return bits(float(v)); }},
    e4m3{"e4m3", 1, -8, 8, [](int v) { return narrow(v, 7, 3); }},
    e5m2{"e5m2", 1, -4, 4, [](int v) { return narrow(v, 15, 2); }},
    s8{"s8", 1, -128, 127, [](int v) { return uint32_t(v) & 0xff; }},
    u8{"u8", 1, 0, 255, [](int v) { return uint32_t(v); }};

/// A coordinate in a nested shape: (extent, stride) from the fastest on.
uint32_t along(uint32_t x, std::vector<std::pair<uint32_t, uint32_t>> modes) {
  uint32_t at = 0;
  for (auto [extent, stride] : modes) {
    at += (extent ? x % extent : x) * stride;
    x = extent ? x / extent : 0;
  }
  return at;
}

/// An operand in shared memory: its byte offsets, and the descriptor.
struct Layout {
  uint32_t start;  ///< address
  uint32_t rows;   ///< M or N
  uint32_t bytes;  ///< of an element
  uint32_t mode;   ///< 0 none, 1 32B, 2 64B, 3 128B
  bool transposed; ///< MN-major

  uint32_t span() const { return 16u << mode; }
  uint32_t k() const { return 32 / bytes; }
  // What the test chooses where the layout leaves a choice.
  uint32_t stride() const {
    if (!transposed)
      return 8 * span();
    return mode ? 8 * span() : 256;
  }
  uint32_t leading() const {
    if (!transposed)
      return mode ? 16 : 128 * (rows / 8) + 16;
    return mode ? 16 * span() : 128;
  }
  uint32_t address(uint32_t r, uint32_t x) const {
    const uint32_t T = 16 / bytes, e = bytes;
    uint32_t at;
    if (!transposed)
      at = mode == 0 ? along(r, {{8, 16}, {0, stride()}}) +
                           along(x, {{T, e}, {0, leading()}})
                     : along(r, {{8, span()}, {0, stride()}}) +
                           along(x, {{T, e}, {0, 16}});
    else
      at = mode == 0 ? along(r, {{T, e}, {0, stride()}}) +
                           along(x, {{8, 16}, {0, leading()}})
                     : along(r, {{T, e}, {span() / 16, 16}, {0, leading()}}) +
                           along(x, {{8, span()}, {0, stride()}});
    uint32_t a = start + at;
    // The pattern repeats from where it starts, which a base offset tells if it
    // is not a multiple of its length.
    const uint32_t inPattern = a - (start & 896);
    for (uint32_t bit = 0; bit < mode; ++bit)
      a ^= (inPattern >> (7 + bit) & 1) << (4 + bit);
    return a;
  }
  uint64_t descriptor() const {
    const uint64_t codes[] = {0, 3, 2, 1};
    return uint64_t(start >> 4) | uint64_t(leading() >> 4) << 16 |
           uint64_t(stride() >> 4) << 32 | uint64_t(start >> 7 & 7) << 49 |
           codes[mode] << 62;
  }
};

struct Case {
  const Element &a, &b;
  const char *accumulator; ///< f32, f16 or s32
  uint32_t n;
  uint32_t modeA = 3, modeB = 3;
  bool transA = false, transB = false, registersA = false;
  int scaleA = 1, scaleB = 1;
  bool accumulate = true;
  bool saturate = false;
  uint32_t baseA = 0, baseB = 0; ///< where the operands start, in 128 bytes
};

std::string list(const std::string &prefix, uint32_t n) {
  std::string text = "{";
  for (uint32_t i = 0; i < n; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}

void check(const Case &c, ptxsim::DeviceOptions options = {}) {
  const std::string type = c.accumulator;
  const bool integer = type == "s32", half = type == "f16";
  const uint32_t k = 32 / c.a.bytes, registers = half ? c.n / 4 : c.n / 2;
  const bool sixteen = c.a.bytes == 2;
  std::mt19937 random(c.n + c.modeA + 8 * c.modeB);
  auto pick = [&](const Element &e) {
    return std::uniform_int_distribution<int>(e.least, e.most)(random);
  };
  std::vector<int> A(64 * k), B(c.n * k), C(64 * c.n);
  for (int &v : A)
    v = pick(c.a);
  for (int &v : B)
    v = pick(c.b);
  for (int &v : C)
    v = int(random() % 64) - 32;
  if (c.saturate)
    C[0] = INT32_MAX - 1, C[1] = INT32_MIN + 1;
  const Layout la{1024 + 128 * c.baseA, 64, c.a.bytes, c.modeA, c.transA},
      lb{1024 + 32768 + 128 * c.baseB, c.n, c.b.bytes, c.modeB, c.transB};
  std::vector<uint32_t> image(16384);
  auto *raw = reinterpret_cast<uint8_t *>(image.data()) - 1024;
  for (uint32_t x = 0; x < k; ++x) {
    for (uint32_t r = 0; r < 64; ++r) {
      uint32_t v = c.a.encode(A[r * k + x]);
      std::memcpy(raw + la.address(r, x), &v, c.a.bytes);
    }
    for (uint32_t r = 0; r < c.n; ++r) {
      uint32_t v = c.b.encode(B[r * k + x]);
      std::memcpy(raw + lb.address(r, x), &v, c.b.bytes);
    }
  }
  // Thread t of warp w, g = lane / 4, q = lane % 4: register i of D, of A.
  std::vector<uint32_t> in(128 * (registers + 4));
  auto eachD = [&](auto f) { // f(thread, register, half, row, column)
    for (uint32_t t = 0; t < 128; ++t)
      for (uint32_t i = 0; i < c.n / 2; ++i) {
        const uint32_t row = t / 32 * 16 + t % 32 / 4 + (i / 2 % 2) * 8,
                       column = i / 4 * 8 + t % 4 * 2 + i % 2;
        f(t, half ? i / 2 : i, half ? i % 2 : 0, row, column);
      }
  };
  eachD([&](uint32_t t, uint32_t i, uint32_t h, uint32_t row, uint32_t column) {
    const int v = C[row * c.n + column];
    uint32_t &word = in[t * (registers + 4) + i];
    if (half)
      word |= narrow(v, 15, 10) << 16 * h;
    else
      word = integer ? uint32_t(v) : bits(float(v));
  });
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t i = 0; i < 4; ++i)
      for (uint32_t e = 0; e < 4 / c.a.bytes; ++e) {
        const uint32_t row = t / 32 * 16 + t % 32 / 4 + i % 2 * 8,
                       x = (t % 4 * 4 + i / 2 * 16) / c.a.bytes + e;
        in[t * (registers + 4) + registers + i] |= c.a.encode(A[row * k + x])
                                                   << 8 * c.a.bytes * e;
      }
  std::string body = ".reg .b32 D<128>, A<4>;\n.reg .pred scale;\n";
  body += R"(
    mov.u32 %r5, %r0;
  L:
    mul.wide.u32 %d5, %r5, 4;
    add.u64 %d5, %d5, %d2;
    ld.global.b32 %r6, [%d5];
    mad.lo.u32 %r7, %r5, 4, %r1;
    st.shared.b32 [%r7], %r6;
    add.u32 %r5, %r5, 128;
    setp.lt.u32 %p1, %r5, 16384;
    @%p1 bra L;
    fence.proxy.async;
    bar.sync 0;
)";
  const std::string perThread = std::to_string((registers + 4) * 4);
  body += "mul.wide.u32 %d6, %r0, " + perThread + ";\nadd.u64 %d7, %d6, %d1;\n";
  body += "add.u64 %d8, %d6, %d0;\n";
  for (uint32_t i = 0; i < registers; ++i)
    body += "ld.global.b32 D" + std::to_string(i) + ", [%d7+" +
            std::to_string(i * 4) + "];\n";
  for (uint32_t i = 0; i < 4; ++i)
    body += "ld.global.b32 A" + std::to_string(i) + ", [%d7+" +
            std::to_string((registers + i) * 4) + "];\n";
  body += "mov.b64 %d10, " + std::to_string(la.descriptor()) +
          ";\nmov.b64 %d11, " + std::to_string(lb.descriptor()) + ";\n";
  body += "setp.ne.u32 scale, " + std::to_string(int(c.accumulate)) + ", 0;\n";
  body += "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n" +
          std::to_string(c.n) + "k" + std::to_string(k) +
          (c.saturate ? ".satfinite." : ".") + type + "." + c.a.name + "." +
          c.b.name + " " + list("D", registers) + ", " +
          (c.registersA ? list("A", 4) : "%d10") + ", %d11, scale";
  if (!integer)
    body += ", " + std::to_string(c.scaleA) + ", " + std::to_string(c.scaleB);
  if (sixteen) {
    if (!c.registersA)
      body += c.transA ? ", 1" : ", 0";
    body += c.transB ? ", 1" : ", 0";
  }
  body += ";\nwgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n";
  for (uint32_t i = 0; i < registers; ++i)
    body += "st.global.b32 [%d8+" + std::to_string(i * 4) + "], D" +
            std::to_string(i) + ";\n";
  Program program(kernel(body), options);
  uint64_t out = program.buffer(in, "out"), pin = program.buffer(in, "in"),
           pimage = program.buffer(image, "image");
  ASSERT_EQ(program.run(128, out, pin, pimage), "")
      << c.a.name << " n " << c.n << " modes " << c.modeA << c.modeB;
  EXPECT_EQ(program.counters.tensorFlops, 2ull * 64 * c.n * k);
  auto got = program.read<uint32_t>(out, in.size());
  eachD([&](uint32_t t, uint32_t i, uint32_t h, uint32_t row, uint32_t column) {
    int64_t sum = 0;
    for (uint32_t x = 0; x < k; ++x)
      sum += int64_t(A[row * k + x]) * B[column * k + x];
    sum *= c.scaleA * c.scaleB;
    if (c.accumulate)
      sum += C[row * c.n + column];
    if (c.saturate)
      sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    const uint32_t word = got[t * (registers + 4) + i];
    const uint32_t expected = half      ? narrow(int(sum), 15, 10)
                              : integer ? uint32_t(sum)
                                        : bits(float(sum));
    ASSERT_EQ(half ? word >> 16 * h & 0xffff : word, expected)
        << c.a.name << " n " << c.n << " modes " << c.modeA << c.modeB << " at "
        << row << "," << column;
  });
}

TEST(Wgmma, EveryN) {
  for (uint32_t n = 8; n <= 256; n += 8)
    check({bf16, bf16, "f32", n});
}

TEST(Wgmma, Types) {
  for (uint32_t n : {16u, 96u, 256u}) {
    check({f16, f16, "f32", n});
    check({f16, f16, "f16", n});
    check({tf32, tf32, "f32", n});
    check({e4m3, e4m3, "f32", n});
    check({e4m3, e5m2, "f32", n});
    check({e5m2, e4m3, "f16", n});
    check({e5m2, e5m2, "f32", n});
    check({s8, s8, "s32", n});
    check({s8, u8, "s32", n});
    check({u8, s8, "s32", n});
    check({u8, u8, "s32", n});
  }
  Case saturated{s8, s8, "s32", 64};
  saturated.saturate = true;
  check(saturated);
}

TEST(Wgmma, LayoutsOfBothOperands) {
  for (uint32_t modeA = 0; modeA < 4; ++modeA)
    for (uint32_t modeB = 0; modeB < 4; ++modeB)
      for (int major = 0; major < 4; ++major)
        check({bf16, bf16, "f32", 128, modeA, modeB, bool(major & 1),
               bool(major & 2)});
  for (uint32_t mode = 0; mode < 3; ++mode) {
    check({e4m3, e4m3, "f32", 64, mode, mode});
    check({tf32, tf32, "f32", 64, mode, mode});
    check({s8, s8, "s32", 64, mode, mode});
  }
}

TEST(Wgmma, BaseOffsets) {
  // Matrices that start at any line of 128 bytes: the pattern of a swizzle of
  // 1024, 512 or 256 bytes then starts there.
  for (uint32_t mode = 1; mode < 4; ++mode)
    for (uint32_t base = 1; base < 8; ++base)
      for (int major = 0; major < 4; ++major) {
        Case c{bf16, bf16,     "f32",           64,
               mode, 4 - mode, bool(major & 1), bool(major & 2)};
        c.baseA = base, c.baseB = 8 - base;
        check(c);
      }
  Case c{s8, s8, "s32", 64, 3, 2};
  c.baseA = 3, c.baseB = 5;
  check(c);
}

TEST(Wgmma, AInRegisters) {
  for (const Element *e : {&bf16, &f16, &tf32, &e4m3, &e5m2})
    check({*e, *e, "f32", 72, 3, 3, false, false, true});
  check({s8, s8, "s32", 64, 3, 3, false, false, true});
  check({bf16, bf16, "f32", 64, 3, 3, false, true, true});
}

TEST(Wgmma, ScalesAndSigns) {
  check({bf16, bf16, "f32", 32, 3, 3, false, false, false, 1, 1, false});
  check({bf16, bf16, "f32", 32, 3, 3, false, false, false, -1, 1, true});
  check({e4m3, e4m3, "f32", 32, 3, 3, false, false, false, 1, -1, true});
  check({f16, f16, "f16", 32, 3, 3, false, false, false, -1, -1, true});
}

TEST(Wgmma, LazyGivesTheSame) {
  check({bf16, bf16, "f32", 128}, lazy());
  check({e4m3, e4m3, "f32", 64, 3, 3, false, false, true}, lazy());
}

/// The product of a 64 x 16 and a 16 x 8 matrix in shared memory, of which the
/// 16 bytes `hole` are missing: those of A, then those of B; both lie as cores
/// of eight rows of 16 bytes. Register `stored` of D is stored.
std::string productWithAHole(int hole, int stored,
                             ptxsim::DeviceOptions options = {}) {
  const std::string body = R"(
    .reg .f32 D<4>; .reg .b64 a, b;
    mad.lo.u32 %r2, %r0, 16, %r1;
    setp.ne.u32 %p1, %r0, )" +
                           std::to_string(hole) + R"(;
    @%p1 st.shared.v4.b32 [%r2], {%r0, %r0, %r0, %r0};
    add.u32 %r3, %r0, 128;
    setp.ne.u32 %p1, %r3, )" +
                           std::to_string(hole) + R"(;
    setp.lt.and.u32 %p1, %r0, 16, %p1;
    @%p1 st.shared.v4.b32 [%r2+2048], {%r0, %r0, %r0, %r0};
    fence.proxy.async;
    bar.sync 0;
    shr.u32 %r4, %r1, 4;
    cvt.u64.u32 a, %r4;
    or.b64 a, a, 0x1000080000;
    add.u64 b, a, 128;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {D0, D1, D2, D3}, a, b, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    mul.wide.u32 %d4, %r0, 4;
    add.u64 %d4, %d4, %d0;
    st.global.f32 [%d4], D)" +
                           std::to_string(stored) + ";\n";
  return errorOf(body, 128, options);
}

TEST(Wgmma, UndefinedOperands) {
  for (const ptxsim::DeviceOptions &options :
       {ptxsim::DeviceOptions(), lazy()}) {
    for (int d = 0; d < 4; ++d)
      EXPECT_EQ(productWithAHole(-1, d, options), "");
    // Row 19 of A: row 3 of warp 1.
    for (int d : {0, 1})
      EXPECT_THAT(productWithAHole(35, d, options),
                  HasSubstr("warp 1 lane 12 (thread 44): the value is "
                            "undefined: 16 bytes at address 0x630 (offset 560) "
                            "of shared memory are read at line"));
    for (int d : {2, 3})
      EXPECT_EQ(productWithAHole(35, d, options), "");
    // Column 5 of B.
    for (int d : {1, 3})
      EXPECT_THAT(productWithAHole(128 + 5, d, options),
                  testing::AllOf(HasSubstr(" lane 2 (thread "),
                                 HasSubstr("the value is undefined: 16 bytes "
                                           "at address 0xc50")));
    for (int d : {0, 2})
      EXPECT_EQ(productWithAHole(128 + 5, d, options), "");
  }
  ptxsim::DeviceOptions unfollowed;
  unfollowed.checks.undefinedRegisters = false;
  EXPECT_THAT(productWithAHole(35, 2, unfollowed),
              HasSubstr("byte 560 was never written"));
}

/// A dot product of 4096 elements of 1.125 (e4m3 0x39); `promote`: the
/// accumulator is added to another in float every 128 elements.
double fp8Error(ptxsim::Numerics mode, bool promote) {
  ptxsim::DeviceOptions options;
  options.numerics = mode;
  std::string body = R"(
    mov.b32 %r7, 0x39393939;
    mad.lo.u32 %r6, %r0, 4, %r1;
    st.shared.b32 [%r6], %r7;
    fence.proxy.async;
    bar.sync 0;
    mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1;
    mov.f32 %f4, %f1; mov.f32 %f5, %f1;
    mov.b64 %d10, 0x0000001000080040;
    mov.b32 %r2, 0;
  LOOP:
    wgmma.fence.sync.aligned;
)";
  for (unsigned i = 0; i < 4; ++i)
    body += "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 "
            "{%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, %d10, 1, 1, 1;\n";
  body += "wgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n";
  if (promote)
    body += "add.f32 %f5, %f5, %f1; mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1;"
            "mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n";
  body += "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 32; @%p1 bra LOOP;\n"
          "add.f32 %f5, %f5, %f1; setp.eq.u32 %p2, %r0, 0;\n"
          "@%p2 st.global.f32 [%d0], %f5;";
  const std::vector<uint32_t> out = outputOf(body, 128, 1, {}, options);
  const float sum = out.empty() ? 0 : std::bit_cast<float>(out[0]);
  return std::fabs(sum / (4096 * 1.265625) - 1);
}

TEST(Wgmma, MissingTwoLevelAccumulationOfFp8Shows) {
  using enum ptxsim::Numerics;
  EXPECT_EQ(fp8Error(Exact32, false), 0.0);
  EXPECT_EQ(fp8Error(Exact32, true), 0.0);
  EXPECT_GT(fp8Error(H100, false), 1e-3);
  EXPECT_LT(fp8Error(H100, true), 1e-4);
}

// --- faults ---

/// 128 threads whose shared memory holds zeros, a D of n = 8 in %r20.. and
/// descriptors of A and B in %d10 (128-byte swizzle).
std::string faulty(const std::string &body, uint32_t threads = 128,
                   bool fenced = true, ptxsim::DeviceOptions options = {}) {
  return errorOf(R"(
    mov.u32 %r5, %r0;
  L:
    mad.lo.u32 %r7, %r5, 4, %r1;
    st.shared.b32 [%r7], 0;
    add.u32 %r5, %r5, )" +
                     std::to_string(threads) + R"(;
    setp.lt.u32 %p1, %r5, 16384;
    @%p1 bra L;
    )" + (fenced ? "fence.proxy.async;" : "") +
                     R"(
    bar.sync 0;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    mov.b64 %d10, 0x4000004000010040;
)" + body,
                 threads, options);
}
const std::string fence = "wgmma.fence.sync.aligned;\n",
                  mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                        "{%f1, %f2, %f3, %f4}, %d10, %d10, 1, 1, 1, 0, 0;\n",
                  commit = "wgmma.commit_group.sync.aligned;\n",
                  wait = "wgmma.wait_group.sync.aligned 0;\n",
                  use = "add.f32 %f5, %f1, %f2;\n";

TEST(Wgmma, HazardsAreReported) {
  for (auto options : {ptxsim::DeviceOptions(), lazy()}) {
    auto run = [&](const std::string &body) {
      return faulty(body, 128, true, options);
    };
    EXPECT_EQ(run(fence + mma + mma + commit + wait + use), "");
    EXPECT_THAT(run(mma + commit + wait),
                HasSubstr("expected a wgmma.fence before the first"));
    EXPECT_THAT(run(fence + "mov.f32 %f2, 0f3f800000;\n" + mma + commit + wait),
                HasSubstr("register 1 of D has been accessed since the last "
                          "wgmma.fence"));
    EXPECT_THAT(run(fence + mma + commit + use + wait),
                HasSubstr("register 0 of D of the wgmma of line "));
    EXPECT_THAT(run(fence + mma + commit +
                    "wgmma.wait_group.sync.aligned 1;\n" + use + wait),
                HasSubstr("no wgmma.wait_group has covered it yet"));
    EXPECT_THAT(run(fence + mma + wait + use),
                HasSubstr("no wgmma.wait_group has covered it yet"));
  }
  EXPECT_THAT(faulty(fence + mma + commit + wait, 128, false),
              HasSubstr("no fence.proxy.async has followed its last write"));
  ptxsim::DeviceOptions off;
  off.checks.wgmmaHazards = false;
  EXPECT_EQ(faulty(mma + commit + use + wait, 128, true, off), "");
}

TEST(Wgmma, OperandsInSharedMemoryAreWritten) {
  // A and B lie at 0x400 in 64 (8) rows of 128 bytes, of which k takes 32.
  const std::string a = "st.shared.b32 [%r1+4224], %r0;\n",
                    besides = "st.shared.b32 [%r1+64], %r0;\n",
                    behind = "st.shared.b32 [%r1+8192], %r0;\n",
                    copy = "cp.async.ca.shared.global [%r1+128], [%d0], 16;\n"
                           "cp.async.wait_all;\n";
  // A wait of one warp covers its warpgroup.
  const std::string meet = "bar.sync 0;\n";
  const std::string one = "bar.sync 0;\nsetp.eq.u32 %p3, %r0, 0;\n@%p3 ";
  for (auto async :
       {ptxsim::Async::Eager, ptxsim::Async::Lazy, ptxsim::Async::Random}) {
    ptxsim::DeviceOptions options;
    options.async = async;
    options.checks.sharedRaces = false; // it would be a race, too
    auto run = [&](const std::string &body) {
      return faulty(body, 128, true, options);
    };
    const std::string text =
        "of shared memory is written while the wgmma of line ";
    EXPECT_THAT(run(fence + mma + commit + one + a + meet + wait),
                HasSubstr(text));
    EXPECT_THAT(run(fence + mma + commit + one + copy + meet + wait),
                HasSubstr(text));
    EXPECT_EQ(run(fence + mma + commit + one + behind + meet + wait), "");
    EXPECT_EQ(run(fence + mma + commit + one + besides + meet + wait), "");
    EXPECT_EQ(run(fence + mma + commit + wait + one + a), "");
  }
}

TEST(Wgmma, UndefinedAccumulators) {
  // %f10.. have not been written: that matters only if they are added to.
  const auto product = [](const std::string &scale, const std::string &d) {
    return faulty(
        "setp.ne.u32 %p1, %r0, %r0;\nsetp.eq.u32 %p2, %r0, %r0;\n" + fence +
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f10, %f11, "
        "%f12, " +
        d + "}, %d10, %d10, " + scale + ", 1, 1, 0, 0;\n" + commit + wait +
        "st.global.f32 [%d0], %f12;\n");
  };
  EXPECT_EQ(product("0", "%f13"), "");
  EXPECT_EQ(product("%p1", "%f13"), "");
  EXPECT_EQ(product("!%p2", "%f13"), "");
  const std::string text = "the value is undefined: line 37 reads %f12, which "
                           "this thread has not written";
  EXPECT_THAT(product("1", "%f13"), HasSubstr(text));
  EXPECT_THAT(product("%p2", "%f13"), HasSubstr(text));
  EXPECT_THAT(product("%p3", "%f13"),
              HasSubstr("scale-d is undefined: line 37 reads %p3"));
  // A row of A in registers reaches the rows of D that it is multiplied to.
  const auto registers = [](const std::string &a, const std::string &d) {
    return faulty("mov.b32 %r20, 0;\n" + fence +
                  "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f10, "
                  "%f11, %f12, %f13}, {" +
                  a + "}, %d10, 0, 1, 1, 0;\n" + commit + wait +
                  "st.global.f32 [%d0], " + d + ";\n");
  };
  EXPECT_EQ(registers("%r20, %r20, %r20, %r20", "%f10"), "");
  EXPECT_EQ(registers("%r20, %r21, %r20, %r21", "%f10"), "");
  EXPECT_THAT(registers("%r20, %r21, %r20, %r20", "%f12"),
              HasSubstr("reads %r21"));
  EXPECT_THAT(registers("%r20, %r20, %r22, %r20", "%f11"),
              HasSubstr("reads %r22"));
}

TEST(Wgmma, IllegalUseIsReported) {
  EXPECT_THAT(faulty(fence + mma, 64),
              HasSubstr("wgmma needs a warpgroup of four warps"));
  EXPECT_THAT(faulty("setp.lt.u32 %p1, %r0, 16;\n" + fence + "@%p1 " + mma),
              HasSubstr("the warp must execute this together"));
  EXPECT_THAT(faulty("setp.lt.u32 %p1, %r0, 64;\n" + fence + "@%p1 " + mma +
                     "@!%p1 " + mma + commit + wait),
              HasSubstr("the warpgroup must execute wgmma together, but warp "
                        "2 has executed that of line 37 instead"));
  // One warp is left behind at the fence, or goes to another one.
  EXPECT_THAT(faulty("setp.lt.u32 %p1, %r0, 96;\n@!%p1 exit;\n" + fence),
              HasSubstr("the warpgroup must execute wgmma.fence together, but "
                        "warp 3 has exited"));
  EXPECT_THAT(faulty("setp.lt.u32 %p1, %r0, 96;\n@!%p1 bra OTHER;\n" + fence +
                     "bra MET;\nOTHER:\n" + fence + "MET:\n"),
              HasSubstr("the warpgroup must execute wgmma.fence together, but "
                        "warp "));
  EXPECT_THAT(faulty("mov.b64 %d10, 0x4000004000014040;\n" + fence + mma),
              HasSubstr("illegal matrix descriptor 0x4000004000014040"));
  EXPECT_THAT(faulty("mov.b64 %d10, 0x0002004000010040;\n" + fence + mma),
              HasSubstr("expected a base offset of 0 without a swizzle"));
  EXPECT_THAT(faulty("mov.b64 %d10, 0x4000004000013fff;\n" + fence + mma),
              HasSubstr("the matrix descriptor leads to address"));
  EXPECT_THAT(faulty("wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 "
                     "{%f1, %f2, %f3, %f4}, %d10, %d10, 1, 1, 1, 0, 0;\n"),
              HasSubstr("unsupported form"));
}

} // namespace
