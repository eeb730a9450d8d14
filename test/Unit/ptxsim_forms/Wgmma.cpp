// wgmma.mma_async: products of small integers, exact in every format, against
// sums of 64-bit integers; A from shared memory and from registers, both
// majors, all swizzles, signs and scale-d. Matrices in shared memory follow the
// ISA's canonical layouts ("Strides", "Matrix Descriptor"); fragments of A are
// those of mma, of D those of the figure for m64nNk16. Over all forms every n
// occurs.

#include "test/Unit/ptxsim_forms/Machine.h"
#include "test/Unit/ptxsim_forms/Numbers.h"
#include "test/Unit/ptxsim_tensor/Fragments.h"

using namespace ptxsim::forms;
using fragments::Place;

namespace {

/// A or B in shared memory, which is aligned to 1024 bytes: x counts along M or
/// N, y along K, both in bytes where they are contiguous.
struct Operand {
  unsigned start;          ///< of the array, from the first byte of all
  unsigned swizzle = 3;    ///< 0 none, else spans of 16 << swizzle bytes
  bool transposed = false; ///< contiguous along M or N
  unsigned step = 0;       ///< K-major: how many k-steps into the span
  unsigned span() const { return 16u << swizzle; }
  unsigned leading() const { return swizzle ? 16 * span() : 128; }
  unsigned stride() const { return swizzle ? 8 * span() : 256; }
  unsigned begin() const { return start + 32 * step; }
  unsigned at(unsigned x, unsigned y, unsigned bytes) const {
    unsigned offset;
    if (!transposed) { // rows of 32 bytes
      const unsigned b = y * bytes;
      offset =
          swizzle ? x % 8 * span() + x / 8 * stride() + b
                  : x % 8 * 16 + x / 8 * stride() + b / 16 * leading() + b % 16;
    } else {
      const unsigned b = x * bytes;
      offset =
          swizzle ? b % span() + b / span() * leading() + y % 8 * span() +
                        y / 8 * stride()
                  : b % 16 + b / 16 * stride() + y % 8 * 16 + y / 8 * leading();
    }
    const unsigned address = begin() + offset, mask = (1u << swizzle) - 1;
    return address ^ (address >> 7 & mask) << 4;
  }
  /// The descriptor, without the address of shared memory.
  uint64_t descriptor() const {
    const uint64_t modes[] = {0, 3, 2, 1};
    return begin() >> 4 | uint64_t(leading() >> 4) << 16 |
           uint64_t(stride() >> 4) << 32 | modes[swizzle] << 62;
  }
};

struct Types {
  std::string d, a, b;
  bool saturates = false;
  unsigned k() const { return 32 / bytesOf(a); }
  std::string name(const std::string &n) const {
    return "wgmma.mma_async.sync.aligned.m64n" + n + "k" + std::to_string(k()) +
           (saturates ? ".satfinite." : ".") + d + "." + a + "." + b;
  }
};

struct Case {
  unsigned n;
  Operand a, b;
  bool registersA = false;
  int signA = 1, signB = 1;
  bool adds = true; ///< scale-d
};

/// Where a thread's element i of D lies.
Place placeD(unsigned thread, unsigned i) {
  const unsigned lane = thread % 32;
  return {thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8,
          i / 4 * 8 + lane % 4 * 2 + i % 2};
}

Place placeA(unsigned thread, unsigned i, unsigned bytes) {
  const unsigned lane = thread % 32;
  Place p = bytes == 1   ? fragments::a8(lane, i)
            : bytes == 2 ? fragments::a16(lane, i)
                         : fragments::a32(lane, i);
  p.row += thread / 32 * 16;
  return p;
}

void multiply(const Types &f, const Case &c) {
  const unsigned k = f.k(), bytes = bytesOf(f.a), bytesD = bytesOf(f.d),
                 registers = c.n / 2 * bytesD / 4,
                 record = registers + 4; // D, A
  std::mt19937 random(c.n);
  std::vector<int> A(64 * k), B(k * c.n);
  std::vector<int64_t> D(64 * c.n);
  for (int &v : A)
    v = pick(f.a, f.d, random);
  for (int &v : B)
    v = pick(f.b, f.d, random);
  for (int64_t &v : D)
    v = pickStart(f.d, random);
  Setup setup;
  setup.threads = 128;
  setup.in0.resize(128 * record);
  setup.in1.resize(16384);
  unsigned last = 0;
  auto write = [&](const Operand &o, unsigned x, unsigned y, uint64_t bits) {
    const unsigned at = o.at(x, y, bytes);
    put(setup.in1, at, bits, bytes);
    last = std::max(last, at);
  };
  for (unsigned y = 0; y < k; ++y) {
    if (!c.registersA)
      for (unsigned x = 0; x < 64; ++x)
        write(c.a, x, y, encode(f.a, A[x * k + y]));
    for (unsigned x = 0; x < c.n; ++x)
      write(c.b, x, y, encode(f.b, B[y * c.n + x]));
  }
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned i = 0; i < c.n / 2; ++i) {
      const Place p = placeD(thread, i);
      put(setup.in0, thread * record * 4 + i * bytesD,
          encode(f.d, D[p.row * c.n + p.column]), bytesD);
    }
    for (unsigned i = 0; i < 16 / bytes; ++i) {
      const Place p = placeA(thread, i, bytes);
      put(setup.in0, (thread * record + registers) * 4 + i * bytes,
          encode(f.a, A[p.row * k + p.column]), bytes);
    }
  }
  setup.out.resize(128 * registers);
  const std::string size = std::to_string(record * 4);
  std::string body = ".reg .b32 d<128>, a<4>;\n.reg .pred adds;\n" +
                     fillShared((last + 16) / 16 * 16, 128) +
                     "mad.wide.u32 %d5, %r0, " + size + ", %d1;\n";
  for (unsigned i = 0; i < registers; ++i)
    body += "ld.global.b32 d" + std::to_string(i) + ", [%d5+" +
            std::to_string(i * 4) + "];\n";
  for (unsigned i = 0; i < 4; ++i)
    body += "ld.global.b32 a" + std::to_string(i) + ", [%d5+" +
            std::to_string((registers + i) * 4) + "];\n";
  body += "shr.u32 %r4, %r1, 4;\ncvt.u64.u32 %d6, %r4;\nadd.u64 %d10, %d6, " +
          std::to_string(c.a.descriptor()) + ";\nadd.u64 %d11, %d6, " +
          std::to_string(c.b.descriptor()) + ";\nsetp.ge.u32 adds, %r0, " +
          (c.adds ? "0" : "128") + ";\nwgmma.fence.sync.aligned;\n" +
          f.name(std::to_string(c.n)) + " " + list("d", registers) + ", " +
          (c.registersA ? list("a", 4) : "%d10") + ", %d11, adds";
  if (f.d != "s32")
    body += ", " + std::to_string(c.signA) + ", " + std::to_string(c.signB);
  if (bytes == 2) {
    if (!c.registersA)
      body += c.a.transposed ? ", 1" : ", 0";
    body += c.b.transposed ? ", 1" : ", 0";
  }
  body += ";\nwgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\nmad.wide.u32 %d7, %r0, " +
          std::to_string(registers * 4) + ", %d0;\n";
  for (unsigned i = 0; i < registers; ++i)
    body += "st.global.b32 [%d7+" + std::to_string(i * 4) + "], d" +
            std::to_string(i) + ";\n";
  Words expected = setup.out;
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < c.n / 2; ++i) {
      const Place p = placeD(thread, i);
      int64_t sum = 0;
      for (unsigned y = 0; y < k; ++y)
        sum += int64_t(A[p.row * k + y]) * B[y * c.n + p.column];
      sum *= c.signA * c.signB;
      if (c.adds)
        sum += D[p.row * c.n + p.column];
      put(expected, thread * registers * 4 + i * bytesD,
          encode(f.d, f.d == "s32" ? fit(sum, f.saturates) : sum), bytesD);
    }
  const Words got = launch(body, setup).out;
  EXPECT_TRUE(got == expected)
      << f.name(std::to_string(c.n)) << ": swizzles " << c.a.swizzle << " and "
      << c.b.swizzle << ", transposed " << c.a.transposed << " and "
      << c.b.transposed << ", A in registers " << c.registersA;
}

