#ifndef RUNTIME_PTXSIM_TYPE_H
#define RUNTIME_PTXSIM_TYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace ptxsim {

/// A type that an instruction names. Registers have no type, only a width.
enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  U16x2,
  S8,
  S16,
  S32,
  S64,
  S16x2,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
};

std::optional<Type> parseType(std::string_view name);
std::string_view typeName(Type type);
unsigned bitsOf(Type type);

inline bool isBits(Type t) { return t >= Type::B8 && t <= Type::B128; }
inline bool isUnsigned(Type t) { return t >= Type::U8 && t <= Type::U16x2; }
inline bool isSigned(Type t) { return t >= Type::S8 && t <= Type::S16x2; }
inline bool isInteger(Type t) { return isUnsigned(t) || isSigned(t); }

/// Address spaces. Generic addresses carry the space: see Memory.h.
/// SharedCluster is the shared memory of any CTA of the cluster.
enum class Space : uint8_t {
  Generic,
  Global,
  Shared,
  Local,
  Const,
  Param,
  SharedCluster,
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_TYPE_H
