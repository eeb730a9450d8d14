//===- SafetensorsFile.h - One safetensors file -----------------*- C++ -*-===//
#ifndef RUNTIME_CHECKPOINT_SAFETENSORSFILE_H
#define RUNTIME_CHECKPOINT_SAFETENSORSFILE_H

#include "runtime/Checkpoint/DType.h"
#include "runtime/Checkpoint/MappedFile.h"

#include <memory>
#include <span>
#include <unordered_map>

namespace k2rt {

/// A tensor inside a mapped file. Its data may have any alignment: read it with
/// memcpy or the functions below.
struct TensorView {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
  const std::string *file; ///< path, owned by the file object

  int64_t elements() const { return *elementCount(shape); }
  std::string type() const { return typeString(dtype, shape); }
};

class SafetensorsFile {
public:
  static Expected<std::shared_ptr<SafetensorsFile>>
  open(const std::string &path);

  const std::string &path() const { return path_; }
  const std::vector<TensorView> &tensors() const { return tensors_; }
  const TensorView *find(const std::string &name) const;

private:
  explicit SafetensorsFile(MappedFile file) : file_(std::move(file)) {}

  std::string path_;
  MappedFile file_;
  std::vector<TensorView> tensors_;
  std::unordered_map<std::string, size_t> byName_;
};

/// All elements of a tensor widened to float32; an error names the tensor when
/// its type does not widen exactly.
Expected<std::vector<float>> readFloats(const TensorView &tensor);

/// All elements of an I64, I32, I16, I8, U8 or BOOL tensor.
Expected<std::vector<int64_t>> readIntegers(const TensorView &tensor);

} // namespace k2rt

#endif // RUNTIME_CHECKPOINT_SAFETENSORSFILE_H
