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

typedef uint16_t Row __attribute__((vector_size(16)));

/// Three rounds of interleaving rows r and r + 4.
void transpose(uint16_t *to, const uint16_t *from) {
  Row rows[side], next[side];
  std::memcpy(rows, from, sizeof rows);
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned r = 0; r < side / 2; ++r) {
      Row a = rows[r], b = rows[r + side / 2];
      next[2 * r] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * r + 1] =
          __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    std::memcpy(rows, next, sizeof rows);
  }
  std::memcpy(to, rows, sizeof rows);
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

void countConflicts(Warp &w, const uint64_t *addresses) {
  // The common case is seen without comparing every pair.
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

/// The memory of all rows, each checked. Lanes 8i to 8i + 7 have the addresses
/// of matrix i; the other lanes' addresses count for nothing.
void findRows(Warp &w, const Op &op, Access kind, std::byte **rows) {
  const unsigned n = op.count * side;
  uint64_t addresses[4 * side];
  for (unsigned l = 0; l < n; ++l)
    addresses[l] = w.addressOf(op, l);
  for (unsigned i = 0; i < op.count; ++i)
    countConflicts(w, addresses + i * side);

  Cta &cta = *w.cta;
  uint64_t bits = 0, least = ~0ull, most = 0;
  for (unsigned l = 0; l < n; ++l) {
    bits |= addresses[l];
    least = std::min(least, addresses[l]);
    most = std::max(most, addresses[l]);
  }
  // What follows a write is looked at row by row.
  const bool isPlain = kind == Access::Read ||
                       (!cta.proxies && cta.reading.empty() && !cta.wgmmaHigh);
  if (isPlain && op.space == Space::Shared && bits % rowBytes == 0 &&
      least >= sharedBegin && most <= cta.sharedEnd - rowBytes) {
    // Sixteen bytes are sixteen bits of the map of written bytes.
    auto *written = reinterpret_cast<uint16_t *>(cta.initialised.data());
    uint16_t all = 0xffff;
    for (unsigned l = 0; l < n; ++l) {
      uint64_t offset = addresses[l] - sharedBegin;
      rows[l] = cta.shared + offset;
      if (kind == Access::Write)
        written[offset / rowBytes] = 0xffff;
      else
        all &= written[offset / rowBytes];
    }
    if (all == 0xffff || !cta.launch.options.checks.uninitialisedShared)
      return;
  }
  // Something is wrong, or unusual: one by one, with the fault's details.
  for (unsigned l = 0; l < n; ++l)
    rows[l] = rowAccess(w, op, l, addresses[l], kind);
}

/// Each lane accesses the elements of a row that it gets or gives.
template <bool trans>
void checkElements(Warp &w, const Op &op, Access kind, std::byte *const *rows) {
  Races &races = *w.cta->races;
  constexpr unsigned bytes = trans ? 2 : 4;
  for (unsigned l = 0; l < op.count * side; ++l)
    for (unsigned i = 0; i < rowBytes / bytes; ++i) {
      const uint32_t offset = uint32_t(rows[l] - w.cta->shared) + i * bytes;
      const unsigned r = l % side, lane = trans ? 4 * i + r / 2 : 4 * r + i;
      if (kind == Access::Read)
        races.read(w, op, lane, offset, bytes);
      else
        races.write(w, op, lane, offset, bytes, nullptr);
    }
}

template <bool trans>
void findCheckedRows(Warp &w, const Op &op, Access kind, std::byte **rows) {
  findRows(w, op, kind, rows);
  Cta &cta = *w.cta;
  if (!cta.races)
    return;
  if (w.function->raceFacts.inPlace)
    return checkElements<trans>(w, op, kind, rows);
  for (unsigned l = 0; l < op.count * side; ++l) {
    const uint32_t offset = uint32_t(rows[l] - cta.shared);
    if (kind == Access::Read)
      cta.races->readForWarp(w, op, l, offset, rowBytes);
    else
      cta.races->write(w, op, l, offset, rowBytes, nullptr);
  }
}

/// op.list: the op.count registers.
template <bool trans> void loadMatrix(Warp &w, const Op &op, uint32_t mask) {
  requireWholeWarp(w, op, mask);
  // The address may be one of the destinations: it is read before.
  std::byte *rows[4 * side];
  findCheckedRows<trans>(w, op, Access::Read, rows);
  for (unsigned i = 0; i < op.count; ++i) {
    auto *to = w.row<uint16_t>(op.list[i]);
    for (unsigned r = 0; r < side; ++r)
      std::memcpy(to + r * side, rows[i * side + r], rowBytes);
    if (trans)
      transpose(to, to);
  }
}

template <bool trans> void storeMatrix(Warp &w, const Op &op, uint32_t mask) {
  requireWholeWarp(w, op, mask);
  std::byte *rows[4 * side];
  findCheckedRows<trans>(w, op, Access::Write, rows);
  for (unsigned i = 0; i < op.count; ++i) {
    uint16_t matrix[side * side];
    const auto *from = w.row<uint16_t>(op.list[i]);
    if (trans)
      transpose(matrix, from);
    else
      std::memcpy(matrix, from, sizeof matrix);
    for (unsigned r = 0; r < side; ++r)
      std::memcpy(rows[i * side + r], matrix + r * side, rowBytes);
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
