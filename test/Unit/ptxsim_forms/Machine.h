#ifndef TEST_UNIT_PTXSIM_FORMS_MACHINE_H
#define TEST_UNIT_PTXSIM_FORMS_MACHINE_H

// Whole kernels in tests of forms: one CTA or one cluster around a hand-written
// body (registers, shared memory and parameters of ptxsim_hopper/Kernel.h),
// with memory before and after.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_hopper/Kernel.h"

namespace ptxsim::forms {

/// Memory of words; elements of other widths are put into it.
using Words = std::vector<uint32_t>;
/// The `bytes` of `bits` at byte `at`.
void put(Words &words, size_t at, uint64_t bits, unsigned bytes);
uint64_t get(const Words &words, size_t at, unsigned bytes);
/// n words that are all different from each other and from 0.
Words numbers(size_t n, uint32_t seed);

struct Setup {
  uint32_t threads = 32; ///< per CTA
  Words out, in0, in1;   ///< the buffers; empty ones get one word
  /// The kernel's tensor map; its address is an offset into in0.
  std::optional<TensorMapDesc> map;
  uint32_t cluster = 1; ///< CTAs
  DeviceOptions options;
  std::string directives; ///< of the kernel
};
struct Memory {
  Words out, in0;
};
/// Runs the body; an error fails the test.
Memory launch(const std::string &body, const Setup &setup);
/// What loading or running the body says; empty if nothing.
std::string errorOf(const std::string &body, const Setup &setup);

inline DeviceOptions lazily() {
  DeviceOptions options;
  options.async = Async::Lazy;
  return options;
}

// Text for bodies. Registers from %r50, %d28 and %p7 on are theirs.

/// `{a0, a1}`.
std::string list(const std::string &prefix, unsigned n);
/// All threads copy the first bytes of in1 to shared memory, and meet; the
/// asynchronous proxy may read them.
std::string fillShared(uint32_t bytes, uint32_t threads = 32);
/// All threads meet and copy the first bytes of shared memory to out, from
/// byte `at` on.
std::string dumpShared(uint32_t bytes, uint32_t threads = 32,
                       const std::string &at = "0");
/// The cluster meets.
std::string meet();
/// Waits for the phase of parity 0 of the mbarrier at `address`, but not for
/// ever: a form's test without its instruction ends soon.
std::string await(const std::string &address);

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_MACHINE_H
