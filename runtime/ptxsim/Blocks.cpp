// The order in which the parts of a divergent warp run.
//
// Blocks are put into a weak topological order (Bourdoncle): the strongly
// connected components of the control flow graph in topological order, each one
// starting with its entry and then, without the edges back to that entry,
// ordered in the same way. Running the split that is first in this order makes
// all lanes that entered a loop leave it before any goes on behind it, and all
// lanes meet again where their paths join, without a stack.

#include "runtime/ptxsim/FunctionBuilder.h"

#include <algorithm>

using namespace ptxsim;

namespace {

template <class Block> class Ordering {
public:
  Ordering(const std::vector<Block> &blocks)
      : blocks(blocks), state(blocks.size()) {}

  std::vector<uint32_t> run() {
    std::vector<uint32_t> all(blocks.size());
    for (uint32_t b = 0; b < all.size(); ++b)
      all[b] = b, state[b].region = 1;
    order(all, 1);
    return result;
  }

private:
  struct State {
    uint32_t region =
        0; ///< the (sub)graph being ordered that the block belongs to
    uint32_t index = 0, low = 0;
    bool onStack = false;
  };

  /// Appends the blocks of `nodes`, which are those with this region, in order.
  /// The first node is the entry.
  void order(const std::vector<uint32_t> &nodes, uint32_t region,
             unsigned depth = 0) {
    std::vector<std::vector<uint32_t>> components =
        findComponents(nodes, region);
    // Tarjan finds components behind their successors; we want them in front.
    for (auto component = components.rbegin(); component != components.rend();
         ++component) {
      if (component->size() == 1) {
        state[(*component)[0]].region = 0;
        result.push_back((*component)[0]);
        continue;
      }
      // The entry: Tarjan's root is where the search came in, which is where
      // lanes come in.
      uint32_t entry = component->back();
      state[entry].region = 0;
      result.push_back(entry);
      std::vector<uint32_t> rest;
      uint32_t inner = ++regions;
      // Start from what the entry leads to, then in text order.
      std::sort(component->begin(), component->end());
      const std::vector<uint32_t> &first = blocks[entry].successors;
      for (bool leads : {true, false})
        for (uint32_t b : *component)
          if (b != entry && leads == (std::find(first.begin(), first.end(),
                                                b) != first.end()))
            state[b].region = inner, rest.push_back(b);
      // Loops nested deeper than any program's: the order of the text will do.
      if (depth < 100)
        order(rest, inner, depth + 1);
      else
        for (uint32_t b : rest)
          state[b].region = 0, result.push_back(b);
    }
  }

  std::vector<std::vector<uint32_t>>
  findComponents(const std::vector<uint32_t> &nodes, uint32_t region) {
    std::vector<std::vector<uint32_t>> components;
    for (uint32_t b : nodes)
      state[b].index = 0;
    uint32_t next = 1;
    std::vector<uint32_t> stack;
    struct Frame {
      uint32_t block;
      size_t edge;
    };
    std::vector<Frame> frames;
    for (uint32_t root : nodes) {
      if (state[root].index)
        continue;
      frames.push_back({root, 0});
      while (!frames.empty()) {
        uint32_t b = frames.back().block;
        State &s = state[b];
        if (frames.back().edge == 0 && !s.index) {
          s.index = s.low = next++;
          s.onStack = true;
          stack.push_back(b);
        }
        bool descended = false;
        while (frames.back().edge < blocks[b].successors.size()) {
          uint32_t t = blocks[b].successors[frames.back().edge++];
          if (state[t].region != region)
            continue;
          if (!state[t].index) {
            frames.push_back({t, 0});
            descended = true;
            break;
          }
          if (state[t].onStack)
            s.low = std::min(s.low, state[t].index);
        }
        if (descended)
          continue;
        if (s.low == s.index) {
          auto &component = components.emplace_back();
          for (uint32_t t = ~b; t != b;) {
            t = stack.back();
            stack.pop_back();
            state[t].onStack = false;
            component.push_back(t);
          }
        }
        frames.pop_back();
        if (!frames.empty())
          state[frames.back().block].low =
              std::min(state[frames.back().block].low, s.low);
      }
    }
    return components;
  }

  const std::vector<Block> &blocks;
  std::vector<State> state;
  std::vector<uint32_t> result;
  uint32_t regions = 1;
};

} // namespace

void FunctionBuilder::orderBlocks() {
  const uint32_t n = uint32_t(f.ops.size());
  std::vector<uint8_t> leader(n + 1, 0);
  leader[0] = leader[n] = 1;
  for (const Callee &c : f.callees)
    leader[c.entry] = 1;
  for (const auto &[index, info] : jumps) {
    leader[index + 1] = 1;
    for (uint32_t target : info.targets)
      leader[target] = 1;
  }
  blocks.clear();
  std::vector<uint32_t> blockOf(n);
  for (uint32_t i = 0; i < n; ++i) {
    if (leader[i]) {
      blocks.push_back({i, i, {}});
      f.ops[i].flags |= Leader;
    }
    blockOf[i] = uint32_t(blocks.size() - 1);
    blocks.back().end = i + 1;
  }
  // Nodes without ops: where each function returns from, what a pointer may
  // call, and where that returns from.
  const uint32_t real = uint32_t(blocks.size()),
                 functions = uint32_t(f.callees.size());
  const uint32_t hub = real + functions, hubReturn = hub + 1;
  if (functions) {
    blocks.resize(real + functions + 2);
    for (uint32_t c = 0; c < functions; ++c)
      if (f.callees[c].address) {
        blocks[hub].successors.push_back(blockOf[f.callees[c].entry]);
        blocks[real + c].successors.push_back(hubReturn);
      }
    for (const CallEdge &e : callEdges) {
      const bool indirect = e.site->callee == CallSite::Indirect;
      blocks[blockOf[e.op]].successors.push_back(
          indirect ? hub : blockOf[f.callees[e.site->callee].entry]);
      if (e.op + 1 < n)
        blocks[indirect ? hubReturn : real + e.site->callee]
            .successors.push_back(blockOf[e.op + 1]);
    }
  }
  for (uint32_t i = 0; i < real; ++i) {
    Block &block = blocks[i];
    uint32_t last = block.end - 1;
    auto it = jumps.find(last);
    bool conditional = f.ops[last].guard != 0;
    if (it != jumps.end() && it->second.kind == Jump::Return)
      block.successors.push_back(real + uint32_t(it->second.function));
    if (it != jumps.end())
      for (uint32_t target : it->second.targets)
        block.successors.push_back(blockOf[target]);
    if ((it == jumps.end() || conditional) && block.end < n)
      block.successors.push_back(blockOf[block.end]);
  }
  // Lanes that can only end the launch (a failed assertion) do so before others
  // miss them at a barrier.
  std::vector<bool> doomed(blocks.size());
  for (uint32_t i = 0; i < n; ++i)
    if (!f.ops[i].guard && f.infos[i].form == "trap")
      doomed[blockOf[i]] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 0; b < blocks.size(); ++b) {
      const std::vector<uint32_t> &next = blocks[b].successors;
      if (doomed[b] || next.empty() ||
          !std::all_of(next.begin(), next.end(),
                       [&](uint32_t to) { return doomed[to]; }))
        continue;
      doomed[b] = changed = true;
    }
  }
  const std::vector<uint32_t> order = Ordering(blocks).run();
  uint32_t next = 0;
  for (bool first : {true, false})
    for (uint32_t b : order) // nodes without ops are empty
      if (doomed[b] == first)
        for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i)
          f.ops[i].order = next++;
}
