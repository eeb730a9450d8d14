// mma.sync.m16n8kN: products of matrices of small integers, exact in every
// format, against sums of 64-bit integers. Where the elements lie in registers
// is written in ptxsim_tensor/Fragments.h from the ISA's "Matrix Fragments for
// mma.m16n8kN"; overflow of s32 wraps without .satfinite.

#include "test/Unit/ptxsim_forms/Machine.h"
#include "test/Unit/ptxsim_forms/Numbers.h"
#include "test/Unit/ptxsim_tensor/Fragments.h"

using namespace ptxsim::forms;
using fragments::Place;

namespace {

struct Mma {
  unsigned k;
  std::string a, b, c; ///< types; D's is C's
  bool saturates = false;
  std::string name() const {
    return "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col" +
           (saturates ? ".satfinite." : ".") + c + "." + a + "." + b + "." + c;
  }
};

Place placeA(unsigned bytes, unsigned lane, unsigned i) {
  return bytes == 1   ? fragments::a8(lane, i)
         : bytes == 2 ? fragments::a16(lane, i)
                      : fragments::a32(lane, i);
}
Place placeB(unsigned bytes, unsigned lane, unsigned i) {
  return bytes == 1   ? fragments::b8(lane, i)
         : bytes == 2 ? fragments::b16(lane, i)
                      : fragments::b32(lane, i);
}

void multiply(const Mma &f) {
  std::mt19937 random(f.k);
  const unsigned k = f.k, bytes = bytesOf(f.a), bytesC = bytesOf(f.c);
  std::vector<int> A(16 * k), B(k * 8);
  std::vector<int64_t> C(16 * 8);
  for (int &v : A)
    v = pick(f.a, f.c, random);
  for (int &v : B)
    v = pick(f.b, f.c, random);
  for (int64_t &v : C)
    v = pickStart(f.c, random);
  // Per lane: registers of A, B and C behind each other.
  const unsigned registersA = k / 2 * bytes / 4, registersB = k / 4 * bytes / 4,
                 registersC = bytesC, record = registersA + registersB + 4;
  Setup setup;
  setup.in0.resize(32 * record);
  setup.out.resize(32 * registersC);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const size_t a = lane * record * 4, b = a + registersA * 4,
                 c = b + registersB * 4;
    for (unsigned i = 0; i < k / 2; ++i) {
      const Place p = placeA(bytes, lane, i);
      put(setup.in0, a + i * bytes, encode(f.a, A[p.row * k + p.column]),
          bytes);
    }
    for (unsigned i = 0; i < k / 4; ++i) {
      const Place p = placeB(bytes, lane, i);
      put(setup.in0, b + i * bytes, encode(f.b, B[p.row * 8 + p.column]),
          bytes);
    }
    for (unsigned i = 0; i < 4; ++i) {
      const Place p = fragments::c(lane, i);
      put(setup.in0, c + i * bytesC, encode(f.c, C[p.row * 8 + p.column]),
          bytesC);
    }
  }
  std::string body = ".reg .b32 a<8>, b<4>, c<4>, d<4>;\n"
                     "mad.wide.u32 %d5, %r0, " +
                     std::to_string(record * 4) + ", %d1;\n";
  unsigned at = 0;
  auto load = [&](const char *name, unsigned n) {
    for (unsigned i = 0; i < n; ++i, at += 4)
      body += "ld.global.b32 " + (name + std::to_string(i)) + ", [%d5+" +
              std::to_string(at) + "];\n";
  };
  load("a", registersA), load("b", registersB), load("c", registersC);
  body += f.name() + " " + list("d", registersC) + ", " +
          list("a", registersA) + ", " + list("b", registersB) + ", " +
          list("c", registersC) + ";\nmad.wide.u32 %d6, %r0, " +
          std::to_string(registersC * 4) + ", %d0;\n";
  for (unsigned i = 0; i < registersC; ++i)
    body += "st.global.b32 [%d6+" + std::to_string(i * 4) + "], d" +
            std::to_string(i) + ";\n";
  const Memory memory = launch(body, setup);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const Place p = fragments::c(lane, i);
      int64_t sum = C[p.row * 8 + p.column];
      for (unsigned x = 0; x < k; ++x)
        sum += int64_t(A[p.row * k + x]) * B[x * 8 + p.column];
      EXPECT_EQ(get(memory.out, lane * registersC * 4 + i * bytesC, bytesC),
                encode(f.c, f.c == "s32" ? fit(sum, f.saturates) : sum))
          << "row " << p.row << " column " << p.column;
    }
}

} // namespace

FORMS(mma) {
  std::vector<Mma> all;
  for (unsigned k : {8, 16}) {
    all.push_back({k, "f16", "f16", "f16"});
    all.push_back({k, "f16", "f16", "f32"});
    all.push_back({k, "bf16", "bf16", "f32"});
    all.push_back({k / 2, "tf32", "tf32", "f32"});
  }
  for (unsigned k : {16, 32}) {
    for (const char *a : {"e4m3", "e5m2"})
      for (const char *b : {"e4m3", "e5m2"})
        for (const char *c : {"f16", "f32"})
          all.push_back({k, a, b, c});
    for (const char *a : {"s8", "u8"})
      for (const char *b : {"s8", "u8"})
        for (bool saturates : {false, true})
          all.push_back({k, a, b, "s32", saturates});
  }
  for (const Mma &f : all)
    form(f.name(), [=] { multiply(f); });
}
