// mma of f64, of 4 and 1 bits, of m8n8k4 (f16) and m8n8k16 (8 bits); wmma of 4
// and 1 bits: against naive products. Where the ISA's tables put the elements
// is written down here a second time, element by element.

#include "Kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

using namespace harness;
using namespace ptxsim;

namespace {

std::string list(const char *prefix, unsigned first, unsigned n) {
  std::string text = "{";
  for (unsigned i = 0; i < n; ++i)
    text += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
  return text + "}";
}

/// Runs `form d, a, b, c;` on registers of 32 or 64 bits, [register][lane] in
/// A, B, C; D alike.
template <class T>
std::vector<T> run(const std::string &form, unsigned nD,
                   const std::vector<T> &a, const std::vector<T> &b,
                   const std::vector<T> &c) {
  const bool wide = sizeof(T) == 8;
  const char *prefix = wide ? "%w" : "%n", *type = wide ? "b64" : "b32";
  std::vector<T> in = a;
  in.insert(in.end(), b.begin(), b.end());
  in.insert(in.end(), c.begin(), c.end());
  const auto nA = unsigned(a.size() / 32), nB = unsigned(b.size() / 32),
             nC = unsigned(c.size() / 32), n = nA + nB + nC;
  std::string text =
      "mad.wide.u32 %d1, %r0, " + std::to_string(sizeof(T)) + ", %d0;\n";
  const auto at = [&](unsigned r) {
    return "[%d1+" + std::to_string(r * 32 * sizeof(T)) + "]";
  };
  for (unsigned r = 0; r < n; ++r)
    text += "ld.global." + std::string(type) + " " + prefix +
            std::to_string(10 + r) + ", " + at(r) + ";\n";
  text += form + " " + list(prefix, 2, nD) + ", " + list(prefix, 10, nA) +
          ", " + list(prefix, 10 + nA, nB) + ", " +
          list(prefix, 10 + nA + nB, nC) + ";\n";
  for (unsigned r = 0; r < nD; ++r)
    text += "st.global." + std::string(type) + " " + at(n + r) + ", " + prefix +
            std::to_string(2 + r) + ";\n";
  Program kernel(warpKernel(".reg .b64 %w<40>; .reg .b32 %n<40>;\n" + text));
  std::vector<T> memory = in;
  memory.resize((n + nD) * 32);
  const uint64_t buffer = kernel.buffer(memory);
  kernel.launch("k", {}, {32, 1, 1}, buffer);
  EXPECT_EQ(kernel.error, "") << form;
  auto out = kernel.read<T>(buffer, memory.size());
  return {out.begin() + long(n * 32), out.end()};
}

struct Integers {
  std::string shape;
  unsigned m, k, bits;
};

/// Element i of A of lane `lane`, as the tables have it.
std::pair<unsigned, unsigned> placeA(const Integers &s, unsigned lane,
                                     unsigned i) {
  const unsigned E = 32 / s.bits, group = lane / 4, thread = lane % 4;
  if (s.m == 8)
    return {group, thread * E + i};
  // m16n8k64 of 4 bits: 0 <= i < 8 || 16 <= i < 24; of 1 bit 0 <= i < 32 ||
  // 64 <= i < 96. Columns of i >= 16 (64) are half of K further.
  const bool upper = i < E || (i >= 2 * E && i < 3 * E);
  return {upper ? group : group + 8,
          thread * E + i % E + (i >= 2 * E ? s.k / 2 : 0)};
}
std::pair<unsigned, unsigned> placeB(const Integers &s, unsigned lane,
                                     unsigned i) {
  const unsigned E = 32 / s.bits;
  return {lane % 4 * E + i % E + (i >= E ? s.k / 2 : 0), lane / 4};
}

int value(unsigned bits, unsigned word, bool isSigned) {
  return isSigned && word >> (bits - 1) ? int(word) - (1 << bits) : int(word);
}

void checkIntegers(const Integers &s, const std::string &a,
                   const std::string &b, const std::string &before,
                   const std::string &after, bool saturates) {
  std::mt19937 random(s.k + s.bits);
  const unsigned nA = s.m / 8 * s.k * s.bits / 128, nB = s.k * s.bits / 128,
                 nC = s.m / 4, E = 32 / s.bits;
  std::vector<uint32_t> A(nA * 32), B(nB * 32), C(nC * 32);
  for (auto *v : {&A, &B, &C})
    for (uint32_t &x : *v)
      x = uint32_t(random());
  if (saturates)
    for (uint32_t &x : C)
      x = random() % 2 ? 0x7fffffff : 0x80000000;
  std::vector<std::vector<int>> MA(16, std::vector<int>(s.k)),
      MB(s.k, std::vector<int>(8));
  const unsigned ones = (1u << s.bits) - 1;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < nA * E; ++i) {
      const auto [row, column] = placeA(s, lane, i);
      MA[row][column] = value(
          s.bits, A[i / E * 32 + lane] >> i % E * s.bits & ones, a[0] == 's');
    }
    for (unsigned i = 0; i < nB * E; ++i) {
      const auto [row, column] = placeB(s, lane, i);
      MB[row][column] = value(
          s.bits, B[i / E * 32 + lane] >> i % E * s.bits & ones, b[0] == 's');
    }
  }
  const auto got = run("mma.sync.aligned." + s.shape + ".row.col" + before +
                           ".s32." + a + "." + b + ".s32" + after,
                       nC, A, B, C);
  ASSERT_EQ(got.size(), nC * 32);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < nC; ++i) {
      const unsigned row = lane / 4 + (i < 2 ? 0 : 8),
                     column = lane % 4 * 2 + i % 2;
      int64_t sum = int32_t(C[i * 32 + lane]);
      for (unsigned k = 0; k < s.k; ++k)
        sum += after == ".xor.popc"   ? MA[row][k] ^ MB[k][column]
               : after == ".and.popc" ? MA[row][k] & MB[k][column]
                                      : MA[row][k] * MB[k][column];
      if (saturates)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      ASSERT_EQ(got[i * 32 + lane], uint32_t(sum))
          << s.shape << a << b << after << " " << row << "," << column;
    }
}

