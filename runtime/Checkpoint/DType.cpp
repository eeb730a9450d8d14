//===- DType.cpp - Element types of safetensors files ---------------------===//
#include "runtime/Checkpoint/DType.h"

namespace k2rt {

namespace {
struct DTypeInfo {
  DType dtype;
  std::string_view name;
  size_t size;
};

constexpr DTypeInfo kTypes[] = {
    {DType::F64, "F64", 8},         {DType::F32, "F32", 4},
    {DType::F16, "F16", 2},         {DType::BF16, "BF16", 2},
    {DType::F8_E4M3, "F8_E4M3", 1}, {DType::F8_E5M2, "F8_E5M2", 1},
    {DType::F8_E8M0, "F8_E8M0", 1}, {DType::I64, "I64", 8},
    {DType::I32, "I32", 4},         {DType::I16, "I16", 2},
    {DType::I8, "I8", 1},           {DType::U64, "U64", 8},
    {DType::U32, "U32", 4},         {DType::U16, "U16", 2},
    {DType::U8, "U8", 1},           {DType::BOOL, "BOOL", 1},
};

const DTypeInfo &info(DType dtype) {
  return kTypes[static_cast<size_t>(dtype)];
}
} // namespace

std::string_view dtypeName(DType dtype) { return info(dtype).name; }

size_t dtypeSize(DType dtype) { return info(dtype).size; }

std::optional<DType> parseDType(std::string_view name) {
  for (const DTypeInfo &type : kTypes)
    if (type.name == name)
      return type.dtype;
  return std::nullopt;
}

std::string shapeString(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string typeString(DType dtype, const std::vector<int64_t> &shape) {
  return std::string(dtypeName(dtype)) + " " + shapeString(shape);
}

std::optional<int64_t> elementCount(const std::vector<int64_t> &shape) {
  // A zero anywhere makes the product zero whatever the others are, but the
  // others must still be legal dimensions.
  int64_t count = 1;
  bool overflow = false, zero = false;
  for (int64_t dim : shape) {
    if (dim < 0)
      return std::nullopt;
    if (dim == 0)
      zero = true;
    else if (!overflow)
      overflow = __builtin_mul_overflow(count, dim, &count);
  }
  if (zero)
    return 0;
  if (overflow)
    return std::nullopt;
  return count;
}

} // namespace k2rt
