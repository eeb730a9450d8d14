#ifndef TOOLS_PTXSIM_ELEMENT_H
#define TOOLS_PTXSIM_ELEMENT_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptxsim::tool {

/// An element type of arguments and files.
struct ElementType {
  enum Kind : uint8_t { Signed, Unsigned, Float } kind = Unsigned;
  std::string_view name;
  unsigned bytes = 0;
  std::string_view npy;         ///< descr of a .npy file
  std::string_view safetensors; ///< name in a .safetensors file
};

/// s8 u8 ... f32 f64 f16 bf16 e4m3 e5m2; i8 to i64 and b8 to b64 are taken for
/// s and u. Null if there is none of this name.
const ElementType *findType(std::string_view name);
/// The type that a file's element type name means; null for others.
const ElementType *findNpyType(std::string_view descr);
const ElementType *findSafetensorsType(std::string_view name);
/// All names, for messages.
std::string typeNames();

/// The bits of a number as written: decimal, 0x.. for integers, inf and nan for
/// floats. Nothing if it is no number or outside of the type's range.
std::optional<uint64_t> encode(const ElementType &type,
                               const std::string &text);
/// The bits of the value nearest to `value`; integers are truncated.
uint64_t encode(const ElementType &type, double value);
/// As encode() takes it.
std::string decode(const ElementType &type, uint64_t bits);

} // namespace ptxsim::tool

#endif // TOOLS_PTXSIM_ELEMENT_H
