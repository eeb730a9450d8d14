// Compiles tile kernels from text and runs them on the simulator.
#ifndef K2C_TEST_UNIT_TILETONVVM_TILERUNNER_H
#define K2C_TEST_UNIT_TILETONVVM_TILERUNNER_H

#include "dialects/Tile/LinearLayout.h"
#include "runtime/ptxsim/ptxsim.h"

#include "mlir/IR/MLIRContext.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace k2c::test {

/// bf16 as bits.
uint16_t toBf16(float value);
float fromBf16(uint16_t bits);

/// Arguments of a launch, as the kernel ABI has them.
class Arguments {
public:
  explicit Arguments(ptxsim::Device &device) : device(device) {}
  /// A buffer that ends where its data ends.
  template <typename T> T *buffer(const std::vector<T> &data) {
    auto pointer = device.allocate(data.size() * sizeof(T), "buffer");
    std::memcpy(reinterpret_cast<void *>(*pointer), data.data(),
                data.size() * sizeof(T));
    values.push_back(*pointer);
    return reinterpret_cast<T *>(*pointer);
  }
  void i32(int32_t value) { values.push_back(static_cast<uint32_t>(value)); }
  void f32(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    values.push_back(bits);
  }
  std::vector<const void *> pointers() const;

private:
  ptxsim::Device &device;
  std::vector<uint64_t> values;
};

class TileRunner {
public:
  TileRunner();
  ptxsim::Device &device() { return simulator; }
  /// Compiles `text` (one kernel; with `infer` its layouts are chosen first)
  /// and runs it. Empty on success, else what went wrong.
  std::string run(const std::string &text, const Arguments &arguments,
                  ptxsim::Dim3 grid = {}, bool infer = false);
  /// The attribute's text.
  std::string encoding(const tile::LinearLayout &layout);
  const std::string &ptx() const { return lastPTX; }

private:
  mlir::MLIRContext context;
  ptxsim::Device simulator;
  std::string lastPTX;
};

/// A random surjective layout of `shape`. `mixed`: images are XORs of several
/// coordinate bits instead of single ones. Bits without room broadcast, in
/// random places.
tile::LinearLayout randomLayout(std::mt19937 &random,
                                const std::vector<int64_t> &shape,
                                unsigned warpBits, bool mixed);

/// "64x128xf32, #tile.linear<...>".
std::string tensorText(TileRunner &runner, const tile::LinearLayout &layout,
                       const std::string &element);

} // namespace k2c::test

#endif // K2C_TEST_UNIT_TILETONVVM_TILERUNNER_H
