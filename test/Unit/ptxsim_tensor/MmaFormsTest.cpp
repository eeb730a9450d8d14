// mma as PTX: which forms exist, and that the operands reach the product in
// the order of the ISA.

#include "Kernel.h"
#include "runtime/ptxsim/numeric/Mma.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace harness;
using namespace ptxsim;

namespace {

struct Element {
  const char *name;
  MmaElement element;
};
const Element elements[] = {
    {"f16", MmaElement::F16},   {"bf16", MmaElement::BF16},
    {"tf32", MmaElement::TF32}, {"e4m3", MmaElement::E4M3},
    {"e5m2", MmaElement::E5M2}, {"s8", MmaElement::S8},
    {"u8", MmaElement::U8}};

/// What the ISA lists for m16n8k* of these types.
bool exists(const std::string &a, const std::string &b, const std::string &d,
            unsigned k, bool satfinite) {
  auto isIn = [](const std::string &t, std::set<std::string> set) {
    return set.count(t) != 0;
  };
  if (isIn(a, {"s8", "u8"}))
    return isIn(b, {"s8", "u8"}) && d == "s32" && (k == 16 || k == 32);
  if (satfinite)
    return false;
  if (isIn(a, {"e4m3", "e5m2"}))
    return isIn(b, {"e4m3", "e5m2"}) && d != "s32" && (k == 16 || k == 32);
  if (a == "tf32")
    return b == a && d == "f32" && (k == 4 || k == 8);
  if (a == "bf16")
    return b == a && d == "f32" && (k == 8 || k == 16);
  return b == a && d != "s32" && (k == 8 || k == 16);
}

std::string list(const char *prefix, unsigned first, unsigned n) {
  std::string text = "{";
  for (unsigned i = 0; i < n; ++i)
    text += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
  return text + "}";
}

struct Instruction {
  MmaShape shape;
  std::string form;
  std::string text() const {
    unsigned c = shape.cRegisters();
    return form + " " + list("%r", 10, c) + ", " +
           list("%r", 20, shape.aRegisters()) + ", " +
           list("%r", 24, shape.bRegisters()) + ", " + list("%r", 26, c) + ";";
  }
};

template <class F> void forForms(F f) {
  for (const Element &a : elements)
    for (const Element &b : elements)
      for (const char *d : {"f32", "f16", "s32"})
        for (unsigned k : {4u, 8u, 16u, 32u})
          for (bool satfinite : {false, true}) {
            std::string type = d;
            Instruction i;
            i.shape = {a.element, b.element,
                       type == "f32"   ? MmaAccumulator::F32
                       : type == "f16" ? MmaAccumulator::F16
                       : satfinite     ? MmaAccumulator::S32Saturated
                                       : MmaAccumulator::S32,
                       k};
            i.form = "mma.sync.aligned.m16n8k" + std::to_string(k) +
                     ".row.col" + (satfinite ? ".satfinite." : ".") + type +
                     "." + a.name + "." + b.name + "." + type;
            f(i, exists(a.name, b.name, type, k, satfinite));
          }
}

TEST(MmaForms, ExactlyTheISAsFormsLoad) {
  unsigned count = 0;
  forForms([&](const Instruction &i, bool exists) {
    std::string error = loadError(i.text());
    EXPECT_EQ(error.empty(), exists) << i.form << ": " << error;
    count += exists;
  });
  // f16 4, bf16 2, tf32 2, fp8 16, integers 16.
  EXPECT_EQ(count, 40u);
}

TEST(MmaForms, OperandsComeInTheOrderDABC) {
  std::mt19937 random(1);
  forForms([&](const Instruction &i, bool exists) {
    if (!exists)
      return;
    // Registers %r20 to %r29 from memory, [register][lane].
    std::vector<uint32_t> in(10 * 32);
    for (uint32_t &v : in) // no exponent beyond f16's
      v = uint32_t(random()) & 0xbbbbbbbb;
    std::string text = "mad.wide.u32 %d1, %r0, 4, %d0;\n";
    for (unsigned r = 0; r < 10; ++r)
      text += "ld.global.b32 %r" + std::to_string(20 + r) + ", [%d1+" +
              std::to_string(128 * r) + "];\n";
    text += i.text() + "\n";
    for (unsigned r = 0; r < i.shape.cRegisters(); ++r)
      text += "st.global.b32 [%d1+" + std::to_string(1280 + 128 * r) + "], %r" +
              std::to_string(10 + r) + ";\n";
    Program kernel(warpKernel(text));
    std::vector<uint32_t> memory = in;
    memory.resize(14 * 32);
    uint64_t buffer = kernel.buffer(memory);
    kernel.launch("k", {}, {32, 1, 1}, buffer);
    ASSERT_EQ(kernel.error, "") << i.form;
    auto out = kernel.read<uint32_t>(buffer, 14 * 32);
    uint32_t expected[4][32];
    uint32_t *d[] = {expected[0], expected[1], expected[2], expected[3]};
    const uint32_t *rows[10];
    for (unsigned r = 0; r < 10; ++r)
      rows[r] = in.data() + 32 * r;
    mmaExact32(i.shape)(d, rows, rows + 4, rows + 6);
    for (unsigned r = 0; r < i.shape.cRegisters(); ++r)
      for (unsigned lane = 0; lane < 32; ++lane)
        ASSERT_EQ(out[(10 + r) * 32 + lane], expected[r][lane])
            << i.form << " register " << r << " lane " << lane;
    EXPECT_EQ(kernel.counters.tensorFlops, 2u * 16 * 8 * i.shape.k);
  });
}

TEST(MmaForms, ErrorsNameTheOperand) {
  EXPECT_NE(loadError("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                      "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r7,%r8}, "
                      "{%r1,%r2,%r3,%r4};")
                .find("expected 4 registers in operand 2, but got 2"),
            std::string::npos);
  EXPECT_NE(loadError("mma.sync.aligned.m16n8k16.col.col.f32.bf16.bf16.f32 "
                      "{%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%r7,%r8}, "
                      "{%r1,%r2,%r3,%r4};"),
            "");
  Program half(
      warpKernel("setp.lt.u32 %p1, %r0, 16;\n"
                 "@%p1 mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
                 "{%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};"));
  half.launch("k", {}, {32, 1, 1}, half.buffer(std::vector<uint32_t>(1)));
  EXPECT_NE(half.error.find("must execute this together"), std::string::npos)
      << half.error;
}

