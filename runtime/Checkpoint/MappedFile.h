//===- MappedFile.h - A file mapped read-only -------------------*- C++ -*-===//
#ifndef RUNTIME_CHECKPOINT_MAPPEDFILE_H
#define RUNTIME_CHECKPOINT_MAPPEDFILE_H

#include "k2rt/Status.h"

#include <cstddef>
#include <span>
#include <string>

namespace k2rt {

/// The bytes of a regular file. The file must not shrink while it is mapped.
class MappedFile {
public:
  static Expected<MappedFile> open(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

private:
  MappedFile() = default;

  const std::byte *data_ = nullptr;
  size_t size_ = 0;
};

/// Whole file as text, for small files such as an index or a manifest.
Expected<std::string> readTextFile(const std::string &path);

} // namespace k2rt

#endif // RUNTIME_CHECKPOINT_MAPPEDFILE_H
