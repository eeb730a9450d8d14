// wgmma.mma_async, fence, commit_group, wait_group. Every warp computes its 16
// rows of D when it issues the instruction, or with Async::Lazy when it waits
// for it. One file, as issue, product and wait work on the same records.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/FunctionBuilder.h"
#include "runtime/ptxsim/insn/MatrixDescriptor.h"
#include "runtime/ptxsim/insn/MmaElement.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

/// What op.imm points at (kept in the function's lists).
struct Form {
  MmaElement a, b;
  MmaAccumulator accumulator;
  uint8_t negate, transA, transB, registersA;
  uint32_t n;
  uint32_t scaleWord, scaleFlip; ///< scale-d
  uint32_t aRow, bRow;           ///< descriptors
};

const Form &formOf(const Op &op) {
  return *reinterpret_cast<const Form *>(op.imm);
}
WgmmaShape shapeOf(const Form &f) { return {f.a, f.b, f.accumulator, f.n}; }

/// 16 bytes of an operand, and which of them are undefined.
struct Unit {
  const std::byte *bytes;
  uint16_t undefined;
};

Unit unitAt(Warp &w, const Op &op, uint32_t address, UndefinedOperand &u) {
  Cta &cta = *w.cta;
  if (address < sharedBegin || address + 16 > cta.sharedEnd)
    w.fault(op, 0,
            fmt::format("the matrix descriptor leads to address {:#x}, outside "
                        "of the {} bytes of shared memory",
                        address, cta.sharedEnd - sharedBegin));
  const uint32_t offset = address - sharedBegin;
  const uint16_t known = uint16_t(cta.initialised[offset / 64] >> offset % 64);
  Unit unit{cta.shared + offset, 0};
  if (known != 0xffff && cta.launch.options.checks.uninitialisedShared) {
    unit.undefined = uint16_t(~known);
    const uint32_t byte = offset + unsigned(std::countr_zero(unit.undefined));
    readUndefinedShared(w, op, 0, cta, offset, 16, byte, true);
    if (!u.origin)
      u.origin = originOfShared(w, op, offset, 16, byte);
  }
  if (cta.proxies && !cta.proxies->isClean(offset / 16))
    cta.proxies->check(w, op, warpSize, offset / 16);
  return unit;
}

/// Lines [first, ...) of an operand that lie K-major: 32 bytes each.
void gatherLines(Warp &w, const Op &op, const MatrixDescriptor &d,
                 uint32_t first, uint32_t n, uint8_t *rows,
                 UndefinedOperand &u) {
  for (uint32_t r = 0; r < n; ++r)
    for (uint32_t c = 0; c < 2; ++c) {
      const Unit unit = unitAt(w, op, d.rowUnit(first + r, c), u);
      std::memcpy(rows + r * 32 + c * 16, unit.bytes, 16);
      if (unit.undefined)
        u.lines.set(r);
    }
}

/// MN-major: eight lines' elements at one k lie together.
Unit columnAt(Warp &w, const Op &op, const MatrixDescriptor &d, uint32_t first,
              uint32_t group, uint32_t k, UndefinedOperand &u) {
  const Unit unit = unitAt(w, op, d.columnUnit(first / 8 + group, k), u);
  for (uint32_t i = 0; i < 8 && unit.undefined; ++i)
    if (unit.undefined >> i * 2 & 3)
      u.lines.set(group * 8 + i);
  return unit;
}

void gatherA(Warp &w, const Op &op, const Form &f, uint64_t bits,
             uint8_t (*rows)[32], UndefinedOperand &u) {
  if (f.registersA) {
    const uint32_t *list = op.list + op.count;
    for (unsigned r = 0; r < 4; ++r) {
      const uint32_t *lanes = w.row<uint32_t>(list[r]);
      for (unsigned l = 0; l < 32; ++l)
        std::memcpy(rows[l / 4 + r % 2 * 8] + l % 4 * 4 + r / 2 * 16, lanes + l,
                    4);
    }
    return;
  }
  const MatrixDescriptor d(w, op, bits);
  const uint32_t first = w.index % 4 * 16;
  if (!f.transA)
    return gatherLines(w, op, d, first, 16, rows[0], u);
  for (uint32_t g = 0; g < 2; ++g)
    for (uint32_t k = 0; k < 16; ++k) {
      const Unit unit = columnAt(w, op, d, first, g, k, u);
      for (uint32_t i = 0; i < 8; ++i)
        std::memcpy(rows[g * 8 + i] + k * 2, unit.bytes + i * 2, 2);
    }
}