TEST(MmaSmall, Integers) {
  for (const Integers &s :
       {Integers{"m8n8k16", 8, 16, 8}, Integers{"m8n8k32", 8, 32, 4},
        Integers{"m16n8k32", 16, 32, 4}, Integers{"m16n8k64", 16, 64, 4}})
    for (const char *a : {"s", "u"})
      for (const char *b : {"s", "u"})
        for (bool saturates : {false, true}) {
          const std::string bits = std::to_string(s.bits);
          checkIntegers(s, a + bits, b + bits, saturates ? ".satfinite" : "",
                        "", saturates);
        }
}

TEST(MmaSmall, SingleBits) {
  for (const Integers &s :
       {Integers{"m8n8k128", 8, 128, 1}, Integers{"m16n8k128", 16, 128, 1},
        Integers{"m16n8k256", 16, 256, 1}})
    for (const char *op : {".xor.popc", ".and.popc"})
      checkIntegers(s, "b1", "b1", "", op, false);
}

/// f64: of A (row, column) of element i.
std::pair<unsigned, unsigned> placeOfDouble(unsigned m, unsigned lane,
                                            unsigned i) {
  const unsigned group = lane / 4, thread = lane % 4;
  return m == 8 ? std::pair(group, thread)
                : std::pair(i % 2 ? group + 8 : group, thread + i / 2 * 4);
}

void checkDoubles(unsigned m, unsigned k, const std::string &rounding,
                  int mode) {
  std::mt19937_64 random(m + k);
  const unsigned nA = m / 8 * k / 4, nB = k / 4, nC = m / 4;
  std::vector<uint64_t> A(nA * 32), B(nB * 32), C(nC * 32);
  // Small integers over a large accumulator: one product is added at a time,
  // and its last bits are lost.
  const auto number = [&](double scale) {
    return std::bit_cast<uint64_t>(double(int(random() % 2001) - 1000) * scale);
  };
  for (uint64_t &x : A)
    x = number(1);
  for (uint64_t &x : B)
    x = number(0x1p-10);
  for (uint64_t &x : C)
    x = std::bit_cast<uint64_t>(random() % 2 ? 0x1p52 : -0x1p52);
  double MA[16][16], MB[16][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < nA; ++i) {
      const auto [row, column] = placeOfDouble(m, lane, i);
      MA[row][column] = std::bit_cast<double>(A[i * 32 + lane]);
    }
    for (unsigned i = 0; i < nB; ++i)
      MB[lane % 4 + 4 * i][lane / 4] = std::bit_cast<double>(B[i * 32 + lane]);
  }
  const auto got =
      run("mma.sync.aligned.m" + std::to_string(m) + "n8k" + std::to_string(k) +
              ".row.col" + rounding + ".f64.f64.f64.f64",
          nC, A, B, C);
  ASSERT_EQ(got.size(), nC * 32);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < nC; ++i) {
      const unsigned row = lane / 4 + (i < 2 ? 0 : 8),
                     column = lane % 4 * 2 + i % 2;
      double sum = std::bit_cast<double>(C[i * 32 + lane]);
      for (unsigned x = 0; x < k; ++x) {
        // In units of 2^-10 everything is an integer of less than 63 bits, and
        // the sum has units of 1 (2^-1 below 2^52).
        const __int128 exact =
            __int128(std::ldexp(sum, 11)) +
            __int128(std::ldexp(MA[row][x] * MB[x][column], 11));
        const int drop =
            exact >= (__int128(1) << 63) || -exact >= (__int128(1) << 63) ? 11
                                                                          : 10;
        const __int128 unit = __int128(1) << drop;
        __int128 down = exact & ~(unit - 1); // towards minus infinity
        const __int128 rest = exact - down;
        const bool up = mode == 0 ? rest * 2 > unit ||
                                        (rest * 2 == unit && (down & unit) != 0)
                        : mode == 1 ? rest && exact < 0
                        : mode == 2 ? false
                                    : rest != 0;
        if (up)
          down += unit;
        sum = std::ldexp(double(down), -11);
      }
      ASSERT_EQ(got[i * 32 + lane], std::bit_cast<uint64_t>(sum))
          << m << " " << k << rounding << " " << row << "," << column;
    }
}

