//===- DType.h - Element types of safetensors files -------------*- C++ -*-===//
#ifndef RUNTIME_CHECKPOINT_DTYPE_H
#define RUNTIME_CHECKPOINT_DTYPE_H

#include "k2rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k2rt {

enum class DType {
  F64,
  F32,
  F16,
  BF16,
  F8_E4M3,
  F8_E5M2,
  F8_E8M0,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  BOOL
};

/// The name in a safetensors header, such as "BF16".
std::string_view dtypeName(DType dtype);
std::optional<DType> parseDType(std::string_view name);
size_t dtypeSize(DType dtype);

/// "[2, 3]"; "[]" for a scalar.
std::string shapeString(const std::vector<int64_t> &shape);
/// "BF16 [2, 3]".
std::string typeString(DType dtype, const std::vector<int64_t> &shape);
/// The number of elements, or nothing when a dimension is negative or the
/// product does not fit.
std::optional<int64_t> elementCount(const std::vector<int64_t> &shape);

} // namespace k2rt

#endif // RUNTIME_CHECKPOINT_DTYPE_H
