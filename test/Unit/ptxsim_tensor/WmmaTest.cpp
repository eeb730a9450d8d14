// wmma: every shape, type and layout against products of small integers, which
// are exact in every format; strides, spaces, and what is refused.

#include "Kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

using namespace harness;
using namespace ptxsim;
using ::testing::HasSubstr;

namespace {

struct Type {
  const char *name;
  unsigned bytes;
};

/// The bits of a small integer in a format.
uint64_t encode(const std::string &type, int value) {
  if (type == "f64")
    return std::bit_cast<uint64_t>(double(value));
  const uint32_t f = std::bit_cast<uint32_t>(float(value));
  if (type == "f16")
    return std::bit_cast<uint16_t>(_Float16(value));
  if (type == "bf16")
    return f >> 16;
  if (type == "tf32" || type == "f32")
    return f;
  return uint32_t(value); // s8, u8, s32
}

unsigned bytesOf(const std::string &type) {
  return type == "f64"                     ? 8
         : type == "f16" || type == "bf16" ? 2
         : type == "s8" || type == "u8"    ? 1
                                           : 4;
}

struct Matrix {
  std::string type;
  unsigned rows, columns;
  bool byRows;
  unsigned stride;
  std::vector<int> values;
  size_t place(unsigned i, unsigned j) const {
    return byRows ? size_t(i) * stride + j : size_t(j) * stride + i;
  }
  size_t elements() const { return size_t(byRows ? rows : columns) * stride; }
  std::vector<uint8_t> memory() const {
    const unsigned b = bytesOf(type);
    std::vector<uint8_t> m(elements() * b, 0xee);
    for (unsigned i = 0; i < rows; ++i)
      for (unsigned j = 0; j < columns; ++j) {
        const uint64_t bits = encode(type, values[i * columns + j]);
        std::memcpy(&m[place(i, j) * b], &bits, b);
      }
    return m;
  }
};

std::string vector(const std::string &name, unsigned n) {
  std::string text = "{";
  for (unsigned i = 0; i < n; ++i)
    text += (i ? "," : "") + name + std::to_string(i);
  return text + "}";
}

struct Form {
  std::string shape;
  unsigned m, n, k;
  std::string ab, c, d;
  unsigned aRegisters, bRegisters, cRegisters, dRegisters;
};

/// Registers of a lane, from the tables of the ISA.
std::vector<Form> forms() {
  std::vector<Form> list;
  struct Shape {
    const char *name;
    unsigned m, n;
    unsigned bf16A, bf16B, s8A, s8B;
  };
  for (const Shape &s : {Shape{"m16n16k16", 16, 16, 4, 4, 2, 2},
                         Shape{"m32n8k16", 32, 8, 8, 2, 4, 1},
                         Shape{"m8n32k16", 8, 32, 2, 8, 1, 4}}) {
    for (const char *d : {"f16", "f32"})
      for (const char *c : {"f16", "f32"})
        list.push_back({s.name, s.m, s.n, 16, "f16", c, d, 8, 8,
                        c[1] == '1' ? 4u : 8u, d[1] == '1' ? 4u : 8u});
    list.push_back(
        {s.name, s.m, s.n, 16, "bf16", "f32", "f32", s.bf16A, s.bf16B, 8, 8});
    for (const char *t : {"s8", "u8"})
      list.push_back(
          {s.name, s.m, s.n, 16, t, "s32", "s32", s.s8A, s.s8B, 8, 8});
  }
  list.push_back({"m16n16k8", 16, 16, 8, "tf32", "f32", "f32", 4, 4, 8, 8});
  list.push_back({"m8n8k4", 8, 8, 4, "f64", "f64", "f64", 1, 1, 2, 2});
  return list;
}

std::string mmaName(const Form &f, const std::string &layouts) {
  std::string name = "wmma.mma.sync.aligned." + layouts + "." + f.shape;
  return name + (f.ab == "f16"
                     ? "." + f.d + "." + f.c
                     : "." + f.d + "." + f.ab + "." + f.ab + "." + f.c);
}

std::string registersOf(const std::string &type) {
  return type == "f64" ? ".f64" : type == "f32" ? ".f32" : ".b32";
}

/// One product of random matrices in memory; `tail` goes behind mma's name.
void check(const Form &f, bool aByRows, bool bByRows, bool cByRows,
           bool dByRows, const std::string &space, DeviceOptions options = {}) {
  std::mt19937 random(f.m * 3 + f.n + aByRows);
  auto matrix = [&](const std::string &type, unsigned rows, unsigned columns,
                    bool byRows) {
    Matrix m{type, rows, columns, byRows, byRows ? columns : rows, {}};
    m.stride += 32;
    for (unsigned i = 0; i < rows * columns; ++i)
      m.values.push_back(type[0] == 'u' ? int(random() % 8)
                                        : int(random() % 9) - 4);
    return m;
  };
  const Matrix a = matrix(f.ab, f.m, f.k, aByRows),
               b = matrix(f.ab, f.k, f.n, bByRows),
               c = matrix(f.c, f.m, f.n, cByRows);
  Matrix d = matrix(f.d, f.m, f.n, dByRows);
  for (unsigned i = 0; i < f.m; ++i)
    for (unsigned j = 0; j < f.n; ++j) {
      int sum = c.values[i * f.n + j];
      for (unsigned x = 0; x < f.k; ++x)
        sum += a.values[i * f.k + x] * b.values[x * f.n + j];
      d.values[i * f.n + j] = sum;
    }
  auto layout = [](bool byRows) { return byRows ? "row" : "col"; };
  auto declare = [](const char *name, const std::string &type, unsigned n) {
    return ".reg " + registersOf(type) + " " + name + "<" + std::to_string(n) +
           ">;\n";
  };
  auto load = [&](const char *which, const Matrix &m, unsigned n,
                  const std::string &address) {
    return "wmma.load." + std::string(which) + ".sync.aligned." +
           layout(m.byRows) + "." + f.shape + space + "." + m.type + " " +
           vector(which, n) + ", [" + address + "], " +
           std::to_string(m.stride) + ";\n";
  };
  const std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, "
      ".param .u64 pd) {\n.reg .b64 p<4>;\n" +
      declare("a", f.ab, f.aRegisters) + declare("b", f.ab, f.bRegisters) +
      declare("c", f.c, f.cRegisters) + declare("d", f.d, f.dRegisters) +
      "ld.param.u64 p0, [pa]; ld.param.u64 p1, [pb]; ld.param.u64 p2, [pc]; "
      "ld.param.u64 p3, [pd];\n" +
      load("a", a, f.aRegisters, "p0") + load("b", b, f.bRegisters, "p1") +
      load("c", c, f.cRegisters, "p2") +
      mmaName(f, std::string(layout(aByRows)) + "." + layout(bByRows)) + " " +
      vector("d", f.dRegisters) + ", " + vector("a", f.aRegisters) + ", " +
      vector("b", f.bRegisters) + ", " + vector("c", f.cRegisters) + ";\n" +
      "wmma.store.d.sync.aligned." + layout(dByRows) + "." + f.shape + space +
      "." + f.d + " [p3], " + vector("d", f.dRegisters) + ", " +
      std::to_string(d.stride) + ";\nret;\n}\n";
  Program program(text, options);
  std::vector<uint8_t> expected = d.memory();
  const uint64_t pa = program.buffer(a.memory()),
                 pb = program.buffer(b.memory()),
                 pc = program.buffer(c.memory());
  std::vector<uint8_t> blank(expected.size(), 0xee);
  const uint64_t pd = program.buffer(blank);
  program.launch("k", {}, {32, 1, 1}, pa, pb, pc, pd);
  ASSERT_EQ(program.error, "") << text;
  EXPECT_EQ(program.read<uint8_t>(pd, expected.size()), expected) << text;
  EXPECT_EQ(program.counters.tensorFlops, 2u * f.m * f.n * f.k);
}

TEST(Wmma, EveryShapeTypeAndLayout) {
  for (const Form &f : forms())
    for (unsigned layouts = 0; layouts < 4; ++layouts)
      check(f, layouts & 1, layouts & 2, layouts & 2, layouts & 1,
            layouts & 1 ? ".global" : "");
}

TEST(Wmma, ModesOfHardware) {
  // Small integers are exact in all of them.
  for (Numerics mode : {Numerics::H100, Numerics::A100}) {
    DeviceOptions options;
    options.numerics = mode;
    for (const Form &f : forms())
      check(f, true, false, true, true, "", options);
  }
}

TEST(Wmma, SharedMemoryAndDefaultStrides) {
  // A 16 by 8 tf32 and the identity: C + A in shared memory without strides.
  const std::string body = R"(
.reg .f32 x<8>; .reg .b32 a<4>, b<4>; .reg .f32 c<8>;
.shared .align 32 .b8 sa[512]; .shared .align 32 .b8 sb[512];
.shared .align 32 .b8 sc[1024];
// lane l writes 4 elements of A (its own number each) and of the identity
mul.lo.u32 %r1, %r0, 4;
cvt.rn.f32.u32 %f1, %r0;
mov.b32 %r9, 0;
LOOP:
add.u32 %r2, %r1, %r9;
mul.lo.u32 %r3, %r2, 4;
mov.b32 %r4, sa; add.u32 %r4, %r4, %r3; st.shared.f32 [%r4], %f1;
// B is 8 by 16 in column order: element r2 is row r2 % 8, column r2 / 8
and.b32 %r5, %r2, 7; shr.u32 %r6, %r2, 3;
setp.eq.u32 %p1, %r5, %r6; selp.f32 %f2, 0f3f800000, 0f00000000, %p1;
mov.b32 %r4, sb; add.u32 %r4, %r4, %r3; st.shared.f32 [%r4], %f2;
add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 4; @%p2 bra LOOP;
bar.sync 0;
mov.f32 c0, 0f3f000000; mov.f32 c1, c0; mov.f32 c2, c0; mov.f32 c3, c0;
mov.f32 c4, c0; mov.f32 c5, c0; mov.f32 c6, c0; mov.f32 c7, c0;
wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {a0,a1,a2,a3}, [sa];
wmma.load.b.sync.aligned.col.m16n16k8.shared::cta.tf32 {b0,b1,b2,b3}, [sb];
wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {x0,x1,x2,x3,x4,x5,x6,x7}, {a0,a1,a2,a3}, {b0,b1,b2,b3}, {c0,c1,c2,c3,c4,c5,c6,c7};
wmma.store.d.sync.aligned.row.m16n16k8.shared.f32 [sc], {x0,x1,x2,x3,x4,x5,x6,x7};
bar.sync 0;
mov.b32 %r9, 0;
OUT:
mad.lo.u32 %r2, %r9, 32, %r0; mul.lo.u32 %r3, %r2, 4;
mov.b32 %r4, sc; add.u32 %r4, %r4, %r3; ld.shared.f32 %f2, [%r4];
cvt.u64.u32 %d1, %r3; add.s64 %d1, %d1, %d0; st.global.f32 [%d1], %f2;
add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 8; @%p2 bra OUT;
)";
  Program program(warpKernel(body));
  const uint64_t out = program.buffer(std::vector<float>(256));
  program.launch("k", {}, {32, 1, 1}, out);
  ASSERT_EQ(program.error, "");
  const auto got = program.read<float>(out, 256);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j)
      EXPECT_EQ(got[i * 16 + j], 0.5f + (j < 8 ? float((i * 8 + j) / 4) : 0.0f))
          << i << " " << j;
}

