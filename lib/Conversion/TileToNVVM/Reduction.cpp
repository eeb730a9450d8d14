#include "lib/Conversion/TileToNVVM/Reduction.h"

#include "dialects/Tile/LayoutAnalysis.h"

using namespace mlir;
using namespace k2c::tile;
using namespace k2c::tile_to_nvvm;

static Partial combineTree(SmallVector<Partial> partials, Combine combine) {
  while (partials.size() > 1) {
    SmallVector<Partial> next;
    for (size_t i = 0; i + 1 < partials.size(); i += 2)
      next.push_back(combine(partials[i], partials[i + 1]));
    if (partials.size() % 2)
      next.push_back(partials.back());
    partials = std::move(next);
  }
  return partials.front();
}

/// Registers of the input per register of the result; copies of an element
/// count once.
static std::optional<SmallVector<SmallVector<unsigned>>>
groupRegisters(const LinearLayout &layout, const LinearLayout &result,
               unsigned axis, ArrayRef<unsigned> owned) {
  SmallVector<SmallVector<unsigned>> groups(result.registersPerThread());
  for (unsigned reg : owned) {
    Coord coord = layout.at(reg);
    coord[axis] = 0;
    std::optional<unsigned> target = result.findRegister(coord);
    if (!target)
      return std::nullopt;
    groups[*target].push_back(reg);
  }
  return groups;
}

std::optional<SmallVector<Partial>>
k2c::tile_to_nvvm::reduceAxis(ImplicitLocOpBuilder &b, KernelState &state,
                              const LinearLayout &layout,
                              const LinearLayout &result, unsigned axis,
                              ArrayRef<Partial> registers, Combine combine) {
  std::optional<ReducePlan> plan = reducePlan(layout, axis);
  if (!plan || !(plan->result == result))
    return std::nullopt;
  ThreadCoordinates coordinates(b, layout, state.numWarps);
  std::optional<SmallVector<SmallVector<unsigned>>> groups =
      groupRegisters(layout, result, axis, coordinates.ownedRegisters());
  if (!groups)
    return std::nullopt;

  SmallVector<Partial> partials;
  for (ArrayRef<unsigned> group : *groups) {
    if (group.empty()) {
      // A copy of a lower register.
      partials.push_back(Partial());
      continue;
    }
    Partial partial =
        combineTree(llvm::map_to_vector(
                        group, [&](unsigned reg) { return registers[reg]; }),
                    combine);
    for (unsigned mask : plan->laneMasks) {
      Partial other;
      for (Value field : partial)
        other.push_back(shuffleXor(b, field, mask));
      partial = combine(partial, other);
    }
    partials.push_back(partial);
  }

  if (!plan->warpBits.empty()) {
    SmallVector<Value> published;
    for (const Partial &partial : partials)
      published.append(partial.begin(), partial.end());
    WarpExchange exchange(b, state, coordinates.thread(), published);
    unsigned mask = 0, index = 0;
    for (unsigned bit : plan->warpBits)
      mask |= 1u << bit;
    for (Partial &partial : partials) {
      SmallVector<Partial> ofWarps;
      for (unsigned bits = 0; bits <= mask; ++bits) {
        if (bits & ~mask)
          continue;
        Partial other;
        for (unsigned field = 0; field < partial.size(); ++field)
          other.push_back(exchange.read(index + field, mask, bits));
        ofWarps.push_back(other);
      }
      index += partial.size();
      if (!partial.empty())
        partial = combineTree(ofWarps, combine);
    }
  }
  for (auto [reg, partial] : llvm::enumerate(partials))
    if (partial.empty())
      partial = partials[*result.findRegister(result.at(reg))];
  return partials;
}
