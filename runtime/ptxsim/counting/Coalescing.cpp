#include "runtime/ptxsim/counting/Coalescing.h"

#include "runtime/ptxsim/counting/SectorCache.h"

#include <algorithm>
#include <bit>

using namespace ptxsim;

namespace {

constexpr unsigned banks = 32, bankBytes = 4;

template <class F> void forBits(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1)
    f(unsigned(std::countr_zero(mask)));
}

/// One pass of some lanes: how often it is repeated.
unsigned repeats(const uint64_t *at, uint32_t mask, uint32_t bytes,
                 bool sameCounts) {
  uint64_t words[32 * 4];
  unsigned n = 0, most = 0;
  uint8_t count[banks] = {};
  const unsigned perLane = std::max(1u, bytes / bankBytes);
  forBits(mask, [&](unsigned l) {
    for (unsigned i = 0; i < perLane; ++i) {
      const uint64_t word = at[l] / bankBytes + i;
      if (!sameCounts && std::find(words, words + n, word) != words + n)
        continue;
      words[n++] = word;
      most = std::max<unsigned>(most, ++count[word % banks]);
    }
  });
  return most;
}

Wavefronts passes(const uint64_t *at, uint32_t mask, unsigned lanes,
                  uint32_t bytes, bool sameCounts) {
  Wavefronts w;
  for (unsigned first = 0; first < 32; first += lanes) {
    const uint32_t part =
        lanes == 32 ? mask : mask & ((1u << lanes) - 1) << first;
    if (!part)
      continue;
    w.ideal += 1;
    w.all += repeats(at, part, bytes, sameCounts);
  }
  return w;
}

unsigned lanesOfPass(uint32_t bytes) {
  return bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
}

} // namespace

SectorList::SectorList(const uint64_t *at, uint32_t mask, uint32_t bytes,
                       uint64_t base) {
  forBits(mask, [&](unsigned l) {
    const uint64_t first = (at[l] - base) / sectorBytes,
                   last = (at[l] - base + bytes - 1) / sectorBytes;
    for (uint64_t s = first; s <= last; ++s) {
      // Neighbours mostly share a sector with the lane before.
      if (count && sectors[count - 1] == s)
        continue;
      if (std::find(sectors, sectors + count, s) == sectors + count)
        sectors[count++] = s;
    }
  });
}

Wavefronts ptxsim::bankPasses(const uint64_t *at, uint32_t mask,
                              uint32_t bytes) {
  return passes(at, mask, lanesOfPass(bytes), bytes, false);
}

Wavefronts ptxsim::atomicPasses(const uint64_t *at, uint32_t mask,
                                uint32_t bytes) {
  return passes(at, mask, lanesOfPass(bytes), bytes, true);
}

Wavefronts ptxsim::matrixPasses(const uint64_t *at, uint32_t mask) {
  return passes(at, mask, 8, 16, false);
}

unsigned ptxsim::sameAddress(const uint64_t *at, uint32_t mask) {
  unsigned n = 0;
  forBits(mask, [&](unsigned l) {
    bool seen = false;
    forBits(mask & ((1u << l) - 1),
            [&](unsigned k) { seen |= at[k] == at[l]; });
    n += seen;
  });
  return n;
}
