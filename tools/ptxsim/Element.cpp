#include "tools/ptxsim/Element.h"
#include "runtime/ptxsim/numeric/Float.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

constexpr ElementType types[] = {
    {ElementType::Signed, "s8", 1, "|i1", "I8"},
    {ElementType::Unsigned, "u8", 1, "|u1", "U8"},
    {ElementType::Signed, "s16", 2, "<i2", "I16"},
    {ElementType::Unsigned, "u16", 2, "<u2", "U16"},
    {ElementType::Signed, "s32", 4, "<i4", "I32"},
    {ElementType::Unsigned, "u32", 4, "<u4", "U32"},
    {ElementType::Signed, "s64", 8, "<i8", "I64"},
    {ElementType::Unsigned, "u64", 8, "<u8", "U64"},
    {ElementType::Float, "f16", 2, "<f2", "F16"},
    {ElementType::Float, "f32", 4, "<f4", "F32"},
    {ElementType::Float, "f64", 8, "<f8", "F64"},
    // numpy has no such types: raw bits.
    {ElementType::Float, "bf16", 2, "<u2", "BF16"},
    {ElementType::Float, "e4m3", 1, "|u1", "F8_E4M3"},
    {ElementType::Float, "e5m2", 1, "|u1", "F8_E5M2"},
};

FloatFormat formatOf(const ElementType &type) {
  if (type.name == "f16")
    return formatF16;
  if (type.name == "bf16")
    return formatBF16;
  if (type.name == "e4m3")
    return formatE4M3;
  if (type.name == "e5m2")
    return formatE5M2;
  return type.bytes == 4 ? formatF32 : formatF64;
}

template <class T>
std::optional<T> parse(std::string_view text, int base = 10) {
  T value;
  const char *begin = text.data(), *end = begin + text.size();
  std::from_chars_result r{};
  if constexpr (std::is_floating_point_v<T>)
    r = std::from_chars(begin, end, value);
  else
    r = std::from_chars(begin, end, value, base);
  if (r.ec != std::errc() || r.ptr != end)
    return std::nullopt;
  return value;
}

} // namespace

const ElementType *tool::findType(std::string_view name) {
  std::string canonical(name);
  if (name.size() > 1 && name[1] >= '0' && name[1] <= '9') {
    if (name[0] == 'i')
      canonical[0] = 's';
    if (name[0] == 'b')
      canonical[0] = 'u';
  }
  for (const ElementType &t : types)
    if (t.name == canonical)
      return &t;
  return nullptr;
}

const ElementType *tool::findNpyType(std::string_view descr) {
  if (descr == "|b1")
    return findType("u8");
  // What numpy writes for types it does not know, such as those of ml_dtypes.
  if (descr == "<V1" || descr == "|V1")
    return findType("u8");
  if (descr == "<V2" || descr == "|V2")
    return findType("u16");
  for (const ElementType &t : types)
    if (t.npy == descr)
      return &t;
  return nullptr;
}

const ElementType *tool::findSafetensorsType(std::string_view name) {
  if (name == "BOOL" || name == "F8_E8M0")
    return findType("u8");
  for (const ElementType &t : types)
    if (t.safetensors == name)
      return &t;
  return nullptr;
}

std::string tool::typeNames() {
  std::string names;
  for (const ElementType &t : types)
    names += (names.empty() ? "" : " ") + std::string(t.name);
  return names;
}

std::optional<uint64_t> tool::encode(const ElementType &type,
                                     const std::string &text) {
  if (type.kind == ElementType::Float) {
    const auto value = parse<double>(text);
    if (!value)
      return std::nullopt;
    return encode(type, *value);
  }
  const bool negative = text.starts_with('-');
  std::string_view digits = std::string_view(text).substr(negative);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  const auto magnitude =
      parse<uint64_t>(digits.substr(hex ? 2 : 0), hex ? 16 : 10);
  if (!magnitude)
    return std::nullopt;
  const unsigned bits = 8 * type.bytes;
  const uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1,
                 half = 1ull << (bits - 1);
  if (negative) {
    if (type.kind == ElementType::Unsigned ? *magnitude != 0
                                           : *magnitude > half)
      return std::nullopt;
    return (0 - *magnitude) & all;
  }
  // Hexadecimal is bits, whatever the sign.
  if (*magnitude > (type.kind == ElementType::Signed && !hex ? half - 1 : all))
    return std::nullopt;
  return magnitude;
}

uint64_t tool::encode(const ElementType &type, double value) {
  if (type.kind == ElementType::Float)
    return pack(formatOf(type),
                unpack(formatF64, std::bit_cast<uint64_t>(value)),
                Rounding::NearestEven);
  const uint64_t bits = value < 0 ? uint64_t(int64_t(value)) : uint64_t(value);
  return type.bytes == 8 ? bits : bits & ((1ull << 8 * type.bytes) - 1);
}

std::string tool::decode(const ElementType &type, uint64_t bits) {
  if (type.kind == ElementType::Unsigned)
    return fmt::format("{}", bits);
  const unsigned shift = 64 - 8 * type.bytes;
  if (type.kind == ElementType::Signed)
    return fmt::format("{}", int64_t(bits << shift) >> shift);
  const double wide = std::bit_cast<double>(
      pack(formatF64, unpack(formatOf(type), bits), Rounding::NearestEven));
  return type.bytes == 8 ? fmt::format("{}", wide)
                         : fmt::format("{}", float(wide));
}