const unsigned behindA = 8192; ///< where B begins

/// The cases of one form; `number` makes those of different forms differ in n.
std::vector<Case> cases(const Types &f, unsigned number) {
  // n: all multiples of 8; of s32 8, 24 and the multiples of 16.
  auto n = [&](unsigned i) {
    const unsigned x = (number * 5 + i * 7) % 32 * 8 + 8;
    return f.d != "s32" || x == 8 || x == 24 || x % 16 == 0 ? x : x - 8;
  };
  std::vector<Case> all;
  // Swizzles of A and B differ; k-steps inside the span where there are some.
  for (unsigned s = 0; s < 4; ++s) {
    const unsigned t = 3 - s;
    all.push_back({n(s),
                   {0, s, false, s == 3 ? 2u : 0},
                   {behindA, t, false,
                    t == 3   ? 3u
                    : t == 2 ? 1u
                             : 0}});
  }
  all.push_back({n(4), {0}, {behindA}, true});
  all.push_back({8, {0}, {behindA}, false, 1, 1, false});
  if (f.d != "s32") {
    all.push_back({n(5), {0}, {behindA}, false, -1, 1});
    all.push_back({16, {0}, {behindA}, true, 1, -1});
    all.push_back({24, {0}, {behindA}, false, -1, -1});
  }
  if (bytesOf(f.a) == 2) {
    for (unsigned s = 0; s < 4; ++s) {
      all.push_back({n(6 + s), {0, s, true}, {behindA, 3 - s, false}});
      all.push_back({n(10 + s), {0, s, false}, {behindA, 3 - s, true}});
      all.push_back({n(14 + s), {0, s, true}, {behindA, s, true}});
    }
    all.push_back({n(18), {0}, {behindA, 3, true}, true});
  }
  return all;
}

