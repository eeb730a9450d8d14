//===- PageTable.h - Which pages of the cache a sequence has ----*- C++ -*-===//
#ifndef RUNTIME_CACHE_PAGETABLE_H
#define RUNTIME_CACHE_PAGETABLE_H

#include "k2rt/Status.h"

#include <cstdint>
#include <vector>

namespace k2rt {

/// Hands out pages of a paged cache to sequences that grow token by token.
/// Pages are taken in the order in which sequences need them, so that those of
/// one sequence are in general not neighbours.
class PageTable {
public:
  /// Room for `capacities[b]` tokens of sequence b.
  PageTable(const std::vector<int64_t> &capacities, int64_t pageSize);

  int64_t sequences() const { return static_cast<int64_t>(lengths_.size()); }
  int64_t pageSize() const { return pageSize_; }
  /// All pages there are.
  int64_t pages() const { return pages_; }
  /// Tokens of a sequence that are cached.
  int64_t length(int64_t sequence) const { return lengths_[sequence]; }
  const std::vector<int32_t> &pagesOf(int64_t sequence) const {
    return table_[sequence];
  }

  /// An error if a sequence would outgrow its capacity; nothing is changed.
  Status canAppend(const std::vector<int64_t> &counts) const;
  /// Takes room for counts[b] more tokens of every sequence b. Returns the slot
  /// (page * page size + offset) of each, sequence by sequence.
  Expected<std::vector<int32_t>> append(const std::vector<int64_t> &counts);

private:
  int64_t pageSize_, pages_ = 0, next_ = 0;
  std::vector<int64_t> capacities_, lengths_;
  std::vector<std::vector<int32_t>> table_;
};

} // namespace k2rt

#endif // RUNTIME_CACHE_PAGETABLE_H
