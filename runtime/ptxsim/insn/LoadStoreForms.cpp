// The forms of ld and st; cache operators, eviction hints and scopes change no
// result.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/FunctionBuilder.h"
#include "runtime/ptxsim/insn/LoadStore.h"

#include <fmt/format.h>

using namespace ptxsim;

namespace {

/// What caches are told, and who is ordered: legal together with the space?
struct Hints {
  bool strong = false, order = false, isVolatile = false, mmio = false,
       nc = false, priority = false, prefetch = false;
  uint32_t scope = 0; ///< Order::Scope
  int cache = -1;     ///< ca cg cs lu cv wb wt
};

/// Modifiers that change nothing we model: caches and scopes.
Hints takeHints(Decoder &d, bool isOrdered) {
  Hints h;
  h.order = isOrdered || d.take("relaxed");
  h.mmio = d.take("mmio");
  h.isVolatile = d.take("volatile");
  d.take("weak");
  d.take("unified");
  h.scope = takeScope(d);
  h.nc = d.take("nc");
  h.cache = d.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  while (
      d.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                   "L1::evict_last", "L1::no_allocate", "L2::evict_normal",
                   "L2::evict_first", "L2::evict_last"}) >= 0)
    h.priority = true;
  h.prefetch = d.takeOneOf({"L2::64B", "L2::128B", "L2::256B"}) >= 0;
  h.strong = h.order || h.isVolatile;
  return h;
}

/// As ptxas has it.
bool areLegal(const Hints &h, bool hint, Space space, bool isLoad) {
  const bool global = space == Space::Generic || space == Space::Global,
             shared = space == Space::Shared || space == Space::SharedCluster;
  if (h.order != (h.scope != 0) || (h.strong && !global && !shared) ||
      (h.mmio && (!h.order || !global)))
    return false;
  if (shared && (h.priority || h.prefetch || hint))
    return false;
  if (!isLoad && (h.prefetch || h.nc))
    return false;
  if (h.nc && space != Space::Global)
    return false;
  return h.cache < 0 || h.cache == 1 || h.cache == 2 ||
         (isLoad ? h.cache < 5 : h.cache >= 5);
}

Space takeSpace(Decoder &d) {
  switch (
      d.takeOneOf({"global", "shared", "shared::cta", "local", "const", "param",
                   "param::entry", "shared::cluster", "param::func"})) {
  case 0:
    return Space::Global;
  case 1:
  case 2:
    return Space::Shared;
  case 7:
    return Space::SharedCluster;
  case 3:
    return Space::Local;
  case 4:
    return Space::Const;
  case 5:
  case 6:
  case 8:
    return Space::Param;
  default:
    return Space::Generic;
  }
}

/// Types that ld and st have not: halves are moved as .b16 or .b32.
bool isHalf(Type t) {
  return t == Type::F16 || t == Type::BF16 || t == Type::F16x2 ||
         t == Type::BF16x2 || t == Type::U16x2 || t == Type::S16x2;
}

bool decodeMemory(Decoder &d, bool isLoad) {
  bool hint = d.take("L2::cache_hint");
  bool isOrdered = d.take(isLoad ? "acquire" : "release");
  const Hints hints = takeHints(d, isOrdered);
  const bool strong = hints.strong;
  const uint32_t scope = hints.scope;
  Space space = takeSpace(d);
  int vector = d.takeOneOf({"v2", "v4"});
  unsigned n = vector < 0 ? 1 : vector == 0 ? 2 : 4;
  Type type = d.takeType();
  if (isHalf(type) || !areLegal(hints, hint, space, isLoad))
    return false;
  if (type == Type::None || type == Type::Pred || bitsOf(type) > 64 ||
      bitsOf(type) * n > 128 || !d.done())
    return false;
  if (!isLoad && space == Space::Const)
    return false;
  d.expect(hint ? 3 : 2);
  const Operand &value = d[isLoad ? 0 : 1];
  Decoder::AddressRef at = d.address(isLoad ? 1 : 0);
  std::span<const Operand> elements = d.elements(value);
  if (elements.size() != n)
    d.error(
        fmt::format("expected {} registers, but got {}", n, elements.size()));
  uint32_t rows[4];
  unsigned bits = 0;
  for (unsigned i = 0; i < n; ++i) {
    unsigned actual;
    rows[i] = isLoad ? d.destinationAtLeast(elements[i], bitsOf(type), actual)
                     : d.sourceAtLeast(elements[i], type, actual);
    // A sink or an immediate takes the width of the type; mixed widths do not
    // occur in one vector.
    if (bits && actual != bits)
      d.error("registers of different widths in a vector");
    bits = actual;
  }
  // Parameters of functions and of calls are in the thread's local memory.
  if (space == Space::Param && (at.space == Space::Local ||
                                (at.space == Space::Generic && d.inFunction())))
    space = Space::Local;
  if (!isLoad && space == Space::Param)
    d.error("a kernel's parameters cannot be written");
  const LoadStoreHandlers handlers = loadStoreHandlers(type, bits, n);
  const uint32_t *list = d.list({rows, n});
  if (space == Space::Param && at.space == Space::Param) {
    uint64_t offset = at.symbol + at.offset;
    if (offset > d.function.f.kernel.paramBytes ||
        d.function.f.kernel.paramBytes - offset < bitsOf(type) / 8 * n)
      d.error("outside of the parameters");
    if (offset % (bitsOf(type) / 8 * n))
      d.error("a misaligned parameter");
    Op &op = d.emit(handlers.loadParam);
    op.list = list, op.count = uint16_t(n), op.imm = offset;
    return true;
  }
  Op &op = d.emit(isLoad      ? isOrdered ? handlers.loadOrdered : handlers.load
                  : isOrdered ? handlers.storeOrdered
                              : handlers.store);
  op.a = at.row, op.e = at.bits, op.imm = at.offset, op.space = space,
  op.list = list, op.count = uint16_t(n);
  op.target = isOrdered
                  ? Order::Strong | (isLoad ? Order::Acquire : Order::Release)
              : strong ? Order::Strong
                       : 0;
  if (op.target)
    op.target = Order::withScope(op.target | (isLoad ? Order::Load : 0), scope);
  return true;
}

} // namespace

bool ptxsim::decodeLd(Decoder &d) { return decodeMemory(d, true); }
bool ptxsim::decodeSt(Decoder &d) { return decodeMemory(d, false); }
