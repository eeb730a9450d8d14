// call, and ret in a function: frames, copies of parameters and results, and
// the registers of functions that are entered again.

#include "runtime/ptxsim/Calls.h"
#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Lanes.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

constexpr uint32_t frameAlign = 16;

std::byte *localOf(Warp &w, unsigned lane) {
  return w.cta->local.data() +
         (uint64_t(w.index) * warpSize + lane) * w.function->localBytes;
}

uint64_t readRow(Warp &w, uint32_t row, uint32_t bits, unsigned lane) {
  return bits == 16   ? w.row<uint16_t>(row)[lane]
         : bits == 32 ? w.row<uint32_t>(row)[lane]
                      : w.row<uint64_t>(row)[lane];
}
void writeRow(Warp &w, uint32_t row, uint32_t bits, unsigned lane,
              uint64_t value) {
  if (bits == 16)
    w.row<uint16_t>(row)[lane] = uint16_t(value);
  else if (bits == 32)
    w.row<uint32_t>(row)[lane] = uint32_t(value);
  else
    w.row<uint64_t>(row)[lane] = value;
}

/// A lane's part of every row of the function; predicates are bits, copied as
/// bytes of their own. `shift`: 0, or the distance to the shadow.
void saveRows(Warp &w, const Callee &c, unsigned lane, uint32_t shift,
              std::vector<std::byte> &to) {
  for (const Callee::Rows &rows : c.registers)
    for (uint32_t i = 0; i < rows.count; ++i) {
      const uint32_t at = rows.offset + i * rows.stride + shift;
      if (rows.stride == 4) {
        to.push_back(std::byte(w.word(at) >> lane & 1));
        continue;
      }
      const uint32_t bytes = rows.stride / warpSize;
      const std::byte *from = w.registers + at + lane * bytes;
      to.insert(to.end(), from, from + bytes);
    }
}

/// The same back, from p on.
const std::byte *restoreRows(Warp &w, const Callee &c, unsigned lane,
                             uint32_t shift, const std::byte *p) {
  for (const Callee::Rows &rows : c.registers)
    for (uint32_t i = 0; i < rows.count; ++i) {
      const uint32_t at = rows.offset + i * rows.stride + shift;
      if (rows.stride == 4) {
        uint32_t &word = w.word(at);
        word = (word & ~(1u << lane)) | uint32_t(*p++) << lane;
        continue;
      }
      const uint32_t bytes = rows.stride / warpSize;
      std::memcpy(w.registers + at + lane * bytes, p, bytes);
      p += bytes;
    }
  return p;
}

size_t rowsBytes(const Callee &c) {
  size_t total = 0;
  for (const Callee::Rows &rows : c.registers)
    total += rows.count * (rows.stride == 4 ? 1 : rows.stride / warpSize);
  return total;
}

/// Registers, addresses in the frame, and if undefined values are followed the
/// shadow: the last byte says so. Origins stay: they only name an instruction.
void saveRegisters(Warp &w, const Callee &c, unsigned lane,
                   std::vector<std::byte> &to) {
  saveRows(w, c, lane, 0, to);
  for (const Callee::FrameRow &row : c.frameRows) {
    const auto *from = w.registers + row.row + lane * (row.bits / 8);
    to.insert(to.end(), from, from + row.bits / 8);
  }
  if (w.plan)
    saveRows(w, c, lane, w.function->registerBytes, to);
  to.push_back(std::byte(w.plan != nullptr));
}

/// Takes from the end of `from` what saveRegisters put there.
void restoreRegisters(Warp &w, const Callee &c, unsigned lane,
                      std::vector<std::byte> &from) {
  const bool hasShadow = from.back() != std::byte(0);
  size_t total = rowsBytes(c) * (hasShadow ? 2 : 1) + 1;
  for (const Callee::FrameRow &row : c.frameRows)
    total += row.bits / 8;
  const std::byte *p = from.data() + from.size() - total;
  p = restoreRows(w, c, lane, 0, p);
  for (const Callee::FrameRow &row : c.frameRows) {
    std::memcpy(w.registers + row.row + lane * (row.bits / 8), p, row.bits / 8);
    p += row.bits / 8;
  }
  if (hasShadow) {
    restoreRows(w, c, lane, w.function->registerBytes, p);
    markRestored(w, c);
  } else if (w.plan) {
    // Nothing was undefined then.
    const std::vector<std::byte> zeros(rowsBytes(c));
    restoreRows(w, c, lane, w.function->registerBytes, zeros.data());
  }
  from.resize(from.size() - total);
}

