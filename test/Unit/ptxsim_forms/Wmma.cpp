// wmma.load, .mma, .store. What a fragment holds is opaque in the ISA, so every
// form is part of a whole product D = A B + C of matrices in memory, in the
// layouts, with the leading dimensions and in the spaces that the form names;
// values are small integers, exact in every format. Registers per fragment are
// those of the ISA's "Matrix Fragments for WMMA".

#include "test/Unit/ptxsim_forms/Machine.h"
#include "test/Unit/ptxsim_forms/Numbers.h"

#include <cfenv>

using namespace ptxsim::forms;

namespace {

struct Shape {
  std::string name;
  unsigned m, n, k;
  std::string ab, c, d; ///< types
  unsigned registersA, registersB;
  unsigned registersC() const { return c == "f64" ? 2 : c == "f16" ? 4 : 8; }
  unsigned registersD() const { return d == "f64" ? 2 : d == "f16" ? 4 : 8; }
};

/// One matrix: how it lies in memory, and where.
struct Place {
  bool byRows = true;
  std::string space;  ///< empty: generic addressing, here of shared memory
  bool stride = true; ///< the leading dimension is given, and larger
};

struct Product {
  Shape shape;
  Place a, b, c, d;
  std::string rounding, suffix; ///< of the mma
};

std::string layout(bool byRows) { return byRows ? ".row" : ".col"; }

std::string loadName(const Shape &s, const char *which, const std::string &type,
                     const Place &p) {
  return std::string("wmma.") + (*which == 'd' ? "store." : "load.") + which +
         ".sync.aligned" + layout(p.byRows) + "." + s.name + p.space + "." +
         type;
}

std::string mmaName(const Product &p) {
  const Shape &s = p.shape;
  return "wmma.mma.sync.aligned" + layout(p.a.byRows) + layout(p.b.byRows) +
         "." + s.name + p.rounding +
         (s.ab == "f16" ? "." + s.d + "." + s.c
                        : "." + s.d + "." + s.ab + "." + s.ab + "." + s.c) +
         p.suffix;
}

struct Matrix {
  unsigned rows, columns, bytes, start;
  Place place;
  unsigned leading() const {
    return (place.byRows ? columns : rows) +
           (place.stride ? 16 / std::min(bytes, 16u) : 0);
  }
  size_t at(unsigned i, unsigned j) const {
    return start + bytes * (place.byRows ? size_t(i) * leading() + j
                                         : size_t(j) * leading() + i);
  }
};

/// Bits of the elements of A, B, C and D, row by row.
struct Contents {
  std::vector<uint64_t> a, b, c, d;
};

void run(const Product &p, const Contents &contents) {
  const Shape &s = p.shape;
  // A, B, C and D lie in in1, in shared memory and, as D does, in out.
  const Matrix a{s.m, s.k, bytesOf(s.ab), 0, p.a},
      b{s.k, s.n, bytesOf(s.ab), 2048, p.b},
      c{s.m, s.n, bytesOf(s.c), 4096, p.c},
      d{s.m, s.n, bytesOf(s.d), 6144, p.d};
  Setup setup;
  setup.in1.assign(2048, 0xeeeeeeee);
  setup.out = setup.in1;
  auto write = [](Words &words, const Matrix &m,
                  const std::vector<uint64_t> &bits) {
    for (unsigned i = 0; i < m.rows; ++i)
      for (unsigned j = 0; j < m.columns; ++j)
        put(words, m.at(i, j), bits[i * m.columns + j], m.bytes);
  };
  write(setup.in1, a, contents.a), write(setup.in1, b, contents.b);
  write(setup.in1, c, contents.c);
  auto declare = [](const char *name, const std::string &type, unsigned n) {
    return ".reg " +
           std::string(type == "f64"   ? ".f64 "
                       : type == "f32" ? ".f32 "
                                       : ".b32 ") +
           name + "<" + std::to_string(n) + ">;\n";
  };
  const unsigned rc = s.registersC(), rd = s.registersD();
  std::string body = declare("a", s.ab, s.registersA) +
                     declare("b", s.ab, s.registersB) + declare("c", s.c, rc) +
                     declare("d", s.d, rd) + fillShared(8192) +
                     "cvt.u64.u32 %d10, %r1;\ncvta.shared.u64 %d10, %d10;\n";
  // The address of a matrix: of global memory, of shared memory, or generic.
  auto address = [&](const Matrix &m, const char *global) {
    const std::string base = m.place.space.empty()        ? "%d10"
                             : m.place.space == ".global" ? global
                                                          : "%r1";
    return "[" + base + "+" + std::to_string(m.start) + "]";
  };
  auto stride = [](const Matrix &m) {
    return m.place.stride ? ", " + std::to_string(m.leading()) : std::string();
  };
  auto load = [&](const char *which, const std::string &type, const Matrix &m,
                  unsigned registers) {
    return loadName(s, which, type, m.place) + " " + list(which, registers) +
           ", " + address(m, "%d2") + stride(m) + ";\n";
  };
  body += load("a", s.ab, a, s.registersA) + load("b", s.ab, b, s.registersB) +
          load("c", s.c, c, rc);
  body += mmaName(p) + " " + list("d", rd) + ", " + list("a", s.registersA) +
          ", " + list("b", s.registersB) + ", " + list("c", rc) + ";\n";
  body += loadName(s, "d", s.d, p.d) + " " + address(d, "%d0") + ", " +
          list("d", rd) + stride(d) + ";\n";
  Words expected = setup.out;
  if (p.d.space != ".global") {
    body += dumpShared(8192);
    expected = setup.in1;
  }
  write(expected, d, contents.d);
  EXPECT_EQ(launch(body, setup).out, expected);
}

/// A product of integers.
void multiply(const Product &p) {
  const Shape &s = p.shape;
  std::mt19937 random(s.m + s.k);
  std::vector<int> A(s.m * s.k), B(s.k * s.n);
  Contents bits;
  // Sums in a D of f16 must be exact even where C is f32.
  const std::string accumulator = s.c == "f16" || s.d == "f16" ? "f16" : s.d;
  for (int &v : A)
    bits.a.push_back(encode(s.ab, v = pick(s.ab, accumulator, random)));
  for (int &v : B)
    bits.b.push_back(encode(s.ab, v = pick(s.ab, accumulator, random)));
  for (unsigned i = 0; i < s.m; ++i)
    for (unsigned j = 0; j < s.n; ++j) {
      int64_t sum = pickStart(accumulator, random);
      bits.c.push_back(encode(s.c, sum));
      for (unsigned x = 0; x < s.k; ++x)
        sum += int64_t(A[i * s.k + x]) * B[x * s.n + j];
      bits.d.push_back(
          encode(s.d, s.d == "s32" ? fit(sum, !p.suffix.empty()) : sum));
    }
  run(p, bits);
}

/// f64: one product per element, of powers of two below the last bit of C, so
/// that each rounding mode gives another result for one of them. The host's
/// floating-point environment rounds the reference.
void roundProducts(const Product &p) {
  const std::string &mode =
      p.rounding.empty() ? p.suffix.empty() ? ".rn" : p.suffix : p.rounding;
  Contents bits;
  const auto word = [](double x) { return std::bit_cast<uint64_t>(x); };
  const auto elementA = [](unsigned i, unsigned x) {
    return x != i % 4 ? 0.0 : i / 4 ? -0x1p-30 : 0x1p-30;
  };
  const auto elementB = [](unsigned j) { return j % 2 ? 0x1p-30 : 0x1.8p-23; };
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned x = 0; x < 4; ++x)
      bits.a.push_back(word(elementA(i, x)));
  for (unsigned x = 0; x < 4; ++x)
    for (unsigned j = 0; j < 8; ++j)
      bits.b.push_back(word(elementB(j)));
  const int before = std::fegetround();
  std::fesetround(mode == ".rz"   ? FE_TOWARDZERO
                  : mode == ".rm" ? FE_DOWNWARD
                  : mode == ".rp" ? FE_UPWARD
                                  : FE_TONEAREST);
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned j = 0; j < 8; ++j) {
      volatile double c = j / 2 % 2 ? 1.0 : -1.0,
                      product = elementA(i, i % 4) * elementB(j);
      volatile double sum = c + product;
      bits.c.push_back(word(c)), bits.d.push_back(word(sum));
    }
  std::fesetround(before);
  run(p, bits);
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  struct Size {
    const char *name;
    unsigned m, n, bf16A, bf16B, byteA, byteB;
  };
  for (const Size &s : {Size{"m16n16k16", 16, 16, 4, 4, 2, 2},
                        Size{"m32n8k16", 32, 8, 8, 2, 4, 1},
                        Size{"m8n32k16", 8, 32, 2, 8, 1, 4}}) {
    for (const char *c : {"f16", "f32"})
      for (const char *d : {"f16", "f32"})
        all.push_back({s.name, s.m, s.n, 16, "f16", c, d, 8, 8});
    all.push_back(
        {s.name, s.m, s.n, 16, "bf16", "f32", "f32", s.bf16A, s.bf16B});
    for (const char *type : {"s8", "u8"})
      all.push_back(
          {s.name, s.m, s.n, 16, type, "s32", "s32", s.byteA, s.byteB});
  }
  all.push_back({"m16n16k8", 16, 16, 8, "tf32", "f32", "f32", 4, 4});
  all.push_back({"m8n8k4", 8, 8, 4, "f64", "f64", "f64", 1, 1});
  return all;
}

