// mma of f64, of 4 and 1 bits, of m8n8k4 (f16) and m8n8k16 (8 bits); wmma of 4
// and 1 bits: against naive products. Where the ISA's tables put the elements
// is written down here a second time, element by element.

#include "test/Unit/ptxsim_forms/Form.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

using namespace ptxsim::forms;
using ptxsim::test::header;

namespace {

/// A kernel of one warp: %d0 is `memory`, %r0 the lane; what is in memory then,
/// nothing after an error.
template <class T>
std::vector<T> launch(const std::string &body, const std::vector<T> &memory) {
  Program program(header +
                  ".visible .entry k(.param .u64 out) {\n"
                  ".reg .b32 %r<10>; .reg .b64 %d<10>;\n"
                  "ld.param.u64 %d0, [out]; mov.u32 %r0, %laneid;\n" +
                  body + "ret;\n}\n");
  EXPECT_EQ(program.loadError, "") << body;
  if (!program.module)
    return std::vector<T>(memory.size());
  const uint64_t buffer = program.buffer("memory", memory);
  const ptxsim::Status status = program.run({buffer});
  EXPECT_TRUE(status.ok()) << status.message();
  return program.read<T>(buffer, memory.size());
}

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
  std::vector<T> memory = in;
  memory.resize((n + nD) * 32);
  const auto out =
      launch(".reg .b64 %w<40>; .reg .b32 %n<40>;\n" + text, memory);
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

void checkIntegers(const std::string &name, const Integers &s,
                   const std::string &a, const std::string &b,
                   const std::string &after, bool saturates) {
  std::mt19937 random(s.k + s.bits);
  const unsigned nA = s.m / 8 * s.k * s.bits / 128, nB = s.k * s.bits / 128,
                 nC = s.m / 4, E = 32 / s.bits;
  std::vector<uint32_t> A(nA * 32), B(nB * 32), C(nC * 32);
  for (auto *v : {&A, &B, &C})
    for (uint32_t &x : *v)
      x = uint32_t(random());
  // Sums that leave the range: with or without .satfinite is not the same.
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
  const auto got = run(name, nC, A, B, C);
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

void registerIntegers(const Integers &s, const std::string &a,
                      const std::string &b, const std::string &after = "") {
  for (bool saturates : {false, true}) {
    if (s.bits == 1 && saturates)
      continue;
    const std::string name = "mma.sync.aligned." + s.shape + ".row.col" +
                             (saturates ? ".satfinite" : "") + ".s32." + a +
                             "." + b + ".s32" + after;
    form(name, [=] { checkIntegers(name, s, a, b, after, saturates); });
  }
}

/// f64: of A (row, column) of element i.
std::pair<unsigned, unsigned> placeOfDouble(unsigned m, unsigned lane,
                                            unsigned i) {
  const unsigned group = lane / 4, thread = lane % 4;
  return m == 8 ? std::pair(group, thread)
                : std::pair(i % 2 ? group + 8 : group, thread + i / 2 * 4);
}

void checkDoubles(const std::string &name, unsigned m, unsigned k, int mode) {
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
  const auto got = run(name, nC, A, B, C);
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
          << row << "," << column;
    }
}

/// m8n8k4 of f16: element i of lane: the product that it is of, row, column.
struct QuadPlace {
  unsigned product, row, column;
};

void checkQuads(const std::string &name, bool aRow, bool bRow, bool dHalf,
                bool cHalf) {
  std::mt19937 random(3);
  const auto half = [](float x) {
    return std::bit_cast<uint16_t>(_Float16(x));
  };
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
  const auto got = run(name, dHalf ? 4 : 8, ra, rb, rc);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      const QuadPlace p = placeC(dHalf, lane, i);
      int sum = C[p.product][p.row][p.column];
      for (unsigned k = 0; k < 4; ++k)
        sum += A[p.product][p.row][k] * B[p.product][k][p.column];
      const uint32_t word = dHalf
                                ? got[i / 2 * 32 + lane] >> i % 2 * 16 & 0xffff
                                : got[i * 32 + lane];
      ASSERT_EQ(word,
                dHalf ? half(float(sum)) : std::bit_cast<uint32_t>(float(sum)))
          << "lane " << lane << " element " << i;
    }
}

