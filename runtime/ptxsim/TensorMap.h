#ifndef RUNTIME_PTXSIM_TENSORMAP_H
#define RUNTIME_PTXSIM_TENSORMAP_H

// Tensor maps, which kernels take as a .param of 128 bytes and hand to
// cp.async.bulk.tensor. encodeTiled does what cuTensorMapEncodeTiled does,
// with its checks; numbers of the enums are those of cuda.h. The content is the
// simulator's own: a map that a real driver has encoded is refused.

#include "runtime/ptxsim/ptxsim.h"

#include <array>

namespace ptxsim {

struct TensorMapDesc {
  enum DataType : uint32_t {
    UInt8,
    UInt16,
    UInt32,
    Int32,
    UInt64,
    Int64,
    Float16,
    Float32,
    Float64,
    BFloat16,
    Float32Ftz,
    TFloat32,
    TFloat32Ftz,
  };
  enum Swizzle : uint32_t { SwizzleNone, Swizzle32B, Swizzle64B, Swizzle128B };
  enum OobFill : uint32_t { FillZero, FillNaN };

  DataType type = UInt8;
  uint32_t rank = 1;
  uint64_t address = 0;
  std::array<uint64_t, 5> dims{};    ///< elements, innermost first
  std::array<uint64_t, 4> strides{}; ///< bytes, of dimensions 1 to rank - 1
  std::array<uint32_t, 5> box{};
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1};
  uint32_t interleave = 0; ///< only 0, none, is supported
  Swizzle swizzle = SwizzleNone;
  uint32_t l2Promotion = 0; ///< 0 to 3; changes no result
  OobFill fill = FillZero;
};

/// 128 opaque bytes.
struct alignas(64) TensorMap {
  std::array<std::byte, 128> bytes;
};

/// Error: the parameter, the rule and the fact.
Result<TensorMap> encodeTiled(const TensorMapDesc &desc);
/// The description in these 128 bytes; nothing if they hold no map.
std::optional<TensorMapDesc> decodeTiled(const std::byte *map);

/// What tensormap.replace can change.
enum class TensorMapField : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,
  Interleave,
  Swizzle,
  Fill,
};
/// Changes one field (`ordinal` is the dimension) of the map in these 128
/// bytes, or of a new one if they are zero. The map is checked when it is used.
Status replaceField(std::byte *map, TensorMapField field, uint32_t ordinal,
                    uint64_t value);

uint32_t elementBytes(TensorMapDesc::DataType type);
/// Elements that a box has in shared memory along dimension i.
uint32_t boxExtent(const TensorMapDesc &desc, unsigned i);
/// Bytes of a box in shared memory, out-of-bounds elements included.
uint32_t boxBytes(const TensorMapDesc &desc);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_TENSORMAP_H
