#include "runtime/ptxsim/TensorMap.h"

#include <cstring>
#include <fmt/format.h>
#include <iterator>

using namespace ptxsim;

namespace {

/// Marks maps of this file. In the second word bit 21 is clear: programs clear
/// it in the maps of small tensors, against a fault of drivers before 13.2
/// (CUTLASS and Triton do).
constexpr uint64_t magic = 0x70616d7478547031;
static_assert(!(magic >> 21 & 1));

/// What the 128 bytes hold.
struct Encoded {
  uint64_t address, magic;
  uint64_t strides[4];
  uint32_t lastIndex[5]; ///< dims - 1, as 2^32 is a legal size
  uint16_t box[5];
  uint8_t elementStrides[5];
  uint8_t type, rank, swizzle, fill, l2Promotion;
};
static_assert(sizeof(Encoded) <= sizeof(TensorMap));

template <class... A> Status refuse(fmt::format_string<A...> text, A &&...a) {
  return Status::error("tensor map: " +
                       fmt::format(text, std::forward<A>(a)...));
}

Status check(const TensorMapDesc &d) {
  if (d.type > TensorMapDesc::TFloat32Ftz)
    return refuse("expected a data type from 0 to 12, but got {}",
                  uint32_t(d.type));
  if (d.rank < 1 || d.rank > 5)
    return refuse("expected a rank from 1 to 5, but got {}", d.rank);
  if (d.interleave)
    return refuse("expected no interleave (0), but got {}", d.interleave);
  if (d.swizzle > TensorMapDesc::Swizzle128B)
    return refuse("expected a swizzle from 0 to 3, but got {}",
                  uint32_t(d.swizzle));
  if (d.l2Promotion > 3)
    return refuse("expected an L2 promotion from 0 to 3, but got {}",
                  d.l2Promotion);
  if (!d.address || d.address % 16)
    return refuse("expected a global address that is a multiple of 16, but got "
                  "{:#x}",
                  d.address);
  const uint32_t bytes = elementBytes(d.type);
  for (unsigned i = 0; i < d.rank; ++i) {
    if (d.dims[i] < 1 || d.dims[i] > 1ull << 32)
      return refuse("expected dimension {} of 1 to 2^32 elements, but got {}",
                    i, d.dims[i]);
    if (d.box[i] < 1 || d.box[i] > 256)
      return refuse("expected a box of 1 to 256 elements in dimension {}, but "
                    "got {}",
                    i, d.box[i]);
    if (d.elementStrides[i] < 1 || d.elementStrides[i] > 8)
      return refuse("expected an element stride of 1 to 8 in dimension {}, but "
                    "got {}",
                    i, d.elementStrides[i]);
    if (i + 1 < d.rank && (d.strides[i] % 16 || d.strides[i] >= 1ull << 40))
      return refuse("expected a stride of dimension {} that is a multiple of "
                    "16 below 2^40, but got {}",
                    i + 1, d.strides[i]);
  }
  const uint32_t inner = d.box[0] * bytes;
  if (inner % 16)
    return refuse("expected an inner box of a multiple of 16 bytes, but got "
                  "{} elements of {} bytes",
                  d.box[0], bytes);
  if (d.swizzle && inner > 16u << d.swizzle)
    return refuse("expected an inner box of at most {} bytes with this "
                  "swizzle, but got {}",
                  16u << d.swizzle, inner);
  const bool isFloat = d.type >= TensorMapDesc::Float16;
  if (d.fill > TensorMapDesc::FillNaN ||
      (d.fill == TensorMapDesc::FillNaN && !isFloat))
    return refuse("expected out-of-bounds elements to be filled with zero, but "
                  "got {}",
                  uint32_t(d.fill));
  return {};
}

} // namespace

uint32_t ptxsim::elementBytes(TensorMapDesc::DataType type) {
  constexpr uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return bytes[type];
}

uint32_t ptxsim::boxExtent(const TensorMapDesc &d, unsigned i) {
  // Without interleave the first element stride is not used.
  return i ? (d.box[i] + d.elementStrides[i] - 1) / d.elementStrides[i]
           : d.box[i];
}

uint32_t ptxsim::boxBytes(const TensorMapDesc &d) {
  uint32_t bytes = elementBytes(d.type);
  for (unsigned i = 0; i < d.rank; ++i)
    bytes *= boxExtent(d, i);
  return bytes;
}

