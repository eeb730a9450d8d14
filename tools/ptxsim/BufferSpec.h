#ifndef TOOLS_PTXSIM_BUFFERSPEC_H
#define TOOLS_PTXSIM_BUFFERSPEC_H

#include "tools/ptxsim/Npy.h"

namespace ptxsim::tool {

/// A buffer as written: `f32[64,32]=rand:7`, `x.npy`, `bf16@x.npy`,
/// `file.safetensors:name`.
struct BufferSpec {
  const ElementType *type = nullptr;
  std::vector<uint64_t> shape;
  std::string init;             ///< after the '='; empty: bytes of 0xff
  std::vector<std::byte> bytes; ///< from a file
  bool fromFile = false;
};

/// Does it look like one (rather than like a scalar)?
bool isBufferSpec(std::string_view spec);
/// Throw UsageError, whose text begins with `where`.
BufferSpec parseBufferSpec(const std::string &where, const std::string &spec);
/// What is neither empty nor zero.
void fillBuffer(const std::string &where, const BufferSpec &spec,
                std::byte *to);
/// At most 60 characters of an argument, for messages.
std::string shorten(std::string_view text);

} // namespace ptxsim::tool

#endif // TOOLS_PTXSIM_BUFFERSPEC_H
