// mma in the numerics modes of hardware: see BlockSum.h. Where elements live in
// the fragments: see Mma.cpp.

#include "runtime/ptxsim/numeric/BlockSum.h"
#include "runtime/ptxsim/numeric/Element.h"

using namespace ptxsim;

namespace {

bool isFp8(MmaElement e) {
  return e == MmaElement::E4M3 || e == MmaElement::E5M2;
}

/// Hopper has no fp8 mma, only wgmma: ptxas widens the factors to f16 and makes
/// two products of f16 of it, the first of the elements 0 and 1 of each
/// register, the second of 2 and 3. They start from zero; C is added at the
/// end, with one rounding to nearest even.
struct Halves {
  unsigned k;
  BlockColumns columns[2];
  float rows[2][16][BlockColumns::most / 2];

  void set(unsigned at, unsigned row, unsigned n, float a, float aBelow,
           float b) {
    const unsigned half = at / 2 % 2, x = at / 4 * 2 + at % 2;
    rows[half][row][x] = a, rows[half][row + 8][x] = aBelow;
    columns[half].value[x][n] = b;
  }
  void finish(const BlockModel &f16) {
    for (BlockColumns &c : columns)
      c.finish(k / 2, f16.leastB);
  }
  void add(const BlockModel &f16, unsigned row, float *c) const {
    float sum[8] = {};
    for (unsigned half = 0; half < 2; ++half)
      addBlocks(f16, rows[half][row], columns[half], k / 2, sum);
    for (unsigned n = 0; n < 8; ++n)
      c[n] += sum[n]; // of f16 exact but for the last rounding, in the caller
  }
};

} // namespace

void ptxsim::mmaBlocks(const MmaShape &s, Numerics mode, uint32_t *const *d,
                       const uint32_t *const *a, const uint32_t *const *b,
                       const uint32_t *const *c) {
  const bool fp8 = isFp8(s.a);
  const BlockModel model = fp8 ? blockModel(Numerics::H100, MmaElement::F16,
                                            MmaElement::F16, s.accumulator)
                               : blockModel(mode, s.a, s.b, s.accumulator);
  const unsigned E = s.elementsPerRegister();
  auto element = [](MmaElement type, uint32_t word, unsigned e) {
    return floatElement(type, reinterpret_cast<const uint8_t *>(&word), e);
  };
  BlockColumns columns;
  Halves halves;
  halves.k = s.k;
  float rows[16][BlockColumns::most], sums[16][8];
  for (unsigned r = 0; r < s.bRegisters(); ++r)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned e = 0; e < E; ++e) {
        const unsigned g = lane / 4, k = 4 * E * r + E * (lane % 4) + e;
        const float x = element(s.a, a[2 * r][lane], e),
                    below = element(s.a, a[2 * r + 1][lane], e),
                    y = element(s.b, b[r][lane], e);
        if (fp8) {
          halves.set(k, g, g, x, below, y);
          continue;
        }
        columns.value[k][g] = y;
        rows[g][k] = x, rows[g + 8][k] = below;
      }
  fp8 ? halves.finish(model) : columns.finish(s.k, model.leastB);
  const bool half = s.accumulator == MmaAccumulator::F16;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned n = 0; n < 8; ++n) {
      const unsigned lane = row % 8 * 4 + n / 2;
      sums[row][n] =
          half ? HalfF16::widen(uint16_t(c[row / 8][lane] >> n % 2 * 16))
               : std::bit_cast<float>(c[row / 8 * 2 + n % 2][lane]);
    }
  for (unsigned row = 0; row < 16; ++row)
    fp8 ? halves.add(model, row, sums[row])
        : addBlocks(model, rows[row], columns, s.k, sums[row]);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned n = 0; n < 8; n += 2) {
      const unsigned lane = row % 8 * 4 + n / 2;
      const float even = sums[row][n], odd = sums[row][n + 1];
      if (half) {
        d[row / 8][lane] = uint32_t(HalfF16::narrow(odd)) << 16 |
                           uint32_t(HalfF16::narrow(even));
        continue;
      }
      auto bits = [](float x) {
        return x == x ? std::bit_cast<uint32_t>(x) : 0x7fffffffu;
      };
      d[row / 8 * 2][lane] = bits(even);
      d[row / 8 * 2 + 1][lane] = bits(odd);
    }
}