TEST(MmaSmall, Doubles) {
  const std::pair<unsigned, unsigned> shapes[] = {
      {8, 4}, {16, 4}, {16, 8}, {16, 16}};
  for (auto [m, k] : shapes) {
    checkDoubles(m, k, "", 0);
    checkDoubles(m, k, ".rn", 0);
    checkDoubles(m, k, ".rz", 1);
    checkDoubles(m, k, ".rm", 2);
    checkDoubles(m, k, ".rp", 3);
  }
}

/// m8n8k4 of f16: element i of lane: the product that it is of, row, column.
struct QuadPlace {
  unsigned product, row, column;
};

TEST(MmaSmall, QuadsOfF16) {
  std::mt19937 random(3);
  const auto half = [](float x) {
    return std::bit_cast<uint16_t>(_Float16(x));
  };
  for (bool aRow : {false, true})
    for (bool bRow : {false, true})
      for (const char *d : {"f16", "f32"})
        for (const char *c : {"f16", "f32"}) {
          const bool dHalf = d[1] == '1', cHalf = c[1] == '1';
          const std::string form =
              std::string("mma.sync.aligned.m8n8k4.") + (aRow ? "row" : "col") +
              (bRow ? ".row." : ".col.") + d + ".f16.f16." + c;
          if (dHalf && !cHalf) {
            EXPECT_NE(loadError(form + " {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
                                       "{%r7,%r8}, {%r1,%r2,%r3,%r4,%r5,%r6,"
                                       "%r7,%r8};"),
                      "");
            continue;
          }
          const auto placeC = [](bool isHalf, unsigned lane, unsigned i) {
            const unsigned high = lane < 16 ? 0 : 4;
            return isHalf ? QuadPlace{lane / 4 % 4, lane % 4 + high, i}
                          : QuadPlace{lane / 4 % 4, (lane & 1) + (i & 2) + high,
                                      (i & 4) + (lane & 2) + (i & 1)};
          };
          int A[4][8][4], B[4][4][8], C[4][8][8];
          std::vector<uint32_t> ra(64), rb(64), rc((cHalf ? 4 : 8) * 32);
          const auto draw = [&] { return int(random() % 17) - 8; };
          for (unsigned lane = 0; lane < 32; ++lane) {
            const unsigned q = lane / 4 % 4, high = lane < 16 ? 0 : 4;
            for (unsigned i = 0; i < 4; ++i) {
              const int x = draw(), y = draw();
              ra[i / 2 * 32 + lane] |= uint32_t(half(float(x))) << i % 2 * 16;
              rb[i / 2 * 32 + lane] |= uint32_t(half(float(y))) << i % 2 * 16;
              if (aRow)
                A[q][lane % 4 + high][i] = x;
              else
                A[q][i + high][lane % 4] = x;
              if (bRow)
                B[q][lane % 4][i + high] = y;
              else
                B[q][i][lane % 4 + high] = y;
            }
            for (unsigned i = 0; i < 8; ++i) {
              const int z = draw();
              const QuadPlace p = placeC(cHalf, lane, i);
              C[p.product][p.row][p.column] = z;
              if (cHalf)
                rc[i / 2 * 32 + lane] |= uint32_t(half(float(z))) << i % 2 * 16;
              else
                rc[i * 32 + lane] = std::bit_cast<uint32_t>(float(z));
            }
          }
          const auto got = run(form, dHalf ? 4 : 8, ra, rb, rc);
          for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned i = 0; i < 8; ++i) {
              const QuadPlace p = placeC(dHalf, lane, i);
              int sum = C[p.product][p.row][p.column];
              for (unsigned k = 0; k < 4; ++k)
                sum += A[p.product][p.row][k] * B[p.product][k][p.column];
              const uint32_t word =
                  dHalf ? got[i / 2 * 32 + lane] >> i % 2 * 16 & 0xffff
                        : got[i * 32 + lane];
              ASSERT_EQ(word, dHalf ? half(float(sum))
                                    : std::bit_cast<uint32_t>(float(sum)))
                  << form << " lane " << lane << " element " << i;
            }
        }
}

