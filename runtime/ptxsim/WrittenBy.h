#ifndef RUNTIME_PTXSIM_WRITTENBY_H
#define RUNTIME_PTXSIM_WRITTENBY_H

#include <cstdint>

namespace ptxsim {

/// The writes that a range of shared memory holds (Races): usually one or two
/// for a whole tile, so that others who read the range need not look again.
struct WrittenBy {
  static constexpr unsigned most = 4;
  struct Write {
    uint32_t stamp, info, cell;
  } writes[most];
  unsigned count = 0; ///< more than `most`: too many to be kept

  void add(uint32_t stamp, uint32_t info, uint32_t cell) {
    for (unsigned i = 0; i < count && i < most; ++i)
      if (writes[i].stamp == stamp && writes[i].info == info)
        return;
    if (count < most)
      writes[count] = {stamp, info, cell};
    count += count <= most;
  }
  bool isComplete() const { return count <= most; }
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_WRITTENBY_H