/// A value that call or ret moves.
PassedValue passed(Warp &w, const Actual &a, unsigned lane) {
  return {a.isMemory, a.row, a.bits,
          a.isMemory ? readRow(w, a.row, a.bits, lane) : 0};
}
PassedValue passed(const Formal &f, uint32_t base) {
  return {!f.inRegister, f.at, f.bytes * 8, uint64_t(base) + f.at};
}

bool follows(const Warp &w) { return !w.cta->localShadow.bits.empty(); }

/// Undefined memory that is passed on may make registers undefined: then the
/// warp must follow those.
void requireDefined(Warp &w, const Op &op, unsigned lane,
                    const PassedValue &from, uint32_t bytes) {
  if (from.isMemory && w.follow != Follow::Everything &&
      takeUndefined(w, op, lane, from, bytes, false).any)
    throw FollowEverything{&op};
}

void requireArguments(Warp &w, const Op &op, const CallSite &site,
                      uint32_t mask) {
  const std::vector<Formal> &params =
      site.callee == CallSite::Indirect
          ? site.params
          : w.function->callees[site.callee].params;
  forLanes(mask, [&](unsigned lane) {
    for (size_t i = 0; i < params.size(); ++i)
      requireDefined(w, op, lane, passed(w, site.arguments[i], lane),
                     params[i].bytes);
  });
}

void requireResults(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) {
    const CallStack::Activation &a = w.calls->lanes[lane].back();
    for (const Formal &f : a.callee->results)
      requireDefined(w, op, lane, passed(f, a.base), f.bytes);
  });
}

void enter(Warp &w, const Op &op, const CallSite &site, const Callee &c,
           uint32_t mask) {
  CallStack &stack = *w.calls;
  const bool isFollowed = follows(w);
  forLanes(mask, [&](unsigned lane) {
    const uint32_t old = stack.top[lane];
    const uint32_t base = (old + frameAlign - 1) / frameAlign * frameAlign;
    // Every activation takes some of the stack, so that its size bounds the
    // depth.
    const uint32_t bytes = std::max(c.frameBytes, frameAlign);
    if (w.function->localBytes - std::min(base, w.function->localBytes) < bytes)
      w.fault(op, lane,
              fmt::format("the call of '{}' needs {} bytes of stack, but {} of "
                          "{} bytes are in use ({} calls deep)",
                          c.name, bytes, old - w.function->stackBase,
                          w.function->localBytes - w.function->stackBase,
                          stack.lanes[lane].size()));
    // Arguments first: the caller's registers may be the callee's.
    stack.scratch.clear();
    for (const Actual &a : site.arguments)
      stack.scratch.push_back(readRow(w, a.row, a.bits, lane));
    stack.passed.clear();
    if (isFollowed)
      for (size_t i = 0; i < c.params.size(); ++i)
        stack.passed.push_back(
            takeUndefined(w, op, lane, passed(w, site.arguments[i], lane),
                          c.params[i].bytes, c.params[i].inRegister));
    if (c.recursive)
      saveRegisters(w, c, lane, stack.saved[lane]);
    if (isFollowed)
      startFrame(w, c, lane, base);
    for (const Callee::FrameRow &row : c.frameRows)
      writeRow(w, row.row, row.bits, lane, base + row.offset);
    std::byte *local = localOf(w, lane);
    for (size_t i = 0; i < c.params.size(); ++i) {
      const Formal &f = c.params[i];
      uint64_t value = stack.scratch[i];
      const std::byte *from = site.arguments[i].isMemory
                                  ? local + value
                                  : reinterpret_cast<std::byte *>(&value);
      if (f.inRegister) {
        uint64_t wide = 0;
        std::memcpy(&wide, from, f.bytes);
        writeRow(w, f.at, f.bytes * 8, lane, wide);
      } else {
        std::memcpy(local + base + f.at, from, f.bytes);
      }
      if (isFollowed)
        putUndefined(w, lane, passed(f, base), stack.passed[i]);
    }
    stack.top[lane] = base + bytes;
    stack.lanes[lane].push_back({&site, &c, w.indexOf(op) + 1, base, old});
  });
  w.jump(mask, c.entry);
}