/// Two products of ones by ones, each in a group of its own, k = 16 into
/// d0..d3 and e0..e3; `between` and `behind` follow them.
void groups(const std::string &before, const std::string &between,
            const std::string &behind, const std::string &last) {
  Setup setup;
  setup.threads = 128;
  setup.options = lazily();
  setup.in1.assign(2048, 0x3f803f80); // bf16
  setup.out.resize(256);
  std::string body = ".reg .f32 d<4>, e<4>;\n" + fillShared(8192, 128) +
                     "shr.u32 %r4, %r1, 4;\ncvt.u64.u32 %d6, %r4;\n"
                     "add.u64 %d10, %d6, 0x4000004000010000;\n"
                     "mad.wide.u32 %d7, %r0, 8, %d0;\n";
  for (const char *name : {"d", "e"})
    for (unsigned i = 0; i < 4; ++i)
      body += "mov.f32 " + (name + std::to_string(i)) + ", 0f3f800000;\n";
  const std::string mma =
                        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 ",
                    rest = ", %d10, %d10, 1, 1, 1, 0, 0;\n";
  body += before + mma + list("d", 4) + rest + between + mma + list("e", 4) +
          rest + behind + "st.global.f32 [%d7], d1;\n" + last +
          "st.global.f32 [%d7+4], e2;\n";
  const Words got = launch(body, setup).out;
  for (uint32_t word : got)
    ASSERT_EQ(word, encode("f32", 17));
}

} // namespace

FORMS(wgmma) {
  std::vector<Types> all = {{"f32", "bf16", "bf16"},
                            {"f32", "f16", "f16"},
                            {"f16", "f16", "f16"},
                            {"f32", "tf32", "tf32"}};
  for (const char *d : {"f32", "f16"})
    for (const char *a : {"e4m3", "e5m2"})
      for (const char *b : {"e4m3", "e5m2"})
        all.push_back({d, a, b});
  for (const char *a : {"s8", "u8"})
    for (const char *b : {"s8", "u8"})
      for (bool saturates : {false, true})
        all.push_back({"s32", a, b, saturates});
  unsigned number = 0;
  for (const Types &f : all) {
    form(f.name("N"), [=] {
      for (const Case &c : cases(f, number))
        multiply(f, c);
    });
    ++number;
  }
  // What orders them: without the fence the accumulators' writes are not
  // ordered before, without commit and wait D may not be read (checks).
  const std::string fence = "wgmma.fence.sync.aligned;\n",
                    commit = "wgmma.commit_group.sync.aligned;\n",
                    wait = "wgmma.wait_group.sync.aligned ";
  for (const char *name :
       {"wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned",
        "wgmma.wait_group.sync.aligned"})
    form(name, [=] {
      groups(fence, commit, commit + wait + "1;\n", wait + "0;\n");
      groups(fence, "", commit + wait + "0;\n", "");
    });
}