/// All elements of A are `a`, of B `b` and of C `c`; an element of D.
uint32_t uniform(const std::string &mma, unsigned aRegisters,
                 unsigned bRegisters, unsigned cRegisters, unsigned dRegisters,
                 uint32_t a, uint32_t b, uint32_t c) {
  auto fill = [](const char *name, unsigned n, uint32_t value) {
    std::string text = ".reg .b32 " + std::string(name) + "<8>;\n";
    for (unsigned i = 0; i < n; ++i)
      text += "mov.b32 " + std::string(name) + std::to_string(i) + ", " +
              std::to_string(value) + ";\n";
    return text;
  };
  Program program(
      warpKernel(fill("a", aRegisters, a) + fill("b", bRegisters, b) +
                 fill("c", cRegisters, c) + ".reg .b32 x<8>;\n" + mma + " " +
                 vector("x", dRegisters) + ", " + vector("a", aRegisters) +
                 ", " + vector("b", bRegisters) + ", " +
                 vector("c", cRegisters) + ";\nst.global.b32 [%d0], x0;"));
  const uint64_t out = program.buffer(std::vector<uint32_t>(1));
  program.launch("k", {}, {32, 1, 1}, out);
  EXPECT_EQ(program.error, "");
  return program.read<uint32_t>(out, 1)[0];
}

