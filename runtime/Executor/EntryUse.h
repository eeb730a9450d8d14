//===- EntryUse.h - What the commands of an entry need ----------*- C++ -*-===//
#ifndef RUNTIME_EXECUTOR_ENTRYUSE_H
#define RUNTIME_EXECUTOR_ENTRYUSE_H

#include "runtime/Artifact/Manifest.h"

#include <set>

namespace k2rt {

/// Positions in the manifest of what commands name.
struct EntryUse {
  std::set<int> params, buffers, kernels;
};
EntryUse collectUse(const Manifest &manifest,
                    const std::vector<Command> &commands);

/// An entry in two parts: layers with what is before them, and what follows the
/// last of them, which needs `x` only.
struct EntryParts {
  std::vector<Command> body, head;
};

/// Splits entry `model`; `stack` has no head of its own: it takes that of the
/// artifact (entry `head`, or the end of `model`) if `withHead`.
Expected<EntryParts> splitEntry(const Manifest &manifest,
                                const std::string &entry, bool withHead);

/// Every buffer of class input must be an array that the runtime fills, of its
/// element type; the cache must have the pages of the model.
Status checkBuffers(const Manifest &manifest, const std::set<int> &used);

} // namespace k2rt

#endif // RUNTIME_EXECUTOR_ENTRYUSE_H