void gatherB(Warp &w, const Op &op, const Form &f, uint64_t bits, WideB &b,
             UndefinedOperand &u) {
  const MatrixDescriptor d(w, op, bits);
  alignas(64) uint8_t rows[256 * 32];
  u = {};
  if (!f.transB) {
    gatherLines(w, op, d, 0, f.n, rows, u);
    return widenB(shapeOf(f), rows, b);
  }
  for (uint32_t k = 0; k < 16; ++k)
    for (uint32_t g = 0; g < f.n / 8; ++g)
      std::memcpy(rows + (k * f.n + g * 8) * 2,
                  columnAt(w, op, d, 0, g, k, u).bytes, 16);
  widenTransposedB(shapeOf(f), reinterpret_cast<const uint16_t *>(rows), b);
}

/// D is undefined in these rows and columns: lane 4r + c has rows r and r + 8
/// of columns 2c and 2c + 1 of every eight.
void undefineProduct(Warp &w, const Op &op, const UndefinedOperand &a,
                     const UndefinedOperand &b) {
  if (w.follow != Follow::Everything) {
    followEverything(w);
    w.stop = true;
  }
  const bool halves = wgmmaHalves(op);
  const uint32_t shift = w.function->registerBytes;
  for (unsigned i = 0; i < op.count; ++i) {
    uint32_t *shadow = w.row<uint32_t>(op.list[i] + shift), any = 0;
    for (unsigned l = 0; l < warpSize; ++l) {
      const unsigned row = l / 4 + (halves ? i % 2 : i / 2 % 2) * 8,
                     column = (halves ? i / 2 : i / 4) * 8 + l % 4 * 2;
      const uint32_t low = a.lines[row] || b.lines[column] ? ~0u : 0,
                     high = a.lines[row] || b.lines[column + 1] ? ~0u : 0;
      shadow[l] |= halves  ? (low & 0xffffu) | (high & 0xffff0000u)
                   : i % 2 ? high
                           : low;
      any |= shadow[l];
    }
    if (any)
      w.word(op.list[i] + 2 * shift) = a.origin ? a.origin : b.origin;
  }
}

WgmmaGroup &groupOf(Warp &w) { return w.cta->wgmmaGroups[w.index / 4]; }

void compute(Warp &w, WgmmaPending &p) {
  const Op &op = *p.op;
  const Form &f = formOf(op);
  if (w.cta->launch.options.skipTensor) {
    for (unsigned i = 0; i < op.count && !p.accumulate; ++i)
      std::memset(w.row<uint32_t>(op.list[i]), 0, warpSize * 4);
    p.isDone = true;
    return;
  }
  alignas(64) uint8_t a[16][32];
  UndefinedOperand undefinedA, ownB;
  gatherA(w, op, f, p.a, a, undefinedA);
  uint32_t *d[128];
  for (unsigned i = 0; i < op.count; ++i)
    d[i] = w.row<uint32_t>(op.list[i]);
  // The four warps read the same B.
  WgmmaGroup &group = groupOf(w);
  WgmmaGroup::Widened &kept = group.widened[p.number % group.widened.size()];
  const WgmmaGroup::Entry &entry = group.entry(p.number);
  WideB own, *b = &own;
  UndefinedOperand *undefinedB = &ownB;
  if (entry.number == p.number && entry.descriptor == p.b)
    b = &kept.b, undefinedB = &kept.undefined;
  if (b == &own || kept.number != p.number)
    gatherB(w, op, f, p.b, *b, *undefinedB);
  if (b == &kept.b)
    kept.number = p.number;
  wgmma(shapeOf(f), d, a[0], *b, f.negate, p.accumulate,
        w.cta->launch.options.numerics);
  if (undefinedA.origin || undefinedB->origin)
    undefineProduct(w, op, undefinedA, *undefinedB);
  p.isDone = true;
}

