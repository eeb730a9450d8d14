#ifndef RUNTIME_PTXSIM_COUNTING_GRIDWAITS_H
#define RUNTIME_PTXSIM_COUNTING_GRIDWAITS_H

#include <cstdint>
#include <unordered_map>

namespace ptxsim {

class Cta;
class Warp;
struct Op;

/// Waits of CTAs for each other through global memory, as grid barriers make
/// them: a strong load that reads a word again and again until another CTA
/// writes it. (Not atomics: one in a loop may as well take work from a
/// counter.) Counted is how many of them follow from one another: a CTA that
/// has waited is one further than the one that wrote the word was, so every
/// barrier of the grid counts once, whoever comes last.
class GridWaits {
public:
  void restart();
  /// A strong load of these lanes, before it executes.
  void reads(const Warp &w, const Op &op, uint32_t mask, const uint64_t *at);
  /// A store, an atomic or a reduction.
  void writes(const Warp &w, uint32_t mask, const uint64_t *at, uint32_t bytes);
  /// What the warp reads from now on, it does not read in the same loop.
  void interrupt(const Warp &w) { loops.erase(&w); }
  uint32_t longest() const { return most; }

private:
  /// A word that has been read so.
  struct Word {
    const Cta *by = nullptr;        ///< who wrote it last
    uint64_t latest = 0, other = 0; ///< when, and when somebody else did
    uint32_t depth = 0;             ///< waits before any of the writes
  };
  struct Loop {
    const Op *op = nullptr;
    uint32_t mask = 0;
    uint64_t at[32] = {};
    uint64_t begin = 0;
  };
  std::unordered_map<uint64_t, Word> words; ///< by address / 4
  uint64_t lowest = ~0ull, highest = 0;     ///< of them
  std::unordered_map<const Warp *, Loop> loops;
  std::unordered_map<const Cta *, uint32_t> depths;
  uint64_t now = 0; ///< writes to those words
  uint32_t most = 0;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_COUNTING_GRIDWAITS_H
