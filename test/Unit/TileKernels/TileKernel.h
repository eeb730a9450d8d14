// Compiles a kernel of abstract tile IR and runs it on ptxsim.
#ifndef K2C_TEST_UNIT_TILEKERNELS_TILEKERNEL_H
#define K2C_TEST_UNIT_TILEKERNELS_TILEKERNEL_H

#include "runtime/ptxsim/ptxsim.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace k2c::test {

uint16_t toBf16(float value);
float fromBf16(uint16_t bits);
/// Value of an e4m3 byte, from the format's definition.
float fromE4m3(uint8_t bits);

/// Deterministic numbers: multiples of 1/8 in [-2, 2], exact in bf16.
class Numbers {
public:
  explicit Numbers(uint64_t seed) : state(seed * 2654435761u + 1) {}
  uint32_t next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return state >> 33;
  }
  float value() { return (int(next() % 33) - 16) / 8.0f; }
  std::vector<uint16_t> bf16(size_t n) {
    std::vector<uint16_t> out(n);
    for (uint16_t &x : out)
      x = toBf16(value());
    return out;
  }
  /// Finite e4m3 bytes.
  std::vector<uint8_t> e4m3(size_t n) {
    std::vector<uint8_t> out(n);
    for (uint8_t &x : out)
      do
        x = next();
      while ((x & 0x7f) == 0x7f);
    return out;
  }

private:
  uint64_t state;
};

class TileKernel {
public:
  /// Fails the test if the text does not compile.
  explicit TileKernel(const std::string &text);

  template <typename T> void in(const std::vector<T> &data) {
    buffer(data.data(), data.size() * sizeof(T));
  }
  /// An output filled with 0x7b bytes, so that what must not be written shows.
  uint64_t out(size_t bytes);
  void i32(int32_t value);
  /// Runs; returns the fault's text, empty if there is none.
  std::string run(ptxsim::Dim3 grid);

  template <typename T> const T *data(uint64_t pointer) const {
    return reinterpret_cast<const T *>(pointer);
  }
  const std::string &ptx() const { return text; }
  ptxsim::Counters counters;

private:
  void compile(const std::string &source);
  void buffer(const void *data, size_t bytes);

  ptxsim::Device device;
  std::string text;
  int64_t sharedBytes = 0, threads = 0;
  std::vector<uint64_t> values;
};

/// Number of times `what` occurs.
size_t count(const std::string &text, const std::string &what);

} // namespace k2c::test

#endif // K2C_TEST_UNIT_TILEKERNELS_TILEKERNEL_H