/// wmma of 8 rows and columns with elements of 4 or 1 bits; lines are `stride`
/// elements apart.
void checkWmma(unsigned bits, const std::string &type, const std::string &op,
               bool saturates) {
  std::mt19937 random(bits);
  const unsigned k = 128 / bits, stride = 2 * k;
  std::vector<uint32_t> a(8 * stride * bits / 32), b = a, c(64);
  for (auto *v : {&a, &b, &c})
    for (uint32_t &x : *v)
      x = uint32_t(random());
  if (saturates)
    for (uint32_t &x : c)
      x = 0x7ffffff0;
  const std::string shape = ".m8n8k" + std::to_string(k),
                    step = std::to_string(stride);
  const std::string text =
      "wmma.load.a.sync.aligned.row" + shape + ".global." + type +
      " {%r1}, [%d0+1024], " + step + ";\nwmma.load.b.sync.aligned.col" +
      shape + ".global." + type + " {%r2}, [%d0+2048], " + step +
      ";\nwmma.load.c.sync.aligned.row" + shape +
      ".global.s32 {%r3,%r4}, [%d0+3072], 8;\nwmma.mma" + op +
      ".sync.aligned.row.col" + shape + ".s32." + type + "." + type + ".s32" +
      (saturates ? ".satfinite" : "") +
      " {%r5,%r6}, {%r1}, {%r2}, {%r3,%r4};\n"
      "wmma.store.d.sync.aligned.col" +
      shape + ".global.s32 [%d0], {%r5,%r6}, 8;\n";
  std::vector<uint32_t> memory(1024);
  std::copy(a.begin(), a.end(), memory.begin() + 256);
  std::copy(b.begin(), b.end(), memory.begin() + 512);
  std::copy(c.begin(), c.end(), memory.begin() + 768);
  Program kernel(warpKernel(text));
  const uint64_t buffer = kernel.buffer(memory);
  kernel.launch("k", {}, {32, 1, 1}, buffer);
  ASSERT_EQ(kernel.error, "") << text;
  const auto got = kernel.read<uint32_t>(buffer, 64);
  const auto element = [&](const std::vector<uint32_t> &v, unsigned at) {
    return value(bits, v[at * bits / 32] >> at * bits % 32 & ((1u << bits) - 1),
                 type[0] == 's');
  };
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned j = 0; j < 8; ++j) {
      int64_t sum = int32_t(c[i * 8 + j]);
      for (unsigned x = 0; x < k; ++x) {
        const int p = element(a, i * stride + x),
                  q = element(b, j * stride + x);
        sum += op == ".xor.popc" ? p ^ q : op == ".and.popc" ? p & q : p * q;
      }
      if (saturates)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      ASSERT_EQ(got[j * 8 + i], uint32_t(sum)) << text << i << "," << j;
    }
}

TEST(MmaSmall, WmmaOfFewBits) {
  for (const char *type : {"s4", "u4"})
    for (bool saturates : {false, true})
      checkWmma(4, type, "", saturates);
  for (const char *op : {".xor.popc", ".and.popc"})
    checkWmma(1, "b1", op, false);
}

TEST(MmaSmall, OtherFormsAreRefused) {
  for (const char *line :
       {"mma.sync.aligned.m8n8k4.col.row.f64.f64.f64.f64 {%d1,%d2}, {%d3}, "
        "{%d4}, {%d5,%d6};",
        "mma.sync.aligned.m16n8k16.col.row.f32.bf16.bf16.f32 "
        "{%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2,%r3,%r4};",
        "mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, "
        "{%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2,%r3,%r4};",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1,%r2}, {%r3}, "
        "{%r4}, {%r5,%r6};",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2}, {%r1,%r2,%r3,%r4}, %r5, 0;",
        "wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r1}, [%d0], 32;",
        "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.u4.s32 {%r5,%r6}, {%r1}, "
        "{%r2}, {%r3,%r4};"})
    EXPECT_NE(loadError(line).find("unsupported form"), std::string::npos)
        << line << ": " << loadError(line);
}

} // namespace
