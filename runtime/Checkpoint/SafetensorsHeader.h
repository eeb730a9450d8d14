//===- SafetensorsHeader.h - The header of a safetensors file ---*- C++ -*-===//
//
// A file is: u64 little-endian header length N, N bytes of JSON, data. The JSON
// maps tensor names to {"dtype", "shape", "data_offsets": [begin, end]};
// `__metadata__` maps strings to strings. Rules held here, each with an error
// of its own: N is 1 .. 100 MB and inside the file; no name twice; types known;
// dimensions non-negative and their product representable; end - begin is the
// size of the tensor; the tensors cover the data without overlap or hole.
// Leading and trailing spaces, any order of names and unaligned data are legal.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_CHECKPOINT_SAFETENSORSHEADER_H
#define RUNTIME_CHECKPOINT_SAFETENSORSHEADER_H

#include "runtime/Checkpoint/DType.h"

#include <span>

namespace k2rt {

struct TensorEntry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t begin; ///< from the start of the data part
  uint64_t end;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors; ///< by ascending `begin`
  size_t dataStart = 0;             ///< 8 + N
};

/// Parses and checks the header of `file`, the bytes of the whole file. `path`
/// is for messages only.
Expected<SafetensorsHeader>
parseSafetensorsHeader(std::span<const std::byte> file,
                       const std::string &path);

} // namespace k2rt

#endif // RUNTIME_CHECKPOINT_SAFETENSORSHEADER_H