/// For the race detector: the reads of the operands in shared memory. They are
/// ordered by the issue, and over when a wait of the warpgroup covers them.
void noteReads(Warp &w, const Form &f, const WgmmaPending &p, bool isFirst) {
  Cta &cta = *w.cta;
  const Op &op = *p.op;
  const unsigned agent =
      cta.clocks->wgmmaAgent(cta.clocks->agentOf(w) - w.index % 4);
  WgmmaGroup::Entry &entry = groupOf(w).entry(p.number);
  if (isFirst)
    entry.stamp = cta.clocks->asyncStamp(agent, cta.clocks->agentOf(w));
  uint32_t offsets[2 * 256];
  const auto note = [&](uint64_t bits, bool transposed, uint32_t first,
                        uint32_t rows, WrittenBy &written) {
    const MatrixDescriptor d(w, op, bits);
    const uint32_t units = transposed ? rows / 8 : rows,
                   depth = transposed ? 16 : 2;
    unsigned n = 0;
    for (uint32_t u = 0; u < units; ++u)
      for (uint32_t k = 0; k < depth; ++k) {
        const uint32_t at = transposed ? d.columnUnit(first / 8 + u, k)
                                       : d.rowUnit(first + u, k);
        offsets[n] = at - sharedBegin;
        n += at >= sharedBegin && at + 16 <= cta.sharedEnd;
      }
    cta.races->readUnits(w, op, offsets, n, agent, entry.stamp, written);
  };
  WrittenBy ofA;
  if (!f.registersA)
    note(p.a, f.transA, w.index % 4 * 16, 16, ofA);
  // The four warps read the same B.
  if (isFirst) {
    entry.writtenB.count = 0;
    note(p.b, f.transB, 0, f.n, entry.writtenB);
  } else if (entry.descriptor == p.b && entry.writtenB.isComplete()) {
    cta.races->readAgain(w, op, entry.writtenB);
  } else {
    note(p.b, f.transB, 0, f.n, ofA);
  }
}

uint32_t lineOf(const Warp &w, const Op &op) {
  return w.function->infos[w.indexOf(op)].line;
}

uint64_t uniform(Warp &w, const Op &op, uint32_t row) {
  const uint64_t *v = w.row<uint64_t>(row);
  for (unsigned l = 1; l < warpSize; ++l)
    if (v[l] != v[0])
      w.fault(op, l, "the lanes of the warp give different matrix descriptors");
  return v[0];
}

void requireWarpgroup(Warp &w, const Op &op, uint32_t mask) {
  w.requireConverged(op, mask);
  if (mask != allLanes)
    w.fault(op, unsigned(std::countr_one(mask)),
            "wgmma needs all 32 lanes of the warp, but this one does not run");
  if (w.index / 4 * 4 + 4 > w.cta->warps.size())
    w.fault(op, 0,
            fmt::format("wgmma needs a warpgroup of four warps from warp {}, "
                        "but the CTA has {} warps",
                        w.index / 4 * 4, w.cta->warps.size()));
}

/// Bounds of what it reads of shared memory: not tight, but cheap.
void noteOperands(Warp &w, const Form &f, WgmmaPending &p) {
  const auto note = [&](uint64_t bits, bool transposed, uint32_t rows) {
    const MatrixDescriptor d(w, *p.op, bits);
    const uint32_t units = transposed ? std::max(rows / 8 >> d.swizzle, 1u)
                                      : rows / 8,
                   low = d.start & ~127u;
    const uint32_t span =
        transposed ? d.swizzle ? (units - 1) * d.leading + d.stride
                               : (rows / 8 - 1) * d.stride + d.leading
                   : (units - 1) * d.stride + (d.swizzle ? 0 : d.leading);
    p.low = std::min(p.low, low);
    p.high = std::max(p.high, d.start + span + 1152);
  };
  if (!f.registersA)
    note(p.a, f.transA, 64);
  note(p.b, f.transB, f.n);
  w.cta->wgmmaLow = std::min(w.cta->wgmmaLow, p.low);
  w.cta->wgmmaHigh = std::max(w.cta->wgmmaHigh, p.high);
}

