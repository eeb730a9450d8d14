#include "runtime/ptxsim/counting/SectorCache.h"

#include <algorithm>
#include <bit>

using namespace ptxsim;

namespace {
constexpr unsigned sectorsOfLine = lineBytes / sectorBytes;
}

SectorCache::SectorCache(uint64_t bytes, unsigned ways)
    : ways(ways), sets(bytes / lineBytes / ways), lines(sets * ways) {}

SectorCache::Result SectorCache::access(uint64_t sector, bool writes) {
  Result result;
  if (!sets) {
    result.writtenBack = writes;
    return result;
  }
  const uint64_t number = sector / sectorsOfLine;
  const uint8_t bit = uint8_t(1u << sector % sectorsOfLine);
  Line *set = lines.data() + number % sets * ways, *oldest = set;
  for (Line *l = set; l < set + ways; ++l) {
    if (l->number == number) {
      l->used = ++now;
      result.hit = l->valid & bit;
      l->valid |= bit;
      l->dirty |= writes ? bit : uint8_t(0);
      return result;
    }
    if (l->used < oldest->used)
      oldest = l;
  }
  result.writtenBack = unsigned(std::popcount(oldest->dirty));
  *oldest = {number, ++now, bit, writes ? bit : uint8_t(0)};
  return result;
}

bool SectorCache::holds(uint64_t sector) const {
  if (!sets)
    return false;
  const uint64_t number = sector / sectorsOfLine;
  const Line *set = lines.data() + number % sets * ways;
  for (const Line *l = set; l < set + ways; ++l)
    if (l->number == number)
      return l->valid >> sector % sectorsOfLine & 1;
  return false;
}

uint64_t SectorCache::flush() {
  uint64_t sectors = 0;
  for (Line &l : lines) {
    sectors += unsigned(std::popcount(l.dirty));
    l.dirty = 0;
  }
  return sectors;
}

void SectorCache::clear() { std::fill(lines.begin(), lines.end(), Line()); }
