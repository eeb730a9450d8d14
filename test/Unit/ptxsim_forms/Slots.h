#ifndef TEST_UNIT_PTXSIM_FORMS_SLOTS_H
#define TEST_UNIT_PTXSIM_FORMS_SLOTS_H

// Memory for the tests of ld, st, atom and red: every thread of a warp has a
// slot of 64 bytes in some state space, reached by an address of that space or
// a generic one.

#include <cstdint>
#include <string>
#include <vector>

namespace ptxsim::forms {

/// Peer is the shared memory of the other CTA of a cluster of two.
enum class Place { Global, Shared, Peer, Local, Const, Param };

struct Reach {
  Place place;
  bool generic = false;
};

/// How the instruction with these words may reach memory: through a generic
/// address several ways. `Weak` accesses reach every space that the ISA lists
/// for ld (with `constant`, .const and .param too), others global and shared
/// memory.
std::vector<Reach> reachesOf(const std::vector<std::string> &words,
                             bool constant);

constexpr unsigned slotBytes = 64;

struct SlotRun {
  Reach reach{Place::Global};
  /// The form under test: what sets the scene avoids it.
  std::string form;
  /// PTX with the address of the thread's slot in %a (64 bits), that of a slot
  /// common to the CTA's threads in %common, the thread's index over all CTAs
  /// in %thread and the address of its `words` 8-byte words in %out.
  std::string body;
  unsigned words = 1;
  /// Asynchronous stores take effect at their wait.
  bool lazy = false;
  /// The address is the same in all threads: %a is %common.
  bool uniform = false;
  /// What %values points to: 8-byte words.
  std::vector<uint64_t> values;
  /// The bytes of all slots: before the run and after it.
  std::vector<uint8_t> slots;
  std::vector<uint64_t> out;

  size_t threads() const { return reach.place == Place::Peer ? 64 : 32; }
  /// Which slot is the thread's: a fixed permutation, other CTA's for Peer.
  size_t slotOf(size_t thread) const;
  /// Which one is common to the thread's CTA.
  size_t commonSlot(size_t thread) const;
  /// False if the program does not load or run; a test failure says why.
  bool run();
};

/// Bytes with all kinds of tops: the same in every run.
std::vector<uint8_t> patternBytes(size_t bytes, uint32_t seed);

/// `size` bytes at `bytes[at]` as a little-endian number.
uint64_t numberAt(const std::vector<uint8_t> &bytes, size_t at, unsigned size);
void setNumberAt(std::vector<uint8_t> &bytes, size_t at, unsigned size,
                 uint64_t number);

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_SLOTS_H
