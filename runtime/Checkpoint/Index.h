//===- Index.h - model.safetensors.index.json -------------------*- C++ -*-===//
#ifndef RUNTIME_CHECKPOINT_INDEX_H
#define RUNTIME_CHECKPOINT_INDEX_H

#include "k2rt/Status.h"

#include <map>
#include <vector>

namespace k2rt {

/// File name -> names of the tensors in it, of the index at `path`. The index
/// must have an object `weight_map` of strings, name no tensor twice, and name
/// files of its own folder only.
Expected<std::map<std::string, std::vector<std::string>>>
readIndex(const std::string &path);

} // namespace k2rt

#endif // RUNTIME_CHECKPOINT_INDEX_H
