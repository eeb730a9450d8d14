// wgmma descriptors against the address of every element, by the ISA's
// canonical layouts.
#include "test/Unit/Layout/Catalogue.h"

#include <gtest/gtest.h>

using namespace k2c::tile;
using namespace k2c::tile::test;

namespace {
/// What the tensor core reads for element (mn, k) of one instruction, from the
/// 64 descriptor bits alone.
uint64_t operandAddress(uint64_t word, WgmmaDescriptor::Major major,
                        unsigned elem, uint64_t mn, uint64_t k) {
  uint64_t start = (word & 0x3FFF) << 4, lbo = (word >> 16 & 0x3FFF) << 4,
           sbo = (word >> 32 & 0x3FFF) << 4;
  unsigned swizzle = (unsigned[]){0, 128, 64, 32}[word >> 62];
  uint64_t t = 16 / elem, w = swizzle ? swizzle / 16 : 1, a;
  if (major == WgmmaDescriptor::K)
    a = mn % 8 * 16 * w + mn / 8 * sbo + k % t * elem +
        k / t * (swizzle ? 16 : lbo);
  else if (swizzle)
    a = mn % (t * w) * elem + mn / (t * w) * lbo + k % 8 * 16 * w + k / 8 * sbo;
  else
    a = mn % t * elem + mn / t * sbo + k % 8 * 16 + k / 8 * lbo;
  return swizzleBytes(start + a, swizzle);
}

/// Every element of every k-step and 64-row block.
void whole(const SharedMap &s, WgmmaDescriptor::Major major, int64_t mn,
           int64_t k, int64_t block = 64) {
  auto d = wgmmaDescriptor(s, major);
  ASSERT_TRUE(d);
  bool kMajor = major == WgmmaDescriptor::K;
  int64_t step = 32 / s.elemBytes();
  for (uint64_t base : {0, 4096})
    for (int64_t st = 0; st < k / step; ++st)
      for (int64_t b = 0; b < mn; b += block) {
        uint64_t off =
            swizzleBytes(kMajor ? s.offset(b, 0) : s.offset(0, b), s.swizzle());
        uint64_t word = d->encode(base) + d->kSteps[st] + (off >> 4);
        for (int64_t m = 0; m < std::min(block, mn); ++m)
          for (int64_t x = 0; x < step; ++x) {
            uint64_t want = base + (kMajor ? s.offset(b + m, st * step + x)
                                           : s.offset(st * step + x, b + m));
            ASSERT_EQ(operandAddress(word, major, s.elemBytes(), m, x), want);
          }
      }
}
} // namespace

TEST(Descriptor, KMajor) {
  whole(panels(128, 64, 2, 128), WgmmaDescriptor::K, 128, 64);
  whole(panels(128, 128, 1, 128), WgmmaDescriptor::K, 128, 128);
  whole(panels(64, 192, 2, 128), WgmmaDescriptor::K, 64, 192);
  whole(panels(192, 64, 2, 128), WgmmaDescriptor::K, 192, 64, 192);
  for (int n : {8, 16, 24})
    whole(panels(n, 64, 2, 128), WgmmaDescriptor::K, n, 64, n);
  for (unsigned swizzle : {32u, 64u})
    whole(panels(64, swizzle / 2, 2, swizzle), WgmmaDescriptor::K, 64,
          swizzle / 2);
  whole(panels(64, 64, 2, 0), WgmmaDescriptor::K, 64, 64);
}

TEST(Descriptor, MnMajor) {
  whole(panels(64, 128, 2, 128), WgmmaDescriptor::MN, 128, 64, 128);
  whole(panels(64, 512, 2, 128), WgmmaDescriptor::MN, 512, 64, 256);
  whole(panels(64, 192, 2, 128), WgmmaDescriptor::MN, 192, 64, 192);
  whole(panels(64, 64, 2, 64), WgmmaDescriptor::MN, 64, 64);
  whole(panels(64, 32, 2, 32), WgmmaDescriptor::MN, 32, 64);
  whole(panels(64, 64, 2, 0), WgmmaDescriptor::MN, 64, 64);
}

// One latent page: K-major for Q K^T and MN-major for P V.
TEST(Descriptor, LatentPageInBothRoles) {
  SharedMap page = panels(64, 576, 2, 128);
  whole(page, WgmmaDescriptor::K, 64, 576);
  whole(page, WgmmaDescriptor::MN, 512, 64, 256);
}

TEST(Descriptor, Refusals) {
  std::string why;
  EXPECT_FALSE(
      wgmmaDescriptor(panels(64, 64, 2, 0, 128), WgmmaDescriptor::K, &why));
  EXPECT_EQ(why, "not a canonical K-major layout for swizzle 0: 8 rows are not "
                 "16 bytes apart");
  EXPECT_FALSE(
      wgmmaDescriptor(panels(64, 64, 1, 64), WgmmaDescriptor::MN, &why));
  EXPECT_EQ(why, "not a canonical MN-major layout for swizzle 64: only 16-bit "
                 "types may be MN-major");
}
