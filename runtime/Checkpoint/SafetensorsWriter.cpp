//===- SafetensorsWriter.cpp - Writing a safetensors file -----------------===//
#include "runtime/Checkpoint/SafetensorsWriter.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace k2rt {

namespace {
/// pwrite until everything is written.
bool writeAll(int fd, const void *data, size_t size, uint64_t at) {
  const char *from = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t n = ::pwrite(fd, from, size, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    from += n;
    at += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
  return true;
}
} // namespace

Status SafetensorsWriter::fail(const std::string &what) const {
  return Status::input(path_ + ": " + what + ": " + std::strerror(errno));
}

Expected<SafetensorsWriter> SafetensorsWriter::create(const std::string &path) {
  SafetensorsWriter writer;
  writer.path_ = path;
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return Status::input(
        path + ": expected a path for a file, but got a " +
        (S_ISDIR(info.st_mode) ? "folder" : "device or socket"));
  writer.temporary_ = path + ".tmp." + std::to_string(::getpid());
  writer.fd_ = ::open(writer.temporary_.c_str(),
                      O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (writer.fd_ < 0)
    return writer.fail("cannot be written");
  return writer;
}

SafetensorsWriter::SafetensorsWriter(SafetensorsWriter &&other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)), entries_(std::move(other.entries_)),
      byName_(std::move(other.byName_)), dataStart_(other.dataStart_),
      dataSize_(other.dataSize_) {}

SafetensorsWriter::~SafetensorsWriter() {
  if (fd_ < 0)
    return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

Status SafetensorsWriter::declare(const std::string &name, DType dtype,
                                  std::vector<int64_t> shape) {
  assert(dataStart_ == 0 && "declare() after write()");
  std::optional<int64_t> count = elementCount(shape);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(
                    *count, static_cast<int64_t>(dtypeSize(dtype)), &bytes))
    return Status::input(path_ + ": tensor '" + name +
                         "': expected a size below 2^63 bytes, but got " +
                         typeString(dtype, shape));
  if (!byName_.emplace(name, entries_.size()).second)
    return Status::input(path_ + ": tensor '" + name +
                         "': expected every name once, but got it twice");
  entries_.push_back(Entry{name, dtype, std::move(shape), dataSize_,
                           static_cast<uint64_t>(bytes)});
  dataSize_ += static_cast<uint64_t>(bytes);
  return Status();
}

Status SafetensorsWriter::writeHeader() {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const Entry &entry : entries_)
    header[entry.name] = {
        {"dtype", dtypeName(entry.dtype)},
        {"shape", entry.shape},
        {"data_offsets", {entry.begin, entry.begin + entry.bytes}}};
  std::string text = header.dump();
  // Spaces at the end bring the data to an 8-byte boundary.
  text.append((8 - text.size() % 8) % 8, ' ');
  std::byte length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<std::byte>(text.size() >> (8 * i));
  dataStart_ = 8 + text.size();
  if (!writeAll(fd_, length, 8, 0) ||
      !writeAll(fd_, text.data(), text.size(), 8) ||
      ::ftruncate(fd_, static_cast<off_t>(dataStart_ + dataSize_)) != 0)
    return fail("cannot be written");
  return Status();
}

Status SafetensorsWriter::write(const std::string &name, uint64_t offset,
                                std::span<const std::byte> bytes) {
  if (dataStart_ == 0)
    if (Status s = writeHeader(); s.failed())
      return s;
  auto it = byName_.find(name);
  assert(it != byName_.end() && "write() of a tensor that was not declared");
  const Entry &entry = entries_[it->second];
  assert(offset + bytes.size() <= entry.bytes && "write() past the tensor");
  if (!writeAll(fd_, bytes.data(), bytes.size(),
                dataStart_ + entry.begin + offset))
    return fail("cannot be written");
  return Status();
}

Status SafetensorsWriter::commit() {
  if (dataStart_ == 0)
    if (Status s = writeHeader(); s.failed())
      return s;
  // close() is where a full disk or a quota may first show.
  int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    Status status = fail("cannot be written");
    ::unlink(temporary_.c_str());
    return status;
  }
  return Status();
}

} // namespace k2rt