void mmaAsync(Warp &w, const Op &op, uint32_t mask) {
  requireWarpgroup(w, op, mask);
  const Form &f = formOf(op);
  WgmmaState &state = w.wgmma;
  const bool checks = w.cta->launch.options.checks.wgmmaHazards;
  if (!state.fenced && checks)
    w.fault(op, 0, "expected a wgmma.fence before the first wgmma.mma_async",
            {{"a wgmma.fence.sync.aligned is missing before this line"}});
  const unsigned registers = op.count + (f.registersA ? 4u : 0u);
  for (unsigned i = 0; i < registers; ++i)
    if (checks && (state.rows[op.list[i] / 64] & WgmmaState::Touched))
      w.fault(op, 0,
              fmt::format("register {} of {} has been accessed since the last "
                          "wgmma.fence: expected one before this instruction",
                          i < op.count ? i : i - op.count,
                          i < op.count ? "D" : "A"),
              {{"a wgmma.fence.sync.aligned is missing between that access "
                "and this line"}});
  const uint32_t scale = w.word(f.scaleWord) ^ f.scaleFlip;
  if (scale && scale != allLanes)
    w.fault(op, 0, "the lanes of the warp give different scale-d");
  WgmmaPending p;
  p.op = &op;
  p.number = state.issued++;
  p.group = state.closed;
  p.accumulate = scale != 0;
  if (!f.registersA)
    p.a = uniform(w, op, f.aRow);
  p.b = uniform(w, op, f.bRow);
  Warp *warps = &w.cta->warps[w.index / 4 * 4];
  uint64_t oldest = p.number;
  for (unsigned i = 0; i < 4; ++i)
    oldest = std::min(oldest, warps[i].wgmma.issued);
  groupOf(w).reserve(oldest, p.number);
  WgmmaGroup::Entry &entry = groupOf(w).entry(p.number);
  const bool isFirst = entry.number != p.number;
  if (isFirst) {
    entry.number = p.number, entry.op = &op, entry.warp = w.index;
    entry.descriptor = p.b;
  } else if (entry.op != &op) {
    w.fault(op, 0,
            fmt::format("the warpgroup must execute wgmma together, but warp "
                        "{} has executed that of line {} instead",
                        entry.warp, lineOf(w, *entry.op)));
  }
  for (unsigned i = 0; i < registers; ++i)
    state.rows[op.list[i] / 64] |= WgmmaState::InFlight;
  w.counters->tensorFlops += 2ull * 16 * f.n * shapeOf(f).k();
  if (w.cta->races)
    noteReads(w, f, p, isFirst);
  p.stamp = entry.stamp;
  if (w.cta->launch.options.async == Async::Eager)
    compute(w, p);
  if (checks)
    noteOperands(w, f, p);
  state.pending.push_back(p);
  for (unsigned i = 0; i < 4; ++i)
    warps[i].wake(waitsForWarpgroup);
}

/// The four warps meet: wgmma is one operation of the warpgroup, which cannot
/// begin before all take part. For the race detector that orders the loads of
/// the warp's lanes (their registers have been written) before all that
/// follows, which DeepGEMM relies on; and stores of other warps only if asked
/// to (check warpgroup-order): PTX does not say so, but FlashMLA has no other
/// barrier there.
void fence(Warp &w, const Op &op, uint32_t mask) {
  requireWarpgroup(w, op, mask);
  WgmmaGroup &group = groupOf(w);
  Warp *warps = &w.cta->warps[w.index / 4 * 4];
  if (group.meetings == w.wgmma.meetings) {
    if (!group.arrived)
      group.fence = &op, group.fenceWarp = w.index;
    else if (group.fence != &op)
      w.fault(
          op, 0,
          fmt::format("the warpgroup must execute wgmma.fence together, but "
                      "warp {} has executed that of line {} instead",
                      group.fenceWarp, lineOf(w, *group.fence)));
    group.arrived |= 1u << w.index % 4;
    for (unsigned i = 0; i < 4; ++i)
      if (!warps[i].live)
        w.fault(op, 0,
                fmt::format("the warpgroup must execute wgmma.fence together, "
                            "but warp {} has exited",
                            warps[i].index));
    if (group.arrived != 15)
      return w.waitForWarpgroup(op, mask);
    group.arrived = 0;
    ++group.meetings;
    if (Clocks *clocks = w.cta->clocks) {
      for (unsigned i = 0; i < 4; ++i)
        clocks->fenceLoads(warps[i]);
      if (!w.cta->launch.options.checks.warpgroupOrder) {
        clocks->meet(warps, 4);
        ++w.cta->cluster.syncs;
      }
    }
    for (unsigned i = 0; i < 4; ++i)
      warps[i].wake(waitsForWarpgroup);
  }
  ++w.wgmma.meetings;
  w.wgmma.fenced = true;
  for (uint8_t &row : w.wgmma.rows)
    row &= uint8_t(~WgmmaState::Touched);
}

