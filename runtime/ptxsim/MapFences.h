#ifndef RUNTIME_PTXSIM_MAPFENCES_H
#define RUNTIME_PTXSIM_MAPFENCES_H

#include <cstdint>
#include <unordered_map>

namespace ptxsim {

class Warp;
struct Op;

/// Tensor maps in global memory that a cluster has made itself: who uses one
/// needs a fence.proxy.tensormap::generic.acquire of it, and who made it the
/// release (which tensormap.cp_fenceproxy contains).
class MapFences {
public:
  void clear() { maps.clear(); }
  void made(const Warp &w, const Op &op, uint64_t address, bool isReleased);
  void release() {
    for (auto &[address, map] : maps)
      map.isReleased = true;
  }
  void acquire(const Warp &w, uint64_t address);
  /// A bulk tensor copy uses the map.
  void check(Warp &w, const Op &op, unsigned lane, uint64_t address) const;

private:
  struct Map {
    const Op *by;
    bool isReleased;
    uint32_t acquired; ///< by rank of CTA
  };
  std::unordered_map<uint64_t, Map> maps;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MAPFENCES_H