bool matches(const std::vector<Formal> &a, const std::vector<Formal> &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].bytes != b[i].bytes)
      return false;
  return true;
}

const Callee &calleeAt(Warp &w, const Op &op, const CallSite &site,
                       unsigned lane, uint64_t address) {
  const Callee *found = nullptr;
  for (const Callee &c : w.function->callees)
    if (c.address == address)
      found = &c;
  if (!found)
    w.fault(op, lane,
            fmt::format("{:#x} is not the address of a function of this module",
                        address));
  if (!matches(found->params, site.params) ||
      !matches(found->results, site.results))
    w.fault(op, lane,
            fmt::format("'{}' has other parameters or results than the "
                        "prototype of the call",
                        found->name));
  if (!site.targets.empty() &&
      std::find(site.targets.begin(), site.targets.end(), address) ==
          site.targets.end())
    w.fault(op, lane,
            fmt::format("'{}' is not one of the .calltargets", found->name));
  return *found;
}

} // namespace

void ptxsim::callFunction(Warp &w, const Op &op, uint32_t mask) {
  const CallSite &site = *reinterpret_cast<const CallSite *>(op.imm);
  if (site.uniform && mask != w.active)
    w.fault(op, unsigned(std::countr_zero(mask)),
            "call.uni is executed by a part of the lanes only");
  if (follows(w))
    requireArguments(w, op, site, mask);
  if (site.callee != CallSite::Indirect)
    return enter(w, op, site, w.function->callees[site.callee], mask);
  uint64_t addresses[warpSize];
  std::memcpy(addresses, w.row<uint64_t>(site.target), sizeof addresses);
  for (uint32_t rest = mask; rest;) {
    const unsigned lane = unsigned(std::countr_zero(rest));
    uint32_t same = 0;
    forLanes(rest, [&](unsigned l) {
      same |= uint32_t(addresses[l] == addresses[lane]) << l;
    });
    enter(w, op, site, calleeAt(w, op, site, lane, addresses[lane]), same);
    rest &= ~same;
  }
}

void ptxsim::returnFromFunction(Warp &w, const Op &op, uint32_t mask) {
  CallStack &stack = *w.calls;
  const bool isFollowed = follows(w);
  if (isFollowed)
    requireResults(w, op, mask);
  for (uint32_t rest = mask; rest;) {
    const uint32_t returnTo =
        stack.lanes[unsigned(std::countr_zero(rest))].back().returnTo;
    uint32_t same = 0;
    forLanes(rest, [&](unsigned lane) {
      if (stack.lanes[lane].back().returnTo != returnTo)
        return;
      same |= 1u << lane;
      const CallStack::Activation a = stack.lanes[lane].back();
      stack.lanes[lane].pop_back();
      stack.top[lane] = a.top;
      const Callee &c = *a.callee;
      stack.scratch.clear();
      for (const Formal &f : c.results)
        stack.scratch.push_back(
            f.inRegister ? readRow(w, f.at, f.bytes * 8, lane) : a.base + f.at);
      stack.passed.clear();
      if (isFollowed)
        for (size_t i = 0; i < c.results.size(); ++i)
          stack.passed.push_back(
              takeUndefined(w, op, lane, passed(c.results[i], a.base),
                            c.results[i].bytes, !a.site->places[i].isMemory));
      if (c.recursive)
        restoreRegisters(w, c, lane, stack.saved[lane]);
      std::byte *local = localOf(w, lane);
      for (size_t i = 0; i < c.results.size(); ++i) {
        const Formal &f = c.results[i];
        uint64_t value = stack.scratch[i];
        const std::byte *from = f.inRegister
                                    ? reinterpret_cast<std::byte *>(&value)
                                    : local + value;
        const Actual &to = a.site->places[i];
        if (to.isMemory) {
          std::memcpy(local + readRow(w, to.row, to.bits, lane), from, f.bytes);
        } else {
          uint64_t wide = 0;
          std::memcpy(&wide, from, f.bytes);
          writeRow(w, to.row, to.bits, lane, wide);
        }
        if (isFollowed)
          putUndefined(w, lane, passed(w, to, lane), stack.passed[i]);
      }
    });
    w.jump(same, returnTo);
    rest &= ~same;
  }
}
