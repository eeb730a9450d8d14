// The reference: runs a model, or functions of k2 and check ops, without GPU
// code.
//
//   k2-interpret MODEL --weights=DIR --input=IN.safetensors
//   --output=OUT.safetensors [--trace] [--logits] [--steps=21,1,1] k2-interpret
//   FILE.mlir [--entry=NAME] [--input=IN.safetensors]
//   [--output=OUT.safetensors] k2-interpret FILE.mlir --weights=DIR ... runs
//   the k2.model of the file as the first form does
//
// --type=f32|f64 is the arithmetic, --rounding=bf16 rounds where the ops say.
// Exit 1: bad input, or a check failed.
#include "dialects/Check/Check.h"
#include "dialects/K2/K2.h"
#include "k2c/Import/Import.h"
#include "k2c/Reference/Run.h"
#include "runtime/Checkpoint/Checkpoint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

using namespace k2c;
namespace cl = llvm::cl;

namespace {
enum class Type { F32, F64 };
} // namespace

static cl::OptionCategory category("k2-interpret options");
static cl::opt<std::string> path(cl::Positional, cl::desc("MODEL | FILE.mlir"),
                                 cl::Required, cl::cat(category));
static cl::opt<std::string> weights("weights",
                                    cl::desc("folder with the checkpoint"),
                                    cl::cat(category));
static cl::opt<std::string>
    inputPath("input", cl::desc("safetensors file with the inputs"),
              cl::cat(category));
static cl::opt<std::string> outputPath("output",
                                       cl::desc("safetensors file to write"),
                                       cl::cat(category));
static cl::opt<std::string>
    entry("entry",
          cl::desc("function of FILE.mlir (default: all without arguments)"),
          cl::cat(category));
static cl::opt<Type> type("type", cl::desc("arithmetic"),
                          cl::values(clEnumValN(Type::F32, "f32", "float32"),
                                     clEnumValN(Type::F64, "f64", "float64")),
                          cl::init(Type::F32), cl::cat(category));
static cl::opt<reference::Rounding>
    rounding("rounding", cl::desc("roundings"),
             cl::values(clEnumValN(reference::Rounding::None, "none",
                                   "none, the model's mathematics"),
                        clEnumValN(reference::Rounding::Bf16, "bf16",
                                   "to bf16 where the ops say")),
             cl::init(reference::Rounding::None), cl::cat(category));
static cl::opt<bool>
    trace("trace",
          cl::desc("also x.<l>, router.<l>.ids and router.<l>.weights"),
          cl::cat(category));
static cl::opt<bool> logits("logits", cl::desc("logits for x0, too"),
                            cl::cat(category));
static cl::list<int64_t>
    steps("steps", cl::CommaSeparated,
          cl::desc("columns of successive steps over the cache"),
          cl::cat(category));

static int fail(const std::string &message) {
  llvm::errs() << "k2-interpret: error: " << message << "\n";
  return 1;
}

static int runWholeModel(mlir::ModuleOp module) {
  if (weights.empty() || inputPath.empty() || outputPath.empty())
    return fail("usage: expected --weights, --input and --output with a model, "
                "but got fewer");
  auto input = reference::readTensors(inputPath);
  if (!input)
    return fail(llvm::toString(input.takeError()));
  reference::ModelRunOptions options;
  options.wide = type == Type::F64;
  options.rounding = rounding;
  options.weights = weights;
  options.trace = trace;
  options.logits = logits;
  options.steps.assign(steps.begin(), steps.end());
  auto checkpoint = k2rt::Checkpoint::open(weights);
  if (!checkpoint)
    return fail(checkpoint.status().message());
  if (checkpoint->reads(outputPath) ||
      llvm::sys::fs::equivalent(outputPath, inputPath))
    return fail("--output: expected a file that the run does not read, but "
                "got " +
                outputPath);
  auto output = reference::runModel(module, *input, options);
  if (!output)
    return fail(llvm::toString(output.takeError()));
  if (llvm::Error error =
          reference::writeTensors(outputPath, *output, options.wide))
    return fail(llvm::toString(std::move(error)));
  return 0;
}

static int runFunctions(mlir::ModuleOp module) {
  reference::HostTensors input;
  if (!inputPath.empty()) {
    auto read = reference::readTensors(inputPath);
    if (!read)
      return fail(llvm::toString(read.takeError()));
    input = std::move(*read);
  }
  std::vector<std::string> names = entry.empty()
                                       ? reference::closedFunctions(module)
                                       : std::vector<std::string>{entry};
  if (names.empty())
    return fail(
        path +
        ": expected a function without arguments, or --entry, but got neither");
  reference::RunOptions options;
  options.wide = type == Type::F64;
  options.rounding = rounding;
  int failures = 0;
  for (const std::string &name : names) {
    auto run = reference::runFunction(module, name, input, options);
    if (!run)
      return fail(name + ": " + llvm::toString(run.takeError()));
    for (const std::string &failure : run->failures)
      llvm::errs() << "k2-interpret: " << name << ": " << failure << "\n";
    failures += static_cast<int>(run->failures.size());
    llvm::outs() << name << ": "
                 << (run->failures.empty() ? "passed" : "failed") << "\n";
    if (outputPath.empty())
      continue;
    if (llvm::Error error =
            reference::writeTensors(outputPath, run->results, options.wide))
      return fail(llvm::toString(std::move(error)));
  }
  return failures ? 1 : 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "reference interpreter of k2c\n");
  mlir::DialectRegistry registry;
  registry.insert<check::CheckDialect, k2::K2Dialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::tensor::TensorDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  if (llvm::StringRef(path).ends_with(".mlir")) {
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
    if (!module)
      return 1;
    return weights.empty() ? runFunctions(*module) : runWholeModel(*module);
  }
  std::vector<std::string> notes;
  auto module = importModel(llvm::StringRef(path), context, &notes);
  if (!module)
    return fail(llvm::toString(module.takeError()));
  for (const std::string &note : notes)
    llvm::errs() << "k2-interpret: note: " << path << ": " << note << "\n";
  return runWholeModel(**module);
}
