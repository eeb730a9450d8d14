#ifndef RUNTIME_PTXSIM_COUNTING_INFLIGHT_H
#define RUNTIME_PTXSIM_COUNTING_INFLIGHT_H

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

namespace ptxsim {

/// The most bytes from L2 that one CTA has asked for and not yet waited for. A
/// plain load is waited for by the first instruction that names its register, a
/// cp.async by wait_group, a bulk copy by a wait on its mbarrier. The warps'
/// own peaks are added up: warps are assumed to reach them together.
class InFlight {
public:
  /// For a new CTA; rows: 64-byte rows of the register file.
  void restart(size_t warps, size_t rows);

  /// Rows of registers that an instruction names.
  void use(unsigned warp, std::span<const uint32_t> rows);
  void load(unsigned warp, std::span<const uint32_t> rows, uint64_t bytes);

  void asyncLoad(unsigned warp, uint64_t bytes);
  void commit(unsigned warp);
  void wait(unsigned warp, uint64_t open);
  void waitAll(unsigned warp);
  /// cp.async.mbarrier.arrive: the warp's copies are waited for there.
  void moveTo(unsigned warp, uint32_t barrier);

  void bulkLoad(uint32_t barrier, uint64_t bytes);
  void passed(uint32_t barrier);

  uint64_t peak() const;

private:
  struct Load {
    std::vector<uint32_t> rows;
    uint64_t bytes;
  };
  struct OfWarp {
    std::deque<Load> loads;
    uint64_t loadBytes = 0;
    std::vector<uint32_t> pending; ///< loads under way into each row
    uint64_t open = 0;             ///< bytes of the group not yet closed
    std::deque<uint64_t> groups;
    uint64_t asyncBytes = 0;
    uint64_t peak = 0;
    void note();
  };
  std::vector<OfWarp> warps;
  std::unordered_map<uint32_t, uint64_t> barriers;
  uint64_t bulk = 0, bulkPeak = 0;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_COUNTING_INFLIGHT_H