void commit(Warp &w, const Op &op, uint32_t mask) {
  requireWarpgroup(w, op, mask);
  ++w.wgmma.closed;
}

/// op.count: groups that may stay open. The four warps compute together, so
/// this also waits for the others to issue what is waited for.
void wait(Warp &w, const Op &op, uint32_t mask) {
  requireWarpgroup(w, op, mask);
  WgmmaState &state = w.wgmma;
  size_t due = 0;
  while (due < state.pending.size() &&
         state.closed - state.pending[due].group > op.count)
    ++due;
  if (!due)
    return;
  const uint64_t end = state.pending[due - 1].number + 1;
  Warp *group = &w.cta->warps[w.index / 4 * 4];
  for (unsigned i = 0; i < 4; ++i)
    if (group[i].wgmma.issued < end) {
      if (!group[i].live)
        w.fault(op, 0,
                fmt::format("the warpgroup must execute wgmma together, but "
                            "warp {} has exited after {} of {}",
                            group[i].index, group[i].wgmma.issued, end));
      return w.waitForWarpgroup(op, mask);
    }
  WgmmaGroup &shared = groupOf(w);
  shared.completed = std::max(shared.completed, end);
  if (Clocks *clocks = w.cta->clocks)
    clocks->learn(clocks->agentOf(w), mask,
                  clocks->wgmmaAgent(clocks->agentOf(w) - w.index % 4),
                  state.pending[due - 1].stamp);
  for (unsigned i = 0; i < 4; ++i)
    for (WgmmaPending &p : group[i].wgmma.pending)
      if (p.number < end && !p.isDone)
        compute(group[i], p);
  auto mark = [&](const WgmmaPending &p, bool inFlight) {
    const unsigned n = p.op->count + (formOf(*p.op).registersA ? 4u : 0u);
    for (unsigned i = 0; i < n; ++i) {
      uint8_t &row = state.rows[p.op->list[i] / 64];
      row = uint8_t(inFlight ? row | WgmmaState::InFlight
                             : row & ~WgmmaState::InFlight);
    }
  };
  for (size_t i = 0; i < due; ++i)
    mark(state.pending[i], false);
  state.pending.erase(state.pending.begin(), state.pending.begin() + long(due));
  for (const WgmmaPending &p : state.pending)
    mark(p, true);
  Cta &cta = *w.cta;
  cta.wgmmaLow = ~0u, cta.wgmmaHigh = 0;
  for (const Warp &other : cta.warps)
    for (const WgmmaPending &p : other.wgmma.pending)
      if (p.number >= cta.wgmmaGroups[other.index / 4].completed) {
        cta.wgmmaLow = std::min(cta.wgmmaLow, p.low);
        cta.wgmmaHigh = std::max(cta.wgmmaHigh, p.high);
      }
}

/// m64nNkK
struct Shape {
  unsigned n = 0, k = 0;
};
Shape takeShape(Decoder &d) {
  for (std::string_view name : d.rest()) {
    if (!name.starts_with("m64n"))
      continue;
    Shape s;
    const char *end = name.data() + name.size();
    auto [p, e] = std::from_chars(name.data() + 4, end, s.n);
    if (e != std::errc() || p == end || *p != 'k')
      return {};
    auto [q, f] = std::from_chars(p + 1, end, s.k);
    if (f != std::errc() || q != end)
      return {};
    d.take(name);
    return s;
  }
  return {};
}