/// wmma of 8 rows and columns with elements of 4 or 1 bits.
struct Few {
  unsigned bits;
  std::string type, operation, space, layoutC, layoutD;
  bool saturates;
  std::string shape() const { return ".m8n8k" + std::to_string(128 / bits); }
  std::string load(char matrix) const {
    return std::string("wmma.load.") + matrix + ".sync.aligned." +
           (matrix == 'a'   ? "row"
            : matrix == 'b' ? "col"
                            : layoutC) +
           shape() + space + "." + (matrix == 'c' ? "s32" : type);
  }
  std::string store() const {
    return "wmma.store.d.sync.aligned." + layoutD + shape() + space + ".s32";
  }
  std::string multiply() const {
    return "wmma.mma" + operation + ".sync.aligned.row.col" + shape() +
           ".s32." + type + "." + type + ".s32" +
           (saturates ? ".satfinite" : "");
  }
};

/// A at 1024, B at 2048, C at 3072 of 4096 bytes, D at 0; lines of A and B are
/// two of theirs apart.
void checkWmma(const Few &f) {
  std::mt19937 random(f.bits);
  const unsigned bits = f.bits, k = 128 / bits, stride = 2 * k;
  std::vector<uint32_t> a(8 * stride * bits / 32), b = a, c(64);
  for (auto *v : {&a, &b, &c})
    for (uint32_t &x : *v)
      x = uint32_t(random());
  for (uint32_t &x : c)
    x = 0x7ffffff0;
  const std::string step = std::to_string(stride);
  const bool shared = f.space == ".shared";
  const auto at = [&](unsigned offset) {
    return (shared ? "[%r1+" : "[%d0+") + std::to_string(offset) + "]";
  };
  std::string text = ".shared .align 128 .b8 place[4096];\n"
                     ".reg .b32 %n<9>; .reg .pred %p<2>;\n";
  const std::string each = "mul.wide.u32 %d1, %r2, 4; add.u64 %d1, %d1, %d0;\n"
                           "mad.lo.u32 %r3, %r2, 4, %r1;\n",
                    next = "add.u32 %r2, %r2, 32; setp.lt.u32 %p1, %r2, ";
  if (shared)
    text += "mov.u32 %r1, place; mov.u32 %r2, %r0;\nIN:\n" + each +
            "ld.global.b32 %r4, [%d1]; st.shared.b32 [%r3], %r4;\n" + next +
            "1024; @%p1 bra IN;\nbar.warp.sync -1;\n";
  text += f.load('a') + " {%n1}, " + at(1024) + ", " + step + ";\n" +
          f.load('b') + " {%n2}, " + at(2048) + ", " + step + ";\n" +
          f.load('c') + " {%n3,%n4}, " + at(3072) + ", 8;\n" + f.multiply() +
          " {%n5,%n6}, {%n1}, {%n2}, {%n3,%n4};\n" + f.store() + " " + at(0) +
          ", {%n5,%n6}, 8;\n";
  if (shared)
    text += "bar.warp.sync -1; mov.u32 %r2, %r0;\nOUT:\n" + each +
            "ld.shared.b32 %r4, [%r3]; st.global.b32 [%d1], %r4;\n" + next +
            "64; @%p1 bra OUT;\n";
  std::vector<uint32_t> memory(1024);
  std::copy(a.begin(), a.end(), memory.begin() + 256);
  std::copy(b.begin(), b.end(), memory.begin() + 512);
  for (unsigned i = 0; i < 64; ++i)
    memory[768 + (f.layoutC == "row" ? i : i % 8 * 8 + i / 8)] = c[i];
  const auto got = launch(text, memory);
  const auto element = [&](const std::vector<uint32_t> &v, unsigned index) {
    return value(bits,
                 v[index * bits / 32] >> index * bits % 32 & ((1u << bits) - 1),
                 f.type[0] == 's');
  };
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned j = 0; j < 8; ++j) {
      int64_t sum = int32_t(c[i * 8 + j]);
      for (unsigned x = 0; x < k; ++x) {
        const int p = element(a, i * stride + x),
                  q = element(b, j * stride + x);
        sum += f.operation == ".xor.popc"   ? p ^ q
               : f.operation == ".and.popc" ? p & q
                                            : p * q;
      }
      if (f.saturates)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      ASSERT_EQ(got[f.layoutD == "row" ? i * 8 + j : j * 8 + i], uint32_t(sum))
          << text << i << "," << j;
    }
}

} // namespace