TEST(AtomicPacked, AddsHalvesPairsAndVectors) {
  // All lanes add to one place: sums of small integers are exact.
  auto run = [](const std::string &text, std::vector<uint16_t> memory) {
    Program kernel(warpKernel(text));
    uint64_t out = kernel.buffer(memory);
    kernel.launch("k", {}, {32, 1, 1}, out);
    EXPECT_EQ(kernel.error, "") << text;
    return kernel.read<uint16_t>(out, memory.size());
  };
  using V = std::vector<uint16_t>;
  // 32 * 1 + 0.5 in f16 and bf16.
  EXPECT_EQ(run("mov.b16 %h1, 0x3c00;\nred.global.add.noftz.f16 [%d0], %h1;",
                V{0x3800, 7}),
            (V{0x5010, 7}));
  EXPECT_EQ(run("mov.b16 %h1, 0x3f80;\n"
                "atom.global.add.noftz.bf16 %h2, [%d0], %h1;",
                V{0, 7}),
            (V{0x4200, 7}));
  EXPECT_EQ(run("mov.b32 %r1, 0x40003c00;\n"
                "red.relaxed.gpu.add.noftz.f16x2 [%d0], %r1;",
                V{0, 0}),
            (V{0x5000, 0x5400}));
  EXPECT_EQ(run("mov.b32 %r1, 0x3f800000;\nmov.b32 %r2, 0x40000000;\n"
                "red.global.add.noftz.v2.bf16x2 [%d0], {%r1, %r2};",
                V{0, 0, 0, 0}),
            (V{0, 0x4200, 0, 0x4280}));
  EXPECT_EQ(run("mov.f32 %f1, 0f3f800000;\nmov.f32 %f2, 0f40000000;\n"
                "red.global.gpu.relaxed.add.v2.f32 [%d0], {%f1, %f2};",
                V{0, 0, 0, 0}),
            (V{0, 0x4200, 0, 0x4280}));
  EXPECT_EQ(run("mov.b16 %h1, 0x3c00;\nmov.b16 %h2, 0xbc00;\n"
                "red.global.max.noftz.v2.f16 [%d0], {%h1, %h2};",
                V{0x3800, 0x3800}),
            (V{0x3c00, 0x3800}));
  // The old values come back: lane l sees l.
  auto old = run("mov.b16 %h1, 0x3c00;\natom.add.noftz.f16 %h2, [%d0], %h1;\n"
                 "mad.wide.u32 %d1, %r0, 2, %d0;\nst.global.b16 [%d1+2], %h2;",
                 V(33));
  EXPECT_EQ(old[1], 0);
  EXPECT_EQ(old[2], 0x3c00);
  EXPECT_EQ(old[32], 0x4fc0);
  for (const char *text :
       {"atom.add.f16 %h1, [%d1], %h2;", "atom.min.noftz.f16 %h1, [%d1], %h2;",
        "red.shared.add.noftz.v2.f16 [%r1], {%h1, %h2};",
        "red.global.add.noftz.v8.f16x2 [%d1], "
        "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8};"})
    EXPECT_NE(loadError(text), "") << text;
}

} // namespace
