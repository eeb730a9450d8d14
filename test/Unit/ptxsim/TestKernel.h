#ifndef TEST_UNIT_PTXSIM_TESTKERNEL_H
#define TEST_UNIT_PTXSIM_TESTKERNEL_H

#include "runtime/ptxsim/ptxsim.h"

#include <bit>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxsim::test {

/// `.version`, `.target` and `.address_size`, on three lines.
extern const std::string header;

inline DeviceOptions onThreads(unsigned threads) {
  DeviceOptions options;
  options.threads = threads;
  return options;
}

/// A device with one module on it.
class Sim {
public:
  explicit Sim(const std::string &text, DeviceOptions options = {});

  /// A buffer named `name` with these elements.
  template <class T>
  uint64_t buffer(const std::string &name, const std::vector<T> &elements) {
    auto p = device.allocate(elements.size() * sizeof(T), name);
    EXPECT_TRUE(p.ok());
    EXPECT_TRUE(
        device.copyToDevice(*p, elements.data(), elements.size() * sizeof(T))
            .ok());
    return *p;
  }
  template <class T> std::vector<T> read(uint64_t pointer, size_t n) {
    std::vector<T> elements(n);
    EXPECT_TRUE(
        device.copyToHost(elements.data(), pointer, n * sizeof(T)).ok());
    return elements;
  }

  /// Launches the module's only entry; all parameters have 64 bits.
  Status run(std::vector<uint64_t> params, Dim3 block = {32, 1, 1},
             Dim3 grid = {1, 1, 1}, uint32_t shared = 0);

  Device device;
  std::shared_ptr<Module> module;
  std::string loadError;
  Counters counters;
};

/// Runs `body` with one thread per expected value and returns what they stored:
/// a body with registers %t (thread), %out (64-bit address of the thread's
/// 8-byte slot, zero at first) and %p0, %p1 (pointers to the buffers in0, in1),
/// declarations of its own included.
std::vector<uint64_t> runBody(const std::string &body, size_t threads,
                              std::vector<uint64_t> in0 = {},
                              std::vector<uint64_t> in1 = {});
/// Runs a kernel k(out, in0, in1) of such a body that has been loaded.
std::vector<uint64_t> runOn(Sim &sim, size_t threads, std::vector<uint64_t> in0,
                            std::vector<uint64_t> in1);
/// The first line of the fault or load error of such a body; empty if there is
/// none.
std::string faultOfBody(const std::string &body, size_t threads = 32,
                        DeviceOptions options = {});

/// One instruction in one thread: operands and what it must give.
struct Case {
  uint64_t a, b, c, expected;
};

/// Widths of the registers d, a, b, c of the instruction; 1 is a predicate, 0
/// an operand that is not there.
struct Widths {
  unsigned d, a, b = 0, c = 0;
};

/// The body that executes `instruction` (`add.s32 d, a, b`, or several as a { }
/// block) on a, b, c of the thread's Case at %p0 and stores d.
std::string instructionBody(const std::string &instruction, Widths widths);

/// Runs `instruction` (`add.s32 d, a, b`), a case per thread, in full and in
/// partial warps, and compares d.
void expectInstruction(const std::string &instruction, Widths widths,
                       std::vector<Case> cases);

inline uint64_t f32(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t f64(double x) { return std::bit_cast<uint64_t>(x); }
inline uint64_t s32(int32_t x) { return uint32_t(x); }
inline uint64_t s16(int16_t x) { return uint16_t(x); }
inline uint64_t s64(int64_t x) { return uint64_t(x); }

} // namespace ptxsim::test

#endif // TEST_UNIT_PTXSIM_TESTKERNEL_H
