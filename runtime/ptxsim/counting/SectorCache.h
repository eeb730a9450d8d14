#ifndef RUNTIME_PTXSIM_COUNTING_SECTORCACHE_H
#define RUNTIME_PTXSIM_COUNTING_SECTORCACHE_H

#include <cstdint>
#include <vector>

namespace ptxsim {

constexpr uint64_t sectorBytes = 32, lineBytes = 128;

/// A set-associative cache of 128-byte lines with four sectors each: least
/// recently used lines go first, written sectors are written back when their
/// line goes. Set = line number modulo the number of sets.
class SectorCache {
public:
  /// No cache at all if it has not a single set of `ways` lines.
  SectorCache(uint64_t bytes, unsigned ways);

  struct Result {
    bool hit = false;
    unsigned writtenBack = 0; ///< sectors
  };
  /// Sector number `sector`: a read brings it in, a write marks it.
  Result read(uint64_t sector) { return access(sector, false); }
  Result write(uint64_t sector) { return access(sector, true); }
  /// Read only what is there: no line is brought in.
  bool holds(uint64_t sector) const;
  /// Writes everything back that is marked; returns the number of sectors.
  uint64_t flush();
  void clear();

private:
  struct Line {
    uint64_t number = ~0ull;
    uint64_t used = 0;
    uint8_t valid = 0, dirty = 0; ///< bit per sector
  };
  Result access(uint64_t sector, bool writes);

  unsigned ways;
  uint64_t sets, now = 0;
  std::vector<Line> lines; ///< [set][way]
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_COUNTING_SECTORCACHE_H
