// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in tiled mode, their
// prefetch, and prefetch.tensormap.

#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Reduce.h"
#include "runtime/ptxsim/insn/Bulk.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

TensorMapDesc mapAt(Warp &w, const Op &op, unsigned lane, bool param,
                    uint64_t address) {
  std::byte bytes[128];
  // Aligned to 64, as the driver wants it.
  for (unsigned half = 0; half < 128; half += 64)
    std::memcpy(bytes + half,
                w.access(op, lane, param ? Space::Param : Space::Generic,
                         address + half, 64, Access::Read),
                64);
  if (auto map = decodeTiled(bytes))
    return *map;
  w.fault(op, lane,
          fmt::format("there is no tensor map at address {:#x}", address),
          {{"the operand is the address of the 128 bytes that encodeTiled or "
            "cuTensorMapEncodeTiled of the simulator has made, a parameter for "
            "instance"}});
}

/// The type in which elements are reduced.
Type reductionType(TensorMapDesc::DataType type) {
  switch (type) {
  case TensorMapDesc::UInt32:
    return Type::U32;
  case TensorMapDesc::Int32:
    return Type::S32;
  case TensorMapDesc::UInt64:
    return Type::U64;
  case TensorMapDesc::Int64:
    return Type::S64;
  case TensorMapDesc::Float16:
    return Type::F16;
  case TensorMapDesc::BFloat16:
    return Type::BF16;
  case TensorMapDesc::Float32:
  case TensorMapDesc::Float32Ftz:
    return Type::F32;
  case TensorMapDesc::Float64:
    return Type::F64;
  default:
    return Type::None;
  }
}

void copy(Warp &w, const Op &op, uint32_t mask) {
  BulkOperands o;
  std::memcpy(&o, op.list, sizeof o);
  forLanes(mask, [&](unsigned l) {
    Transfer t;
    t.warp = &w, t.op = &op, t.lane = l;
    t.tensor = true;
    if (!o.paramMap)
      w.cta->cluster.maps.check(w, op, l, addressOf(w, o.global, l));
    t.map = mapAt(w, op, l, o.paramMap, addressOf(w, o.global, l));
    if (t.map.rank != o.rank)
      w.fault(op, l,
              fmt::format("the tensor map has rank {}, expected {}", t.map.rank,
                          o.rank));
    for (unsigned i = 0; i < o.rank; ++i)
      t.at[i] = w.row<int32_t>(o.coordinates[i])[l];
    t.bytes = boxBytes(t.map);
    BulkOperands actual = o;
    if (o.reduction != Reduction::None) {
      actual.type = reductionType(t.map.type);
      if (!canReduce(o.reduction, actual.type))
        w.fault(op, l,
                fmt::format("tensors of data type {} cannot be reduced so",
                            uint32_t(t.map.type)));
    }
    startBulk(w, op, actual, std::move(t), 128);
  });
}

void prefetchMap(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned l) {
    mapAt(w, op, l, op.space == Space::Param, w.addressOf(op, l));
  });
}

void prefetch(Warp &w, const Op &op, uint32_t mask) {
  if (w.cta->launch.observers.empty())
    return;
  BulkOperands o;
  std::memcpy(&o, op.list, sizeof o);
  forLanes(mask, [&](unsigned l) {
    Transfer t;
    t.lane = l, t.tensor = true;
    t.map = mapAt(w, op, l, o.paramMap, addressOf(w, o.global, l));
    for (unsigned i = 0; i < o.rank; ++i)
      t.at[i] = w.row<int32_t>(o.coordinates[i])[l];
    tellPrefetch(w, op, t);
  });
}

/// [map, {coordinates}]
void takeMap(Decoder &d, size_t i, BulkOperands &o) {
  const Operand &operand = d[i];
  if (operand.kind != Operand::Address || operand.elements.size() != o.rank)
    d.error(fmt::format("expected [tensor map, {{{} coordinates}}] as operand "
                        "{}",
                        o.rank, i + 1));
  o.global = {operand.row, operand.bits, uint32_t(operand.imm),
              uint32_t(operand.imm >> 32)};
  o.paramMap = operand.space == Space::Param;
  for (unsigned c = 0; c < o.rank; ++c)
    o.coordinates[c] = d.source(operand.elements[c], Type::B32);
}

} // namespace

bool ptxsim::decodeTensorCopy(Decoder &d) {
  const bool reduces = d.take("reduce");
  if (!d.take("async") || !d.take("bulk"))
    return false;
  const bool prefetches = d.take("prefetch");
  if (!d.take("tensor"))
    return false;
  BulkOperands o{};
  o.rank = uint32_t(d.takeOneOf({"1d", "2d", "3d", "4d", "5d"}) + 1);
  const bool hint = d.take("L2::cache_hint");
  d.take("tile");
  if (!o.rank)
    return false;
  if (prefetches) {
    if (reduces || !d.take("L2") || !d.take("global") || !d.done())
      return false;
    d.expect(hint ? 2 : 1);
    takeMap(d, 0, o);
    const uint32_t *list = keep(d, o);
    d.emit(prefetch).list = list;
    return true;
  }
  const auto rest = d.rest();
  if (rest.size() < 3)
    return false;
  const std::string_view to = rest[0], from = rest[1];
  const bool store = to == "global" && from == "shared::cta";
  if (!store && (reduces || from != "global" ||
                 (to != "shared::cluster" && to != "shared::cta")))
    return false;
  o.kind = store ? Transfer::ToGlobal : Transfer::ToShared;
  o.space = to == "shared::cluster" ? Space::SharedCluster : Space::Shared;
  for (const char *name : {"shared::cta", "shared::cluster", "global"})
    d.take(name);
  if (takeCompletion(d) != !store)
    return false;
  const bool multicast = !store && d.take("multicast::cluster");
  if (reduces) {
    o.reduction = takeReduction(d);
    if (o.reduction == Reduction::None)
      return false;
  }
  if (!d.done() || (multicast && o.space == Space::Shared))
    return false;
  d.expect((store ? 2 : 3) + multicast + hint);
  takeMap(d, store ? 0 : 1, o);
  o.shared = bulkAddress(d.address(store ? 1 : 0));
  if (!store)
    o.barrier = bulkAddress(d.address(2));
  if (multicast)
    o.multicastRow = d.source(3, Type::B16);
  if (hint)
    d.source(d.size() - 1, Type::B64);
  const uint32_t *list = keep(d, o);
  d.emit(copy).list = list;
  return true;
}

bool ptxsim::decodePrefetchTensorMap(Decoder &d) {
  const bool param = d.take("param");
  if (!param)
    d.take("const");
  if (!d.take("tensormap") || !d.done())
    return false;
  d.expect(1);
  Decoder::AddressRef at = d.address(0);
  Op &op = d.emit(prefetchMap);
  op.a = at.row, op.e = at.bits, op.imm = at.offset;
  op.space = param || at.space == Space::Param ? Space::Param : Space::Generic;
  return true;
}
