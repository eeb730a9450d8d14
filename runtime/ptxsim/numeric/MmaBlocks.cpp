// mma in the numerics modes of hardware: see BlockSum.h. Where elements live in
// the fragments: see Mma.cpp.

#include "runtime/ptxsim/numeric/BlockSum.h"
#include "runtime/ptxsim/numeric/Element.h"

using namespace ptxsim;

void ptxsim::mmaBlocks(const MmaShape &s, Numerics mode, uint32_t *const *d,
                       const uint32_t *const *a, const uint32_t *const *b,
                       const uint32_t *const *c) {
  const BlockModel model = blockModel(mode, s.a, s.b, s.accumulator);
  const unsigned E = s.elementsPerRegister();
  auto element = [](MmaElement type, uint32_t word, unsigned e) {
    return floatElement(type, reinterpret_cast<const uint8_t *>(&word), e);
  };
  BlockColumns columns;
  float rows[16][BlockColumns::most], sums[16][8];
  for (unsigned r = 0; r < s.bRegisters(); ++r)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned e = 0; e < E; ++e) {
        const unsigned g = lane / 4, k = 4 * E * r + E * (lane % 4) + e;
        columns.value[k][g] = element(s.b, b[r][lane], e);
        rows[g][k] = element(s.a, a[2 * r][lane], e);
        rows[g + 8][k] = element(s.a, a[2 * r + 1][lane], e);
      }
  columns.finish(s.k, model.leastB);
  const bool half = s.accumulator == MmaAccumulator::F16;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned n = 0; n < 8; ++n) {
      const unsigned lane = row % 8 * 4 + n / 2;
      sums[row][n] =
          half ? HalfF16::widen(uint16_t(c[row / 8][lane] >> n % 2 * 16))
               : std::bit_cast<float>(c[row / 8 * 2 + n % 2][lane]);
    }
  for (unsigned row = 0; row < 16; ++row)
    addBlocks(model, rows[row], columns, s.k, sums[row]);
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
