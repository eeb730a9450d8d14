// ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16 bits. Lane 8 i + r names
// row r of matrix i; lane l holds elements 2 (l % 4) and the next one of row
// l / 4, the first in the lower half, and with .trans those of column l / 4.

#include "test/Unit/ptxsim_forms/Machine.h"

using namespace ptxsim::forms;

namespace {

/// Rows lie in an order of their own, in chunks of 16 bytes.
unsigned chunk(unsigned row) { return (row * 11 + 5) % 64; }

/// Element (row, column) that lane and half hold.
std::pair<unsigned, unsigned> held(unsigned lane, unsigned half, bool trans) {
  const unsigned a = lane / 4, b = lane % 4 * 2 + half;
  return trans ? std::pair(b, a) : std::pair(a, b);
}

/// %r5 (%d5 for generic addressing) is the address of the lane's row.
const char *address = R"(
  mad.lo.u32 %r4, %r0, 11, 5;
  and.b32 %r4, %r4, 63;
  mad.lo.u32 %r5, %r4, 16, %r1;
  cvt.u64.u32 %d5, %r5;
  cvta.shared.u64 %d5, %d5;
)";

struct Move {
  unsigned count;
  bool trans, countFirst;
  std::string space;
  std::string name(const char *opcode) const {
    const std::string x = ".x" + std::to_string(count);
    return std::string(opcode) + ".sync.aligned" +
           (countFirst ? x + ".m8n8" : ".m8n8" + x) + (trans ? ".trans" : "") +
           space + ".b16";
  }
  std::string pointer() const { return space.empty() ? "[%d5]" : "[%r5]"; }
};

void load(const Move &f) {
  Setup setup;
  setup.in1 = numbers(256, 1);
  setup.out.resize(32 * f.count);
  std::string body = ".reg .b32 m<4>;\n" + fillShared(1024) + address +
                     f.name("ldmatrix") + " " + list("m", f.count) + ", " +
                     f.pointer() + ";\n";
  for (unsigned i = 0; i < f.count; ++i)
    body += "mad.lo.u32 %r6, %r0, " + std::to_string(f.count) + ", " +
            std::to_string(i) +
            ";\nmad.wide.u32 %d6, %r6, 4, %d0;\nst.global.b32 [%d6], m" +
            std::to_string(i) + ";\n";
  const Memory memory = launch(body, setup);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < f.count; ++i)
      for (unsigned half : {0, 1}) {
        const auto [row, column] = held(lane, half, f.trans);
        EXPECT_EQ(get(memory.out, (lane * f.count + i) * 4 + half * 2, 2),
                  get(setup.in1, chunk(i * 8 + row) * 16 + column * 2, 2))
            << "lane " << lane << " matrix " << i << " half " << half;
      }
}

void store(const Move &f) {
  Setup setup;
  setup.in0 = numbers(32 * f.count, 2);
  setup.in1.assign(256, 0xeeeeeeee);
  setup.out.resize(256);
  std::string body = ".reg .b32 m<4>;\n" + fillShared(1024) + address;
  for (unsigned i = 0; i < f.count; ++i)
    body += "mad.lo.u32 %r6, %r0, " + std::to_string(f.count) + ", " +
            std::to_string(i) +
            ";\nmad.wide.u32 %d6, %r6, 4, %d1;\nld.global.b32 m" +
            std::to_string(i) + ", [%d6];\n";
  body += f.name("stmatrix") + " " + f.pointer() + ", " + list("m", f.count) +
          ";\n" + dumpShared(1024);
  Words expected = setup.in1;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < f.count; ++i)
      for (unsigned half : {0, 1}) {
        const auto [row, column] = held(lane, half, f.trans);
        put(expected, chunk(i * 8 + row) * 16 + column * 2,
            get(setup.in0, (lane * f.count + i) * 4 + half * 2, 2), 2);
      }
  EXPECT_EQ(launch(body, setup).out, expected);
}

} // namespace

FORMS(matrixMove) {
  for (unsigned count : {1, 2, 4})
    for (bool trans : {false, true})
      for (bool countFirst : {false, true})
        for (const char *space : {"", ".shared", ".shared::cta"}) {
          const Move f{count, trans, countFirst, space};
          form(f.name("ldmatrix"), [=] { load(f); });
          form(f.name("stmatrix"), [=] { store(f); });
        }
  form("movmatrix.sync.aligned.m8n8.trans.b16", [] {
    const Words in = numbers(32, 3);
    std::vector<uint64_t> wide(in.begin(), in.end());
    const std::vector<uint64_t> got = runThreads(
        R"(.reg .b64 at; .reg .b32 a, d;
  mad.wide.u32 at, %t, 8, %p0;
  ld.global.b32 a, [at];
  movmatrix.sync.aligned.m8n8.trans.b16 d, a;
  st.global.b32 [%out], d;)",
        32, wide);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned half : {0, 1}) {
        // Element (row, column) of the result is (column, row) of the source.
        const unsigned row = lane % 4 * 2 + half, column = lane / 4;
        EXPECT_EQ(got[lane] >> 16 * half & 0xffff,
                  get(in, (row * 4 + column / 2) * 4 + column % 2 * 2, 2))
            << "lane " << lane << " half " << half;
      }
  });
}
