// ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements. Lane 4r + t
// holds elements 2t (low half) and 2t + 1 of row r: a register row is the
// matrix in row-major order.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Decoder.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace ptxsim;

namespace {

constexpr unsigned side = 8, rowBytes = 16;

void requireWholeWarp(Warp &w, const Op &op, uint32_t mask) {
  w.requireConverged(op, mask);
  if (mask != allLanes)
    w.fault(op, unsigned(std::countr_one(mask)),
            "the instruction needs all 32 lanes of the warp, but this one does "
            "not run");
}

void transpose(uint16_t *to, const uint16_t *from) {
  for (unsigned r = 0; r < side; ++r)
    for (unsigned c = 0; c < side; ++c)
      to[r * side + c] = from[c * side + r];
}

std::byte *rowAccess(Warp &w, const Op &op, unsigned lane, uint64_t address,
                     Access kind) {
  if (op.space == Space::Shared)
    return sharedAccess(w, op, lane, address, rowBytes, kind);
  if ((address & windowMask) != sharedWindow)
    w.fault(op, lane,
            "the generic address of a matrix row must be in shared memory");
  return w.access(op, lane, Space::Generic, address, rowBytes, kind);
}

/// A matrix moves in one pass if its eight rows cover all 32 banks.
void countBanks(Warp &w, const uint64_t *addresses) {
  unsigned most = 0;
  for (unsigned r = 0; r < side; ++r) {
    unsigned same = 0;
    for (unsigned s = 0; s < side; ++s) {
      bool first = true; // of the rows at this address
      for (unsigned p = 0; p < s; ++p)
        first &= addresses[p] != addresses[s];
      same += first && (addresses[s] - addresses[r]) % 128 == 0;
    }
    most = std::max(most, same);
  }
  w.counters->sharedWavefronts += most;
  w.counters->sharedIdealWavefronts += 1;
}

/// The common case is found without comparing every pair: eight different
/// groups of four banks.
void countConflicts(Warp &w, const uint64_t *addresses) {
  unsigned groups = 0;
  for (unsigned r = 0; r < side; ++r)
    groups |= 1u << (addresses[r] / rowBytes % side);
  if (groups == 0xff) {
    w.counters->sharedWavefronts += 1;
    w.counters->sharedIdealWavefronts += 1;
  } else {
    countBanks(w, addresses);
  }
}

/// op.list: the op.count registers. Lanes 8i to 8i + 7 have the rows' addresses
/// of matrix i.
template <bool trans> void loadMatrix(Warp &w, const Op &op, uint32_t mask) {
  requireWholeWarp(w, op, mask);
  uint16_t matrices[4][side * side];
  for (unsigned i = 0; i < op.count; ++i) {
    uint64_t addresses[side];
    for (unsigned r = 0; r < side; ++r) {
      unsigned lane = i * side + r;
      addresses[r] = w.addressOf(op, lane);
      std::memcpy(matrices[i] + r * side,
                  rowAccess(w, op, lane, addresses[r], Access::Read), rowBytes);
    }
    countConflicts(w, addresses);
  }
  // The address may be one of the destinations: they are written last.
  for (unsigned i = 0; i < op.count; ++i) {
    auto *to = w.row<uint16_t>(op.list[i]);
    if (trans)
      transpose(to, matrices[i]);
    else
      std::memcpy(to, matrices[i], sizeof matrices[i]);
  }
}

template <bool trans> void storeMatrix(Warp &w, const Op &op, uint32_t mask) {
  requireWholeWarp(w, op, mask);
  for (unsigned i = 0; i < op.count; ++i) {
    uint16_t matrix[side * side];
    const auto *from = w.row<uint16_t>(op.list[i]);
    if (trans)
      transpose(matrix, from);
    else
      std::memcpy(matrix, from, sizeof matrix);
    uint64_t addresses[side];
    for (unsigned r = 0; r < side; ++r) {
      unsigned lane = i * side + r;
      addresses[r] = w.addressOf(op, lane);
      std::memcpy(rowAccess(w, op, lane, addresses[r], Access::Write),
                  matrix + r * side, rowBytes);
    }
    countConflicts(w, addresses);
  }
}

void moveMatrix(Warp &w, const Op &op, uint32_t mask) {
  requireWholeWarp(w, op, mask);
  uint16_t matrix[side * side];
  transpose(matrix, w.row<uint16_t>(op.a));
  std::memcpy(w.row<uint16_t>(op.d), matrix, sizeof matrix);
}

} // namespace

bool ptxsim::decodeMatrixAccess(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8"))
    return false;
  int number = d.takeOneOf({"x1", "x2", "x4"});
  bool trans = d.take("trans");
  bool shared = d.takeOneOf({"shared", "shared::cta"}) >= 0;
  if (number < 0 || d.takeType() != Type::B16 || !d.done())
    return false;
  d.expect(2);
  bool load = d.opcode() == "ldmatrix";
  const Operand &data = d[load ? 0 : 1];
  size_t count = size_t(1) << number;
  if (data.kind != Operand::Vector || data.elements.size() != count)
    d.error("expected a vector of " + std::to_string(count) + " registers");
  std::vector<uint32_t> rows;
  for (const Operand &element : data.elements)
    rows.push_back(load ? d.destination(element, 32)
                        : d.source(element, Type::B32));
  Decoder::AddressRef address = d.address(load ? 1 : 0);
  const uint32_t *list = d.list(rows);
  Op &op = d.emit(load    ? trans ? loadMatrix<true> : loadMatrix<false>
                  : trans ? storeMatrix<true>
                          : storeMatrix<false>);
  op.list = list, op.count = uint16_t(count);
  op.a = address.row, op.e = address.bits, op.imm = address.offset;
  op.space = shared ? Space::Shared : Space::Generic;
  return true;
}

bool ptxsim::decodeMatrixMove(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8") ||
      !d.take("trans") || d.takeType() != Type::B16 || !d.done())
    return false;
  d.expect(2);
  uint32_t destination = d.destination(0, 32), a = d.source(1, Type::B32);
  Op &op = d.emit(moveMatrix);
  op.d = destination, op.a = a;
  return true;
}
