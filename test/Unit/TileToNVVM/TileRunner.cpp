#include "TileRunner.h"

#include "dialects/Tile/Tile.h"
#include "k2c/Conversion/TileToNVVM/Passes.h"
#include "k2c/Target/PTX.h"
#include "k2c/Transforms/Tile/Passes.h"

#include <algorithm>

using namespace mlir;
using namespace k2c;
using namespace k2c::test;

uint16_t k2c::test::toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  // Round to nearest, ties to even.
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float k2c::test::fromBf16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

std::vector<const void *> Arguments::pointers() const {
  std::vector<const void *> result;
  for (const uint64_t &value : values)
    result.push_back(&value);
  return result;
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, vector::VectorDialect, tile::TileDialect>();
  registerPTXTranslations(registry);
  return registry;
}

TileRunner::TileRunner()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  context.loadAllAvailableDialects();
}

std::string TileRunner::encoding(const tile::LinearLayout &layout) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << tile::LinearAttr::get(&context, layout);
  return text;
}

std::string TileRunner::run(const std::string &text, const Arguments &arguments,
                            ptxsim::Dim3 grid, bool infer) {
  std::string problems;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    problems += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "parse: " + problems + text;
  PassManager passes(&context);
  if (infer) {
    OpPassManager &kernel = passes.nest<tile::KernelOp>();
    kernel.addPass(createTileInferLayoutsPass());
    kernel.addPass(createTileAllocateSharedPass());
    kernel.addPass(createTileInsertFencesPass());
  }
  passes.addPass(createConvertTileToNVVMPass());
  buildNVVMToLLVMPipeline(passes);
  if (failed(passes.run(*module)))
    return "passes: " + problems + text;
  gpu::GPUModuleOp kernel = *module->getOps<gpu::GPUModuleOp>().begin();
  FailureOr<std::string> ptx = emitPTX(kernel);
  if (failed(ptx))
    return "PTX: " + problems;
  lastPTX = *ptx;
  auto loaded = simulator.loadModule(*ptx, "kernel.ptx");
  if (!loaded)
    return "load: " + loaded.message();
  const ptxsim::Module &code = **loaded;
  uint32_t threads = static_cast<uint32_t>(threadsPerBlock(kernel));
  ptxsim::Status status = simulator.launch(
      code, code.kernels().front(), grid, {threads, 1, 1},
      static_cast<uint32_t>(sharedBytes(kernel)), arguments.pointers().data());
  return status.ok() ? "" : "launch: " + status.message() + text;
}

tile::LinearLayout k2c::test::randomLayout(std::mt19937 &random,
                                           const std::vector<int64_t> &shape,
                                           unsigned warpBits, bool mixed) {
  tile::LinearLayout empty(shape, tile::PackedBases{});
  std::vector<uint64_t> images;
  for (unsigned bit = 0; bit < empty.totalBits(); ++bit)
    images.push_back(uint64_t(1) << bit);
  if (mixed)
    for (unsigned step = 0; step < 2 * images.size(); ++step) {
      size_t i = random() % images.size(), j = random() % images.size();
      if (i != j)
        images[i] ^= images[j];
    }
  // Lanes and warps need their bits; what the shape lacks is a copy. A register
  // copy now and then.
  while (images.size() < 5 + warpBits)
    images.push_back(0);
  if (random() % 4 == 0)
    images.push_back(0);
  std::shuffle(images.begin(), images.end(), random);
  tile::PackedBases bases;
  bases[tile::kLane].assign(images.begin(), images.begin() + 5);
  bases[tile::kWarp].assign(images.begin() + 5, images.begin() + 5 + warpBits);
  bases[tile::kReg].assign(images.begin() + 5 + warpBits, images.end());
  return tile::LinearLayout(shape, bases);
}

std::string k2c::test::tensorText(TileRunner &runner,
                                  const tile::LinearLayout &layout,
                                  const std::string &element) {
  std::string text;
  for (int64_t extent : layout.shape())
    text += std::to_string(extent) + "x";
  return "tensor<" + text + element + ", " + runner.encoding(layout) + ">";
}
