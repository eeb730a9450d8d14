#ifndef TOOLS_PTXSIM_NPY_H
#define TOOLS_PTXSIM_NPY_H

#include "tools/ptxsim/Element.h"

#include <span>
#include <vector>

namespace ptxsim::tool {

/// An array in a file or on its way to one; the innermost dimension comes last.
struct Array {
  const ElementType *type = nullptr;
  std::vector<uint64_t> shape;
  std::vector<std::byte> bytes;
};

/// Reads a .npy file (versions 1 to 3): little-endian numbers in C order.
/// Throws UsageError.
Array readNpy(const std::string &path);
/// Writes one; bf16 is written as uint16, e4m3 and e5m2 as uint8. Throws
/// UsageError.
void writeNpy(const std::string &path, const ElementType &type,
              std::span<const uint64_t> shape,
              std::span<const std::byte> bytes);

/// The whole of a regular file. Throws UsageError.
std::string readFile(const std::string &path);
/// The number of elements; nothing if it does not fit.
std::optional<uint64_t> elementCount(std::span<const uint64_t> shape);

} // namespace ptxsim::tool

#endif // TOOLS_PTXSIM_NPY_H
