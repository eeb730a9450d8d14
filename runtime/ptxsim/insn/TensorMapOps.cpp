// tensormap.replace and tensormap.cp_fenceproxy: tensor maps that a kernel
// makes itself.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/TensorMap.h"

#include <cstring>
#include <vector>

using namespace ptxsim;

namespace {

constexpr unsigned mapBytes = sizeof(TensorMap), halfBytes = mapBytes / 2;

/// The map's memory, aligned to 64 bytes like all maps.
std::byte *mapAt(Warp &w, const Op &op, unsigned lane, Space space,
                 uint64_t address, Access kind) {
  std::byte *first = w.access(op, lane, space, address, halfBytes, kind);
  w.access(op, lane, space, address + halfBytes, halfBytes, kind);
  return first;
}

[[noreturn]] void refuse(Warp &w, const Op &op, unsigned lane,
                         const std::string &message) {
  Notes notes;
  if (TensorMapField(op.count) == TensorMapField::GlobalStride)
    notes.push_back({"ptxas before CUDA 12.5 took the stride in units of 16 "
                     "bytes by mistake, and compilers divide it when they "
                     "write PTX before 8.5 (Triton's ptx_version); the ISA and "
                     "later assemblers take bytes in every .version"});
  w.fault(op, lane, message, notes);
}

/// For observers: a map is read, or read and written back.
void tellAccess(Warp &w, const Op &op, Space space, unsigned lane,
                uint64_t address, bool writes) {
  uint64_t at[warpSize] = {};
  at[lane] = address;
  observeAccess(w, op, writes ? MemoryKind::Store : MemoryKind::Load, space,
                1u << lane, at, mapBytes);
}

/// op.count is the field, op.b the row of the dimension, op.c that of the value
/// (of op.target bits).
void replace(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned l) {
    const uint64_t address = w.addressOf(op, l);
    if (!w.cta->launch.observers.empty())
      tellAccess(w, op, op.space, l, address, true);
    mapAt(w, op, l, op.space, address, Access::Read);
    std::byte *map = mapAt(w, op, l, op.space, address, Access::Write);
    const uint64_t value =
        op.target == 64 ? w.row<uint64_t>(op.c)[l] : w.row<uint32_t>(op.c)[l];
    if (Status s = replaceField(map, TensorMapField(op.count),
                                w.row<uint32_t>(op.b)[l], value);
        !s)
      refuse(w, op, l, s.message());
    if (op.space != Space::Shared && !(address & windowMask))
      w.cta->cluster.maps.made(w, op, address, false);
  });
}

/// op.a and op.imm are the source in shared memory, op.b and op.list[0, 1] the
/// destination, its bits and offset.
void copyFenced(Warp &w, const Op &op, uint32_t mask) {
  w.requireConverged(op, mask);
  const unsigned lane = unsigned(std::countr_zero(mask));
  const uint64_t offset = op.list[1] | uint64_t(op.list[2]) << 32;
  const uint64_t to = op.list[0] == 32
                          ? uint32_t(w.row<uint32_t>(op.b)[lane] + offset)
                          : w.row<uint64_t>(op.b)[lane] + offset;
  if (!w.cta->launch.observers.empty()) {
    tellAccess(w, op, Space::Shared, lane, w.addressOf(op, lane), false);
    tellAccess(w, op, Space::Global, lane, to, true);
  }
  std::byte copy[mapBytes];
  std::memcpy(
      copy,
      mapAt(w, op, lane, Space::Shared, w.addressOf(op, lane), Access::Read),
      mapBytes);
  std::memcpy(mapAt(w, op, lane, Space::Global, to, Access::Write), copy,
              mapBytes);
  w.cta->cluster.maps.made(w, op, to, true);
}

bool decodeReplace(Decoder &d) {
  if (!d.take("tile"))
    return false;
  const int field =
      d.takeOneOf({"global_address", "rank", "box_dim", "global_dim",
                   "global_stride", "element_stride", "elemtype",
                   "interleave_layout", "swizzle_mode", "fill_mode"});
  Space space = Space::Generic;
  switch (d.takeOneOf({"global", "shared::cta"})) {
  case 0:
    space = Space::Global;
    break;
  case 1:
    space = Space::Shared;
    break;
  default:
    break;
  }
  if (field < 0 || !d.take("b1024"))
    return false;
  const auto which = TensorMapField(field);
  const bool wide = which == TensorMapField::GlobalAddress ||
                    which == TensorMapField::GlobalStride,
             hasOrdinal = which >= TensorMapField::BoxDim &&
                          which <= TensorMapField::ElementStride;
  if (d.takeType() != (wide ? Type::B64 : Type::B32) || !d.done())
    return false;
  d.expect(hasOrdinal ? 3 : 2);
  const Decoder::AddressRef at = d.address(0);
  const size_t value = hasOrdinal ? 2 : 1;
  if (hasOrdinal)
    d.integer(d[1]);
  if (which >= TensorMapField::ElementType)
    d.integer(d[value]);
  const uint32_t ordinal =
      hasOrdinal ? d.source(1, Type::B32) : d.constant(0, 32);
  const uint32_t row = d.source(value, wide ? Type::B64 : Type::B32);
  Op &op = d.emit(replace);
  op.a = at.row, op.e = at.bits, op.imm = at.offset, op.space = space;
  op.b = ordinal, op.c = row, op.target = wide ? 64 : 32;
  op.count = uint16_t(field);
  return true;
}

bool decodeCopyFenced(Decoder &d) {
  if (!d.take("global") || !d.take("shared::cta") ||
      !d.take("tensormap::generic") || !d.take("release") ||
      d.takeOneOf({"cta", "cluster", "gpu", "sys"}) < 0 || !d.take("sync") ||
      !d.take("aligned") || !d.done())
    return false;
  d.expect(3);
  const Decoder::AddressRef to = d.address(0), from = d.address(1);
  if (d.integer(d[2]) != mapBytes)
    d.error("expected 128 as the size of a tensor map");
  const std::vector<uint32_t> words{to.bits, uint32_t(to.offset),
                                    uint32_t(to.offset >> 32)};
  const uint32_t *list = d.list(words);
  Op &op = d.emit(copyFenced);
  op.a = from.row, op.e = from.bits, op.imm = from.offset;
  op.b = to.row, op.list = list, op.space = Space::Shared;
  return true;
}

} // namespace

bool ptxsim::decodeTensorMap(Decoder &d) {
  switch (d.takeOneOf({"replace", "cp_fenceproxy"})) {
  case 0:
    return decodeReplace(d);
  case 1:
    return decodeCopyFenced(d);
  default:
    return false;
  }
}
