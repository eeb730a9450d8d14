#include "test/Unit/TileKernels/TileKernel.h"

#include "k2c/InitAll.h"
#include "k2c/Target/PTX.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

using namespace k2c::test;

uint16_t k2c::test::toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
float k2c::test::fromBf16(uint16_t half) {
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
float k2c::test::fromE4m3(uint8_t bits) {
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float magnitude = exponent ? std::ldexp(8.0f + mantissa, exponent - 10)
                             : std::ldexp(float(mantissa), -9);
  return bits & 0x80 ? -magnitude : magnitude;
}

size_t k2c::test::count(const std::string &text, const std::string &what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++n;
  return n;
}

static ptxsim::DeviceOptions options() {
  ptxsim::DeviceOptions o;
  // Bytes arrive as late as they may, fresh memory is NaN.
  o.async = ptxsim::Async::Lazy;
  o.poison = true;
  if (const char *text = std::getenv("K2C_TEST_SIM"))
    EXPECT_EQ(ptxsim::readOptions(text, o).message(), "");
  return o;
}

TileKernel::TileKernel(const std::string &source) : device(options()) {
  compile(source);
}

void TileKernel::compile(const std::string &source) {
  static mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry r;
    k2c::registerAllDialects(r);
    k2c::registerPTXTranslations(r);
    k2c::registerAllPasses();
    return r;
  }();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  ASSERT_TRUE(module);
  mlir::PassManager passes(&context);
  ASSERT_TRUE(mlir::succeeded(mlir::parsePassPipeline(
      "tile.kernel(tile-verify-tiled,tile-pipeline-loops,tile-infer-layouts,"
      "canonicalize,cse,tile-allocate-shared,"
      "tile-insert-fences,tile-verify-scheduled),convert-tile-to-nvvm,k2c-nvvm-"
      "to-llvm",
      passes)));
  ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  auto kernel = *module->getOps<mlir::gpu::GPUModuleOp>().begin();
  auto ptx = k2c::emitPTX(kernel);
  ASSERT_TRUE(mlir::succeeded(ptx));
  text = *ptx;
  sharedBytes = k2c::sharedBytes(kernel);
  threads = k2c::threadsPerBlock(kernel);
}

void TileKernel::buffer(const void *data, size_t bytes) {
  auto pointer =
      device.allocate(bytes, "argument " + std::to_string(values.size()));
  ASSERT_TRUE(pointer) << pointer.message();
  std::memcpy(reinterpret_cast<void *>(*pointer), data, bytes);
  values.push_back(*pointer);
}

uint64_t TileKernel::out(size_t bytes) {
  std::vector<uint8_t> fill(bytes, 0x7b);
  buffer(fill.data(), bytes);
  return values.back();
}

void TileKernel::i32(int32_t value) { values.push_back(uint32_t(value)); }

std::string TileKernel::run(ptxsim::Dim3 grid) {
  auto module = device.loadModule(text, "kernel.ptx");
  if (!module)
    return module.message();
  const ptxsim::Kernel &kernel = (*module)->kernels().front();
  if (kernel.params.size() != values.size())
    return "wrong number of arguments";
  std::vector<const void *> pointers;
  for (uint64_t &value : values)
    pointers.push_back(&value);
  auto status = device.launch(**module, kernel, grid, {uint32_t(threads), 1, 1},
                              sharedBytes, pointers.data(), &counters);
  return status.message();
}
