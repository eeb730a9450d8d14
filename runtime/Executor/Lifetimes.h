//===- Lifetimes.h - When the buffers of an entry hold values ---*- C++ -*-===//
#ifndef RUNTIME_EXECUTOR_LIFETIMES_H
#define RUNTIME_EXECUTOR_LIFETIMES_H

#include "runtime/Artifact/Manifest.h"

#include <set>

namespace k2rt {

/// Positions of commands, counted through bodies, from the first to the last
/// at which a buffer's contents matter.
struct Lifetime {
  int64_t first = INT64_MAX, last = -1;

  bool meets(const Lifetime &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Lifetimes of all buffers of a manifest in an entry. Inside `layers` a value
/// lives through the whole body if it may be used before it is written there;
/// buffers in `kept` live from beginning to end.
std::vector<Lifetime> lifetimes(const Manifest &manifest,
                                const std::vector<Command> &entry,
                                const std::set<int> &kept);

/// Places blocks of `bytes[i]` so that blocks whose lifetimes meet do not
/// overlap. Gives offsets, multiples of `alignment`, and the size of it all.
struct ArenaPlan {
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
};
ArenaPlan planArena(const std::vector<uint64_t> &bytes,
                    const std::vector<Lifetime> &lifetimes,
                    uint64_t alignment = 256);

} // namespace k2rt

#endif // RUNTIME_EXECUTOR_LIFETIMES_H