/// Several shapes share a load or store; the first one tests it.
std::set<std::string> moved;

/// Loads and stores of the matrix `which`, with and without a leading
/// dimension.
void moves(const Shape &s, const char *which, const std::string &type) {
  for (bool byRows : {true, false})
    for (const char *space : {"", ".global", ".shared", ".shared::cta"}) {
      const Place place{byRows, space};
      const std::string name = loadName(s, which, type, place);
      if (!moved.insert(name).second)
        continue;
      form(name, [=] {
        for (bool stride : {true, false}) {
          Product p{s,
                    {!byRows, ".global"},
                    {byRows, ".global"},
                    {!byRows, ".global"},
                    {!byRows, ".global"},
                    "",
                    ""};
          Place &mine = *which == 'a'   ? p.a
                        : *which == 'b' ? p.b
                        : *which == 'c' ? p.c
                                        : p.d;
          mine = {byRows, space, stride};
          multiply(p);
        }
      });
    }
}

} // namespace

FORMS(wmma) {
  for (const Shape &s : shapes()) {
    moves(s, "a", s.ab), moves(s, "b", s.ab);
    moves(s, "c", s.c), moves(s, "d", s.d);
    for (bool a : {true, false})
      for (bool b : {true, false}) {
        Product p{s,  {a, ""}, {b, ".global"}, {a, ".global"}, {b, ".global"},
                  "", ""};
        form(mmaName(p), [=] {
          multiply(p);
          if (s.ab == "f64")
            roundProducts(p);
        });
        if (s.d == "s32") {
          p.suffix = ".satfinite";
          form(mmaName(p), [=] { multiply(p); });
        }
        if (s.ab == "f64")
          for (const char *mode : {".rn", ".rz", ".rm", ".rp"})
            for (bool behind : {false, true}) {
              (behind ? p.suffix : p.rounding) = mode;
              (behind ? p.rounding : p.suffix) = "";
              form(mmaName(p), [=] { multiply(p), roundProducts(p); });
            }
      }
  }
}
