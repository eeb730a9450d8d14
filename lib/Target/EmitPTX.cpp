// NVVM to LLVM IR to PTX text.
#include "k2c/Target/PTX.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

void k2c::registerPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

static void initializeBackend() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static FailureOr<NVVM::NVVMTargetAttr> targetOf(gpu::GPUModuleOp module) {
  if (ArrayAttr targets = module.getTargetsAttr();
      targets && targets.size() == 1)
    if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(targets[0]))
      return target;
  return module.emitError("expected one #nvvm.target on the kernel's module");
}

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(NVVM::NVVMTargetAttr target, unsigned optLevel,
                    std::string &error) {
  llvm::Triple triple(target.getTriple());
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  auto level = llvm::CodeGenOpt::getLevel(optLevel).value_or(
      llvm::CodeGenOptLevel::Aggressive);
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.getChip(), target.getFeatures(), llvm::TargetOptions(),
      std::nullopt, std::nullopt, level));
}

/// Inline assembly with warp-wide or CTA-wide meaning must not move across
/// control flow; the LLVM dialect cannot say so.
static void markInlineAssemblyConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallBase>(&instruction);
          call && call->isInlineAsm())
        call->setConvergent();
}

/// Accesses are as wide as the tile lowering made them. The load-store
/// vectorizer would fill the gap after three elements with a fourth, which may
/// lie outside the view; its counterpart, which splits vector loads, is left
/// out below.
static void forbidWiderAccesses(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoImplicitFloat);
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     const k2c::PTXOptions &options) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef pass, const llvm::Any &) {
        return pass != "VectorCombinePass";
      });
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(),
                            std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  if (options.saveRegisters) {
    llvm::ModulePassManager passes;
    llvm::cantFail(builder.parsePassPipeline(
        passes, "function(sroa,instcombine,simplifycfg,early-cse,dce)"));
    passes.run(module, modules);
    return;
  }
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel level = levels[std::min(options.optLevel, 3u)];
  llvm::ModulePassManager passes =
      options.optLevel == 0 ? builder.buildO0DefaultPipeline(level)
                            : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

FailureOr<std::string> k2c::emitPTX(gpu::GPUModuleOp module,
                                    const PTXOptions &options) {
  initializeBackend();
  FailureOr<NVVM::NVVMTargetAttr> target = targetOf(module);
  if (failed(target))
    return failure();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(*target, options.optLevel, error);
  if (!machine)
    return module.emitError(
               "expected an LLVM with the NVPTX backend, but got: ")
           << error;

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, module.getName());
  if (!llvmModule)
    return failure();
  llvmModule->setDataLayout(machine->createDataLayout());
  llvmModule->setTargetTriple(machine->getTargetTriple());
  if (!options.lineInfo)
    llvm::StripDebugInfo(*llvmModule);
  markInlineAssemblyConvergent(*llvmModule);
  forbidWiderAccesses(*llvmModule);
  optimize(*llvmModule, *machine, options);

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, out, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return module.emitError("expected a backend that emits assembly text");
  codegen.run(*llvmModule);
  return std::string(text);
}

int64_t k2c::sharedBytes(gpu::GPUModuleOp module) {
  auto bytes = module->getAttrOfType<IntegerAttr>("tile.shared_bytes");
  return bytes ? bytes.getInt() : 0;
}

int64_t k2c::threadsPerBlock(gpu::GPUModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (auto threads = function->getAttrOfType<DenseI32ArrayAttr>(
            NVVM::NVVMDialect::getReqntidAttrName()))
      return llvm::product_of(threads.asArrayRef());
  return 0;
}
