//===- CompiledKernel.cpp - A tile kernel on the simulator ----------------===//
#include "CompiledKernel.h"

#include "k2c/Target/PTX.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace k2c;

static constexpr const char *kPipeline =
    "builtin.module(tile.kernel(canonicalize,cse,tile-verify-tiled,"
    "tile-pipeline-loops,tile-infer-layouts,canonicalize,cse,"
    "tile-allocate-shared,tile-insert-fences,tile-verify-scheduled),"
    "convert-tile-to-nvvm)";

llvm::Expected<test::CompiledKernel> test::compileKernel(tile::KernelOp kernel,
                                                         ptxsim::Device &device,
                                                         const Edits &edits) {
  MLIRContext *context = kernel.getContext();
  std::string messages;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      messages += diagnostic.str() + "\n";
    return success();
  });
  auto fail = [&](const std::string &what) {
    return llvm::createStringError(kernel.getSymName().str() + ": " + what +
                                   ": " + messages);
  };

  OwningOpRef<ModuleOp> module(ModuleOp::create(kernel.getLoc()));
  auto copy = cast<tile::KernelOp>(kernel->clone());
  module->getBody()->push_back(copy);
  if (edits.tile)
    edits.tile(copy);
  PassManager passes(context);
  if (failed(parsePassPipeline(StringRef(kPipeline).drop_front(15).drop_back(),
                               passes)))
    return fail("pipeline does not parse");
  buildNVVMToLLVMPipeline(passes);
  if (failed(passes.run(*module)))
    return fail("passes failed");

  auto modules = module->getOps<gpu::GPUModuleOp>();
  if (modules.empty())
    return fail("no gpu.module");
  gpu::GPUModuleOp code = *modules.begin();
  CompiledKernel compiled;
  compiled.threads = threadsPerBlock(code);
  compiled.sharedBytes = sharedBytes(code);
  FailureOr<std::string> ptx = emitPTX(code);
  if (failed(ptx))
    return fail("no PTX");
  compiled.ptx = *ptx;
  if (edits.ptx)
    edits.ptx(compiled.ptx);
  auto loaded =
      device.loadModule(compiled.ptx, kernel.getSymName().str() + ".ptx");
  if (!loaded)
    return fail("simulator: " + loaded.message());
  compiled.module = *loaded;
  return compiled;
}
