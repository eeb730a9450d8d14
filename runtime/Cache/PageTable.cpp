//===- PageTable.cpp - Which pages of the cache a sequence has ------------===//
#include "runtime/Cache/PageTable.h"

#include <algorithm>

namespace k2rt {

PageTable::PageTable(const std::vector<int64_t> &capacities, int64_t pageSize)
    : pageSize_(pageSize), capacities_(capacities), lengths_(capacities.size()),
      table_(capacities.size()) {
  for (int64_t capacity : capacities)
    pages_ += (capacity + pageSize - 1) / pageSize;
}

Status PageTable::canAppend(const std::vector<int64_t> &counts) const {
  if (counts.size() != lengths_.size())
    return Status::input(
        "expected new tokens of " + std::to_string(lengths_.size()) +
        " sequences, but got " + std::to_string(counts.size()));
  for (size_t b = 0; b < counts.size(); ++b)
    if (counts[b] < 0 || counts[b] > capacities_[b] - lengths_[b])
      return Status::input(
          "sequence " + std::to_string(b) + ": expected at most " +
          std::to_string(capacities_[b]) + " tokens in the cache, but got " +
          std::to_string(lengths_[b]) + " and " + std::to_string(counts[b]) +
          " more");
  return Status();
}

Expected<std::vector<int32_t>>
PageTable::append(const std::vector<int64_t> &counts) {
  if (Status s = canAppend(counts); s.failed())
    return s;
  std::vector<int32_t> slots;
  for (size_t b = 0; b < counts.size(); ++b)
    for (int64_t i = 0; i < counts[b]; ++i) {
      int64_t at = lengths_[b]++;
      if (at % pageSize_ == 0)
        table_[b].push_back(static_cast<int32_t>(next_++));
      slots.push_back(
          static_cast<int32_t>(table_[b].back() * pageSize_ + at % pageSize_));
    }
  return slots;
}

} // namespace k2rt
