//===- SafetensorsWriter.h - Writing a safetensors file ---------*- C++ -*-===//
#ifndef RUNTIME_CHECKPOINT_SAFETENSORSWRITER_H
#define RUNTIME_CHECKPOINT_SAFETENSORSWRITER_H

#include "runtime/Checkpoint/DType.h"

#include <span>
#include <unordered_map>

namespace k2rt {

/// Writes a file in parts and makes it visible in one step: the data goes to a
/// temporary file in the same folder, commit() renames it. A writer that is
/// destroyed before commit() leaves nothing behind and no old file touched.
/// Data that is never written reads as zero.
class SafetensorsWriter {
public:
  /// Opens the temporary file, so that a path which cannot be written is
  /// reported before any work is done.
  static Expected<SafetensorsWriter> create(const std::string &path);
  SafetensorsWriter(SafetensorsWriter &&other) noexcept;
  SafetensorsWriter &operator=(SafetensorsWriter &&) = delete;
  ~SafetensorsWriter();

  /// Declares a tensor; all of them before the first write().
  Status declare(const std::string &name, DType dtype,
                 std::vector<int64_t> shape);
  /// Writes bytes of a declared tensor, from `offset` bytes into it.
  Status write(const std::string &name, uint64_t offset,
               std::span<const std::byte> bytes);
  Status commit();

private:
  struct Entry {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    uint64_t begin, bytes;
  };

  SafetensorsWriter() = default;
  Status writeHeader();
  Status fail(const std::string &what) const;

  std::string path_, temporary_;
  int fd_ = -1;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> byName_;
  uint64_t dataStart_ = 0, dataSize_ = 0;
};

} // namespace k2rt

#endif // RUNTIME_CHECKPOINT_SAFETENSORSWRITER_H