FORMS(smallMma) {
  for (const Integers &s :
       {Integers{"m8n8k16", 8, 16, 8}, Integers{"m8n8k32", 8, 32, 4},
        Integers{"m16n8k32", 16, 32, 4}, Integers{"m16n8k64", 16, 64, 4}})
    for (const char *a : {"s", "u"})
      for (const char *b : {"s", "u"}) {
        const std::string bits = std::to_string(s.bits);
        registerIntegers(s, a + bits, b + bits);
      }
  for (const Integers &s :
       {Integers{"m8n8k128", 8, 128, 1}, Integers{"m16n8k128", 16, 128, 1},
        Integers{"m16n8k256", 16, 256, 1}})
    for (const char *op : {".xor.popc", ".and.popc"})
      registerIntegers(s, "b1", "b1", op);
  const std::pair<unsigned, unsigned> shapes[] = {
      {8, 4}, {16, 4}, {16, 8}, {16, 16}};
  const std::pair<const char *, int> roundings[] = {
      {"", 0}, {".rn", 0}, {".rz", 1}, {".rm", 2}, {".rp", 3}};
  for (const auto &[m, k] : shapes)
    for (const auto &[rounding, mode] : roundings) {
      const std::string name = "mma.sync.aligned.m" + std::to_string(m) +
                               "n8k" + std::to_string(k) + ".row.col" +
                               rounding + ".f64.f64.f64.f64";
      form(name, [name, m = m, k = k, mode = mode] {
        checkDoubles(name, m, k, mode);
      });
    }
  for (bool aRow : {false, true})
    for (bool bRow : {false, true})
      for (const char *d : {"f16", "f32"})
        for (const char *c : {"f16", "f32"}) {
          const bool dHalf = d[1] == '1', cHalf = c[1] == '1';
          if (dHalf && !cHalf)
            continue; // there is none
          const std::string name =
              std::string("mma.sync.aligned.m8n8k4.") + (aRow ? "row" : "col") +
              (bRow ? ".row." : ".col.") + d + ".f16.f16." + c;
          form(name, [=] { checkQuads(name, aRow, bRow, dHalf, cHalf); });
        }
}

FORMS(smallWmma) {
  for (const char *type : {"s4", "u4"})
    for (bool saturates : {false, true}) {
      const Few f{4, type, "", ".global", "row", "row", saturates};
      form(f.multiply(), [=] { checkWmma(f); });
    }
  for (const char *operation : {".xor.popc", ".and.popc"}) {
    const Few f{1, "b1", operation, ".global", "row", "row", false};
    form(f.multiply(), [=] { checkWmma(f); });
  }
  for (const char *space : {"", ".global", ".shared"}) {
    for (const char *type : {"s4", "u4", "b1"}) {
      const bool single = type[0] == 'b';
      const Few f{single ? 1u : 4u,
                  type,
                  single ? ".xor.popc" : "",
                  space,
                  "row",
                  "row",
                  false};
      form(f.load('a'), [=] { checkWmma(f); });
      form(f.load('b'), [=] { checkWmma(f); });
    }
    for (bool single : {false, true})
      for (const char *layout : {"row", "col"}) {
        const Few f{single ? 1u : 4u,
                    single ? "b1" : "s4",
                    single ? ".xor.popc" : "",
                    space,
                    layout,
                    layout,
                    false};
        form(f.load('c'), [=] { checkWmma(f); });
        form(f.store(), [=] { checkWmma(f); });
      }
  }
}