bool isLegal(const Form &f, Type dType) {
  using enum MmaElement;
  const bool integer = f.a == S8 || f.a == U8, fp8 = f.a == E4M3 || f.a == E5M2;
  if (f.n < 8 || f.n > 256 || f.n % 8)
    return false;
  if (integer)
    return (f.b == S8 || f.b == U8) && dType == Type::S32 &&
           (f.n <= 32 || f.n % 16 == 0);
  if (fp8 ? f.b != E4M3 && f.b != E5M2 : f.a != f.b)
    return false;
  return dType == Type::F32 || (dType == Type::F16 && (fp8 || f.a == F16));
}

bool decodeMmaAsync(Decoder &d) {
  const Shape shape = takeShape(d);
  const bool saturated = d.take("satfinite");
  const Type dType = d.takeType(), aType = d.takeType(), bType = d.takeType();
  const auto a = elementOf(aType), b = elementOf(bType);
  if (!shape.n || !a || !b || !d.done())
    return false;
  Form f{};
  f.a = *a, f.b = *b, f.n = shape.n;
  f.accumulator = dType == Type::F16   ? MmaAccumulator::F16
                  : dType == Type::F32 ? MmaAccumulator::F32
                  : saturated          ? MmaAccumulator::S32Saturated
                                       : MmaAccumulator::S32;
  const bool integer = dType == Type::S32,
             sixteen = f.a == MmaElement::F16 || f.a == MmaElement::BF16;
  if (!isLegal(f, dType) || shape.k != shapeOf(f).k() ||
      (saturated && !integer))
    return false;
  f.registersA = d.size() > 1 && d[1].kind == Operand::Vector;
  const size_t scales = integer ? 0 : 2, transposes = !sixteen       ? 0
                                                      : f.registersA ? 1
                                                                     : 2;
  d.expect(4 + scales + transposes);
  std::vector<uint32_t> rows;
  auto append = [&](size_t operand, unsigned count) {
    std::span<const Operand> elements = d.elements(d[operand]);
    if (elements.size() != count)
      d.error(fmt::format("expected {} registers in operand {}, but got {}",
                          count, operand + 1, elements.size()));
    for (const Operand &e : elements)
      rows.push_back(operand == 0 ? d.accumulator(e) : d.source(e, Type::B32));
  };
  const unsigned count = shapeOf(f).registers();
  append(0, count);
  if (f.registersA)
    append(1, 4);
  else
    f.aRow = d.source(1, Type::B64);
  f.bRow = d.source(2, Type::B64);
  const PredicateSource scale = d.predicateSource(d[3]);
  f.scaleWord = scale.row, f.scaleFlip = scale.flip;
  auto immediate = [&](size_t i, int64_t zero, int64_t one) {
    const int64_t value = d.integer(d[i]);
    if (value != zero && value != one)
      d.error(fmt::format("expected {} or {} as operand {}, but got {}", zero,
                          one, i + 1, value));
    return value;
  };
  if (scales)
    f.negate = immediate(4, -1, 1) != immediate(5, -1, 1);
  if (transposes) {
    if (!f.registersA)
      f.transA = immediate(6, 0, 1) != 0;
    f.transB = immediate(d.size() - 1, 0, 1) != 0;
  }
  // The form, kept among the function's lists.
  std::vector<uint32_t> words((sizeof f + 3) / 4);
  std::memcpy(words.data(), &f, sizeof f);
  const uint32_t *kept = d.list(words), *list = d.list(rows);
  d.function.f.usesAsyncProxy = d.function.f.usesWgmma = true;
  Op &op = d.emit(mmaAsync);
  op.flags = Control; // after it the warp may follow undefined values
  op.imm = reinterpret_cast<uint64_t>(kept);
  op.list = list, op.count = uint16_t(count);
  op.c = f.registersA; // for those who count operands
  return true;
}

} // namespace

void WgmmaGroup::reserve(uint64_t oldest, uint64_t number) {
  if (number - oldest < entries.size())
    return;
  std::vector<Entry> old(entries.size() * 2);
  old.swap(entries);
  for (Entry &e : old)
    if (e.number != ~0ull)
      entry(e.number) = std::move(e);
}

