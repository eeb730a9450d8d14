//===- SafetensorsHeaderFuzz.cpp - Any bytes as a safetensors file --------===//
//
// Either an error that names the file, or a header whose tensors lie in it and
// are as large as their types say.
//
//===----------------------------------------------------------------------===//
#include "runtime/Checkpoint/SafetensorsHeader.h"

#include <cstdlib>

using namespace k2rt;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span file(reinterpret_cast<const std::byte *>(data), size);
  Expected<SafetensorsHeader> header = parseSafetensorsHeader(file, "f");
  if (!header) {
    require(header.status().message().starts_with("f: "));
    return 0;
  }
  require(header->dataStart <= size);
  uint64_t end = 0;
  for (const TensorEntry &tensor : header->tensors) {
    require(tensor.begin == end && tensor.begin <= tensor.end);
    end = tensor.end;
    std::optional<int64_t> count = elementCount(tensor.shape);
    require(count && static_cast<uint64_t>(*count) * dtypeSize(tensor.dtype) ==
                         tensor.end - tensor.begin);
  }
  require(end == size - header->dataStart);
  return 0;
}
