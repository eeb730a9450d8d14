// k2c-emit-ptx: the text of every kernel of a module, for tests and for looking
// at.
#include "k2c/Target/PTX.h"
#include "k2c/Target/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace k2c {
#define GEN_PASS_DEF_EMITPTXPASS
#include "k2c/Target/Passes.h.inc"
} // namespace k2c

namespace {

struct EmitPTX : k2c::impl::EmitPTXPassBase<EmitPTX> {
  using EmitPTXPassBase::EmitPTXPassBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUModuleOp>()) {
      FailureOr<std::string> text = k2c::emitPTX(kernel);
      if (failed(text))
        return signalPassFailure();
      if (folder == "-") {
        llvm::outs() << *text;
        continue;
      }
      llvm::SmallString<128> path(folder);
      llvm::sys::path::append(path, kernel.getName() + ".ptx");
      std::error_code error = llvm::sys::fs::create_directories(folder);
      if (error) {
        kernel.emitError("expected a folder to write to, but got ")
            << folder << ": " << error.message();
        return signalPassFailure();
      }
      llvm::raw_fd_ostream out(path, error);
      if (error) {
        kernel.emitError("expected a file to write to, but got ")
            << path << ": " << error.message();
        return signalPassFailure();
      }
      out << *text;
    }
  }
};

} // namespace

void k2c::registerTargetPasses() {
  registerPTXPasses();
  PassPipelineRegistration<>(
      "k2c-nvvm-to-llvm",
      "Lower kernels from convert-tile-to-nvvm to the LLVM dialect",
      buildNVVMToLLVMPipeline);
}