void ptxsim::advanceWgmma(Warp &w) {
  for (WgmmaPending &p : w.wgmma.pending)
    if (!p.isDone)
      return compute(w, p);
}

bool ptxsim::wgmmaAccumulates(Warp &w, const Op &op) {
  const Form &f = formOf(op);
  return (w.word(f.scaleWord) ^ f.scaleFlip) != 0;
}
unsigned ptxsim::wgmmaRegistersOfA(const Op &op) {
  return formOf(op).registersA ? 4 : 0;
}
bool ptxsim::wgmmaHalves(const Op &op) {
  return formOf(op).accumulator == MmaAccumulator::F16;
}

void Warp::watchRegisters(const Op &op, uint32_t) {
  const Function &f = *function;
  const uint32_t index = indexOf(op);
  for (uint32_t i = f.operandStart[index]; i < f.operandStart[index + 1]; ++i) {
    uint8_t &state = wgmma.rows[f.operandRows[i] / 64];
    if (state & WgmmaState::InFlight) {
      for (const WgmmaPending &p : wgmma.pending)
        for (unsigned r = 0; r < p.op->count + 4u; ++r)
          if ((r < p.op->count || formOf(*p.op).registersA) &&
              p.op->list[r] == f.operandRows[i])
            fault(op, 0,
                  fmt::format("register {} of {} of the wgmma of line {} is "
                              "accessed, but no wgmma.wait_group has covered "
                              "it yet",
                              r < p.op->count ? r : r - p.op->count,
                              r < p.op->count ? "D" : "A",
                              lineOf(*this, *p.op)),
                  {{"the wgmma is issued here", p.op},
                   {"a wgmma.wait_group that covers it is missing between the "
                    "two, or its commit_group is"}});
    }
    state |= WgmmaState::Touched;
  }
}

uint32_t ptxsim::wgmmaReading(Cta &cta, uint32_t address, uint32_t bytes) {
  for (Warp &w : cta.warps)
    for (const WgmmaPending &p : w.wgmma.pending) {
      if (p.number < cta.wgmmaGroups[w.index / 4].completed ||
          address >= p.high || address + bytes <= p.low)
        continue;
      const Form &f = formOf(*p.op);
      auto reads = [&](uint64_t bits, bool transposed, uint32_t first,
                       uint32_t rows) {
        const MatrixDescriptor d(w, *p.op, bits);
        // Most of what lies between its operands is another stage's.
        const auto [low, high] = d.bounds(transposed, first, rows);
        if (address >= high || address + bytes <= low)
          return false;
        const uint32_t units = transposed ? rows / 8 : rows,
                       depth = transposed ? 16 : 2;
        for (uint32_t u = 0; u < units; ++u)
          for (uint32_t k = 0; k < depth; ++k) {
            const uint32_t at = transposed ? d.columnUnit(first / 8 + u, k)
                                           : d.rowUnit(first + u, k);
            if (at < address + bytes && address < at + 16)
              return true;
          }
        return false;
      };
      if ((!f.registersA && reads(p.a, f.transA, w.index % 4 * 16, 16)) ||
          reads(p.b, f.transB, 0, f.n))
        return lineOf(w, *p.op);
    }
  return 0;
}

bool ptxsim::decodeWgmma(Decoder &d) {
  const int kind =
      d.takeOneOf({"mma_async", "fence", "commit_group", "wait_group"});
  if (kind < 0 || !d.take("sync") || !d.take("aligned"))
    return false;
  if (kind == 0)
    return decodeMmaAsync(d);
  if (!d.done())
    return false;
  d.function.f.usesWgmma = true;
  if (kind < 3) {
    d.expect(0);
    if (kind == 1)
      d.emit(fence).flags = Control;
    else
      d.emit(commit);
    return true;
  }
  d.expect(1);
  const int64_t open = d.integer(d[0]);
  if (open < 0 || open > 7)
    d.error("expected a number of groups from 0 to 7");
  Op &op = d.emit(wait);
  op.count = uint16_t(open);
  op.flags = Control;
  return true;
}
