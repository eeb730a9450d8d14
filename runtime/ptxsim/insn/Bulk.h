#ifndef RUNTIME_PTXSIM_INSN_BULK_H
#define RUNTIME_PTXSIM_INSN_BULK_H

// What cp.async.bulk and cp.async.bulk.tensor share: Op::list of a copy, and
// how it starts.

#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Decoder.h"

namespace ptxsim {

/// An address operand in a list: row, bits, offset.
struct BulkAddress {
  uint32_t row, bits, offsetLow, offsetHigh;
};

/// Everything about a bulk copy that is known when decoding.
struct BulkOperands {
  Transfer::Kind kind;
  Reduction reduction;
  Type type;
  Space space;           ///< of the shared memory that is written
  BulkAddress shared;    ///< the destination, or the source of ToGlobal
  BulkAddress source;    ///< of Between
  BulkAddress global;    ///< or the tensor map
  BulkAddress barrier;   ///< row 0: a bulk group
  bool paramMap;         ///< the map's address is in .param space
  uint32_t sizeRow;      ///< without a tensor map
  uint32_t multicastRow; ///< 0: none
  uint32_t rank;         ///< of the tensor; 0: none
  uint32_t coordinates[5];
};

BulkAddress bulkAddress(const Decoder::AddressRef &ref);
uint64_t addressOf(Warp &w, const BulkAddress &a, unsigned lane);
/// Keeps the operands as long as the function lives.
const uint32_t *keep(Decoder &d, const BulkOperands &operands);
/// The mbarrier of a CTA that an asynchronous operation signals, or a fault.
const Mbarrier &signalled(Warp &w, const Op &op, unsigned lane, Cta &cta,
                          uint32_t address);
/// Fills in shared memory and mbarrier and starts the copy, once for each CTA
/// of a multicast. `t` has everything else.
void startBulk(Warp &w, const Op &op, const BulkOperands &o, Transfer t,
               unsigned align);
/// A prefetch changes nothing here: observers are told of what it covers.
void tellPrefetch(Warp &w, const Op &op, const Transfer &t);
/// Takes .add .min ...
Reduction takeReduction(Decoder &d);
/// Takes the completion: true for an mbarrier, false for a bulk group, nothing
/// if it is neither.
std::optional<bool> takeCompletion(Decoder &d);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_INSN_BULK_H
