#include "runtime/ptxsim/TensorMap.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

constexpr uint64_t magic = 0x70616d7478747031; // marks maps of this file

/// What the 128 bytes hold.
struct Encoded {
  uint64_t magic, address;
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