Result<TensorMap> ptxsim::encodeTiled(const TensorMapDesc &d) {
  if (Status s = check(d); !s)
    return s;
  Encoded e{};
  e.magic = magic;
  e.address = d.address;
  for (unsigned i = 0; i < d.rank; ++i) {
    if (i + 1 < d.rank)
      e.strides[i] = d.strides[i];
    e.lastIndex[i] = uint32_t(d.dims[i] - 1);
    e.box[i] = uint16_t(d.box[i]);
    e.elementStrides[i] = uint8_t(d.elementStrides[i]);
  }
  e.type = uint8_t(d.type), e.rank = uint8_t(d.rank);
  e.swizzle = uint8_t(d.swizzle), e.fill = uint8_t(d.fill);
  e.l2Promotion = uint8_t(d.l2Promotion);
  TensorMap map{};
  std::memcpy(map.bytes.data(), &e, sizeof e);
  return map;
}

std::optional<TensorMapDesc> ptxsim::decodeTiled(const std::byte *map) {
  Encoded e;
  std::memcpy(&e, map, sizeof e);
  if (e.magic != magic)
    return std::nullopt;
  TensorMapDesc d;
  d.type = TensorMapDesc::DataType(e.type);
  d.rank = e.rank;
  d.address = e.address;
  d.swizzle = TensorMapDesc::Swizzle(e.swizzle);
  d.fill = TensorMapDesc::OobFill(e.fill);
  d.l2Promotion = e.l2Promotion;
  for (unsigned i = 0; i < e.rank && i < 5; ++i) {
    if (i < 4)
      d.strides[i] = e.strides[i];
    d.dims[i] = uint64_t(e.lastIndex[i]) + 1;
    d.box[i] = e.box[i];
    d.elementStrides[i] = e.elementStrides[i];
  }
  // A kernel may have written into it.
  if (!check(d))
    return std::nullopt;
  return d;
}

Status ptxsim::replaceField(std::byte *map, TensorMapField field,
                            uint32_t ordinal, uint64_t value) {
  Encoded e;
  std::memcpy(&e, map, sizeof e);
  if (e.magic != magic) {
    for (unsigned i = 0; i < sizeof(TensorMap); ++i)
      if (map[i] != std::byte(0))
        return Status::error("there is neither a tensor map nor zeros");
    e.magic = magic;
  }
  const auto outside = [&](uint64_t least, uint64_t most, const char *what) {
    return Status::error(fmt::format("expected {} from {} to {}, but got {}",
                                     what, least, most, value));
  };
  const uint32_t dimensions = field == TensorMapField::GlobalStride ? 4 : 5;
  if (ordinal >= dimensions)
    return Status::error(fmt::format(
        "expected a dimension below {}, but got {}", dimensions, ordinal));
  switch (field) {
  case TensorMapField::GlobalAddress:
    e.address = value;
    break;
  case TensorMapField::Rank: // counted from 0
    if (value > 4)
      return outside(0, 4, "a rank less one");
    e.rank = uint8_t(value + 1);
    break;
  case TensorMapField::BoxDim:
    if (value < 1 || value > 256)
      return outside(1, 256, "a box dimension");
    e.box[ordinal] = uint16_t(value);
    break;
  case TensorMapField::GlobalDim:
    e.lastIndex[ordinal] = uint32_t(value - 1); // 0 stands for 2^32
    break;
  case TensorMapField::GlobalStride: // in bytes, whatever .version says
    if (value % 16 || value >= 1ull << 40)
      return Status::error(fmt::format("expected a stride that is a multiple "
                                       "of 16 bytes below 2^40, but got {}",
                                       value));
    e.strides[ordinal] = value;
    break;
  case TensorMapField::ElementStride:
    if (value < 1 || value > 8)
      return outside(1, 8, "an element stride");
    e.elementStrides[ordinal] = uint8_t(value);
    break;
  case TensorMapField::ElementType: {
    // The instruction numbers them differently from the driver.
    using D = TensorMapDesc;
    constexpr uint8_t types[] = {
        D::UInt8,    D::UInt16,   D::UInt32,     D::Int32,      D::UInt64,
        D::Int64,    D::Float16,  D::Float32,    D::Float32Ftz, D::Float64,
        D::BFloat16, D::TFloat32, D::TFloat32Ftz};
    if (value >= std::size(types))
      return outside(0, std::size(types) - 1, "an element type");
    e.type = types[value];
    break;
  }
  case TensorMapField::Interleave:
    if (value)
      return outside(0, 0, "an interleave layout");
    break;
  case TensorMapField::Swizzle:
    if (value > 3)
      return outside(0, 3, "a swizzle mode");
    e.swizzle = uint8_t(value);
    break;
  case TensorMapField::Fill:
    if (value > 1)
      return outside(0, 1, "a fill mode");
    e.fill = uint8_t(value);
    break;
  }
  std::memcpy(map, &e, sizeof e);
  return {};
}