TEST(Wmma, Saturation) {
  const std::string i8 = "wmma.mma.sync.aligned.row.col.m16n16k16.satfinite."
                         "s32.s8.s8.s32",
                    wrap = "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8."
                           "s32";
  // 16 products of 127 * 127 on top of the largest number.
  EXPECT_EQ(uniform(i8, 2, 2, 8, 8, 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff),
            0x7fffffffu);
  EXPECT_EQ(uniform(wrap, 2, 2, 8, 8, 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff),
            0x7fffffffu + 16 * 127 * 127);
  EXPECT_EQ(uniform(i8, 2, 2, 8, 8, 0x80808080, 0x7f7f7f7f, 0x80000000),
            0x80000000u);
}

TEST(Wmma, OneRoundingOfF16Accumulators) {
  // 1 + 16 * 2^-12 in f16: each product alone would be lost.
  EXPECT_EQ(uniform("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", 8, 8, 4,
                    4, 0x24002400, 0x24002400, 0x3c003c00),
            0x3c043c04u);
}

TEST(Wmma, DoublesInTheirRoundingModes) {
  // 1 + 2^-60: up it is the next number.
  for (auto [mode, expected] : {std::pair{".rn", 1.0},
                                {".rz", 1.0},
                                {".rm", 1.0},
                                {".rp", 1.0 + 0x1p-52}}) {
    Program program(
        warpKernel(std::string(".reg .f64 a, b, c<2>, x<2>; mov.f64 a, "
                               "0d3e10000000000000; mov.f64 b, a; mov.f64 c0, "
                               "0d3ff0000000000000; mov.f64 c1, c0;\n"
                               "wmma.mma.sync.aligned.row.col.m8n8k4") +
                   mode +
                   ".f64.f64.f64.f64 {x0,x1}, {a}, {b}, {c0,c1};\n"
                   "st.global.f64 [%d0], x0;"));
    const uint64_t out = program.buffer(std::vector<double>(1));
    program.launch("k", {}, {32, 1, 1}, out);
    EXPECT_EQ(program.error, "");
    // Four products, each rounded: up makes four steps.
    EXPECT_EQ(program.read<double>(out, 1)[0],
              expected == 1.0 ? 1.0 : 1.0 + 4 * 0x1p-52)
        << mode;
  }
}

