//===- k2c.cpp - The compiler's command line ------------------------------===//
#include "k2c/Import/Import.h"
#include "k2c/InitAll.h"
#include "k2c/Pipelines/Compiler.h"
#include "k2c/Pipelines/Remarks.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace k2c;

namespace {
cl::OptionCategory category("k2c");

cl::opt<std::string> model(cl::Positional, cl::desc("MODEL"), cl::cat(category),
                           cl::value_desc("config.json or its folder"));
cl::opt<std::string> output("o", cl::cat(category), cl::value_desc("path"),
                            cl::desc("Artifact, or with --emit a file"));
cl::opt<std::string> target("target", cl::init("sm_90a"), cl::cat(category),
                            cl::desc("Architecture to compile for"));
cl::opt<std::string>
    activations("activations", cl::init("bf16"), cl::cat(category),
                cl::value_desc("bf16|fp8"),
                cl::desc("Type of activations in linears (fp8: not yet)"));
cl::opt<std::string>
    numerics("numerics", cl::init("fused"), cl::cat(category),
             cl::value_desc("fused|reference"),
             cl::desc("Whether passes may change where values are rounded"));
cl::opt<std::string> schedule("schedule", cl::init("auto"), cl::cat(category),
                              cl::value_desc("auto|baseline"),
                              cl::desc("How kernels are scheduled"));
cl::opt<bool> batchInvariant("batch-invariant", cl::cat(category),
                             cl::desc("Results of a sequence do not depend on "
                                      "the rest of the batch nor on its "
                                      "chunks"));
cl::opt<std::string>
    passPlugin("pass-plugin", cl::cat(category), cl::value_desc("file"),
               cl::desc("Load passes from a library (not yet)"));
cl::opt<std::string> explain("explain", cl::ValueOptional, cl::cat(category),
                             cl::value_desc("text|json"),
                             cl::desc("Say what each fusion saves (not yet)"));
cl::opt<Stage> emit(
    "emit", cl::init(Stage::Artifact), cl::cat(category),
    cl::desc("What to write:"),
    cl::values(clEnumValN(Stage::K2, "k2", "the imported model"),
               clEnumValN(Stage::Fused, "fused", "the model as kernels"),
               clEnumValN(Stage::Tile, "tile", "abstract kernels and the plan"),
               clEnumValN(Stage::Scheduled, "scheduled", "scheduled kernels"),
               clEnumValN(Stage::NVVM, "nvvm", "per-thread code"),
               clEnumValN(Stage::LLVM, "llvm", "LLVM IR of every kernel"),
               clEnumValN(Stage::PTX, "ptx", "PTX of every kernel"),
               clEnumValN(Stage::Artifact, "artifact", "the artifact")));
cl::opt<std::string> dumpStages("dump-stages", cl::cat(category),
                                cl::value_desc("folder"),
                                cl::desc("Write the IR after every stage"));
cl::opt<std::string> remarksFilter(
    "remarks-filter", cl::cat(category), cl::value_desc("regex"),
    cl::desc("Say what the passes whose whole name matches decided, and why"));
cl::opt<std::string>
    remarkFormat("remark-format", cl::init("emitRemark"), cl::cat(category),
                 cl::value_desc("emitRemark|yaml|bitstream"),
                 cl::desc("Form of remarks: messages, or a file"));
cl::opt<std::string> remarksFile("remarks-output-file", cl::cat(category),
                                 cl::value_desc("file"),
                                 cl::desc("File of yaml and bitstream remarks"
                                          " (k2c-remarks.yaml|bitstream)"));
enum class Parameters { Text, Json };
cl::opt<Parameters>
    printParameters_("print-parameters", cl::ValueOptional, cl::cat(category),
                     cl::desc("Print the parameters of the model and stop:"),
                     cl::values(clEnumValN(Parameters::Text, "", "text"),
                                clEnumValN(Parameters::Text, "text", "a table"),
                                clEnumValN(Parameters::Json, "json", "JSON")));

int fail(const Twine &message) {
  errs() << "k2c: error: " << message << "\n";
  return 1;
}

/// An option that has values we know of: whether this one is supported.
std::string check(StringRef option, StringRef value,
                  ArrayRef<StringRef> supported, ArrayRef<StringRef> later) {
  if (is_contained(supported, value))
    return "";
  std::string rule =
      ("--" + option + ": expected " + join(supported, " or ")).str();
  if (is_contained(later, value))
    return (rule + ", but got " + value + ", which is not supported yet").str();
  return (rule + ", but got '" + value + "'").str();
}

std::string checkOptions() {
  for (const std::string &problem :
       {check("target", target, {"sm_90a"}, {"sm_100a"}),
        check("activations", activations, {"bf16"}, {"fp8"}),
        check("numerics", numerics, {"fused", "reference"}, {}),
        check("remark-format", remarkFormat,
              {"emitRemark", "yaml", "bitstream"}, {}),
        check("schedule", schedule, {"auto", "baseline"}, {})})
    if (!problem.empty())
      return problem;
  for (const cl::Option *option : {static_cast<cl::Option *>(&passPlugin),
                                   static_cast<cl::Option *>(&explain)})
    if (option->getNumOccurrences())
      return ("--" + option->ArgStr +
              ": expected to be left out, but got an option that is not "
              "supported yet")
          .str();
  return "";
}
} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  // Passes first: --mlir-print-ir-after=PASS knows those that are registered.
  registerAllPasses();
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  // LLVM's targets bring hundreds of options: --help-hidden shows them.
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) {
    os << "k2c " K2C_VERSION " (MLIR " LLVM_VERSION_STRING ")\n";
  });
  cl::ParseCommandLineOptions(
      argc, argv,
      "compiles a Kimi K2 or DeepSeek-V3 model to an artifact of GPU code\n\n"
      "  k2c MODEL -o ART\n  k2c MODEL --print-parameters[=text|json]\n\n"
      "MLIR's options work too: --mlir-timing, --mlir-print-ir-after-all, "
      "... (--help-hidden lists them)\n");

  if (model.empty())
    return fail("MODEL: expected a config.json or a folder with one, but got "
                "nothing");
  if (printParameters_.getNumOccurrences())
    return printParameters(model,
                           printParameters_ == Parameters::Json
                               ? ParameterFormat::Json
                               : ParameterFormat::Text,
                           outs(), errs());
  if (std::string problem = checkOptions(); !problem.empty())
    return fail(problem);
  if (dumpStages.getNumOccurrences() && dumpStages.empty())
    return fail("--dump-stages: expected a folder, but got nothing");
  if (emit == Stage::Artifact && output.empty())
    return fail("-o: expected the path of the artifact, but got nothing");

  // Of an artifact the compiler makes sure itself that it replaces one.
  for (StringRef config : {std::string(model), model + "/config.json"})
    if (sys::fs::equivalent(output, config))
      return fail("-o: expected another file than MODEL, but got " + output);

  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  if (remarksFilter.getNumOccurrences() &&
      mlir::failed(
          enableRemarks(context, {remarksFilter, remarkFormat, remarksFile})))
    return 1;
  CompileRequest request{model, output, emit, dumpStages, {}};
  request.options.target = target;
  request.options.activations = activations;
  request.options.numerics = numerics;
  request.options.schedule = schedule;
  request.options.batchInvariant = batchInvariant;
  return compile(request, context);
}
