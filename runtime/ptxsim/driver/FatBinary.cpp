#include "runtime/ptxsim/driver/FatBinary.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

template <class T> T read(const std::byte *at) {
  T value;
  std::memcpy(static_cast<void *>(&value), at, sizeof(T));
  return value;
}

constexpr uint32_t wrapperMagic = 0x466243b1, containerMagic = 0xba55ed50;

/// The head of an image in a container.
struct Entry {
  explicit Entry(const std::byte *at)
      : kind(read<uint16_t>(at)), headerBytes(read<uint32_t>(at + 4)),
        bytes(read<uint64_t>(at + 8)), compressedBytes(read<uint32_t>(at + 16)),
        arch(read<uint32_t>(at + 28)), text(at + headerBytes) {}
  enum : uint16_t { Ptx = 1 };
  static constexpr uint32_t leastBytes = 32; ///< of the head, what is read
  uint16_t kind;
  uint32_t headerBytes;
  uint64_t bytes; ///< of the image, padded
  uint32_t compressedBytes;
  uint32_t arch; ///< 90 for sm_90
  const std::byte *text;
};

Result<std::string> ptxOfContainer(const std::byte *container) {
  const uint64_t bytes = read<uint64_t>(container + 8);
  const std::byte *at = container + read<uint16_t>(container + 6),
                  *end = at + bytes;
  std::string best;
  uint32_t bestArch = 0;
  bool compressed = false;
  while (at < end) {
    const uint64_t room = uint64_t(end - at);
    if (room < Entry::leastBytes || Entry(at).headerBytes < Entry::leastBytes ||
        Entry(at).headerBytes > room ||
        Entry(at).bytes > room - Entry(at).headerBytes)
      return Status::error("expected a fat binary, but its images do not fill "
                           "what its header says");
    const Entry entry(at);
    if (entry.kind == Entry::Ptx && entry.compressedBytes)
      compressed = true;
    else if (entry.kind == Entry::Ptx && entry.arch >= bestArch &&
             entry.arch <= 90) {
      const char *text = reinterpret_cast<const char *>(entry.text);
      best.assign(text, strnlen(text, entry.bytes));
      bestArch = entry.arch;
    }
    at += entry.headerBytes + entry.bytes;
  }
  if (!best.empty())
    return best;
  return Status::error(
      compressed ? "expected PTX text, but got compressed text: build with "
                   "nvcc --no-compress"
                 : "expected PTX text for sm_90 or older, but the fat binary "
                   "has none: build with nvcc -gencode "
                   "arch=compute_90a,code=compute_90a");
}

} // namespace

Result<std::string> ptxsim::cuda::ptxOf(const void *image) {
  const std::byte *bytes = static_cast<const std::byte *>(image);
  const char *text = static_cast<const char *>(image);
  if (text[0] == '\x7f' && text[1] == 'E')
    return Status::error("expected PTX text, but got a cubin");
  // Text without NULs is at least as long as the shortest of these heads.
  if (strnlen(text, 4) == 4) {
    if (read<uint32_t>(bytes) == containerMagic)
      return ptxOfContainer(bytes);
    if (read<uint32_t>(bytes) == wrapperMagic)
      return ptxOfContainer(
          reinterpret_cast<const std::byte *>(read<uintptr_t>(bytes + 8)));
  }
  return std::string(text);
}