TEST(Wmma, Faults) {
  const std::string load =
      "wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%r1,%r2,%r3,%r4}, "
      "[%d1], ";
  auto fault = [&](const std::string &body) {
    Program program(warpKernel(body));
    program.launch("k", {}, {32, 1, 1},
                   program.buffer(std::vector<uint16_t>(256)));
    return program.error;
  };
  EXPECT_EQ(fault("mov.b64 %d1, %d0; " + load + "16;"), "");
  EXPECT_THAT(fault("mov.b64 %d1, %d0; " + load + "24;"),
              HasSubstr("after the end of 'buffer'"));
  EXPECT_THAT(fault("add.s64 %d1, %d0, 4; " + load + "16;"),
              HasSubstr("is not 16-byte aligned"));
  EXPECT_THAT(fault("mad.wide.u32 %d1, %r0, 2, %d0; " + load + "16;"),
              HasSubstr("the lanes of the warp give different addresses"));
  EXPECT_THAT(
      fault("mov.b64 %d1, %d0; setp.lt.u32 %p1, %r0, 9; @%p1 " + load + "16;"),
      HasSubstr("must execute this together"));
}

TEST(Wmma, OtherFormsAreRefused) {
  for (const char *line :
       {"wmma.load.a.sync.aligned.row.m16n16k16.global.f32 {%r1}, [%d1];",
        "wmma.load.a.sync.aligned.row.m16n16k8.bf16 {%r1,%r2,%r3,%r4}, [%d1];",
        "wmma.load.a.sync.aligned.m16n16k16.f16 {%r1}, [%d1];",
        "wmma.load.d.sync.aligned.row.m16n16k16.f32 {%r1}, [%d1];",
        "wmma.store.c.sync.aligned.row.m16n16k16.f32 [%d1], {%r1};",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.f16.f32 {%r1}, "
        "{%r1}, {%r1}, {%r1};",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f16.bf16.bf16.f16 {%r1}, "
        "{%r1}, {%r1}, {%r1};",
        "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 {%r1}, {%r1}, "
        "{%r1}, {%r1};",
        "wmma.mma.sync.aligned.row.m16n16k16.f32.f32 {%r1}, {%r1}, {%r1}, "
        "{%r1};"})
    EXPECT_THAT(loadError(line), HasSubstr("unsupported form 'wmma.")) << line;
  EXPECT_THAT(
      loadError("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%d1];"),
      HasSubstr("expected 8 registers in operand 1, but got 1"));
}

} // namespace
