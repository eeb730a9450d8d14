//===- Compiler.cpp - From a model's folder to an artifact ----------------===//
#include "k2c/Pipelines/Compiler.h"
#include "Assembly.h"

#include "dialects/Plan/Plan.h"
#include "k2c/Artifact/ArtifactWriter.h"
#include "k2c/Artifact/Manifest.h"
#include "k2c/Import/Import.h"
#include "k2c/Pipelines/Report.h"
#include "k2c/Target/PTX.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

#include <chrono>

using namespace mlir;
using namespace k2c;
using nlohmann::ordered_json;

namespace {
using Clock = std::chrono::steady_clock;

/// Names as the importer gave them; a file's position as editors know it.
void printPlace(Location location, raw_ostream &os) {
  if (auto name = dyn_cast<NameLoc>(location))
    os << name.getName().getValue() << ": ";
  else if (auto file = dyn_cast<FileLineColLoc>(location))
    os << file.getFilename().getValue() << ":" << file.getLine() << ":"
       << file.getColumn() << ": ";
  else if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations().take_front())
      printPlace(part, os);
}

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One compile. Each step returns whether to go on.
class Compilation {
public:
  Compilation(const CompileRequest &request, MLIRContext &context)
      : request(request), options(request.options), context(context) {}
  int run();

private:
  bool error(const Twine &message) {
    llvm::errs() << "k2c: error: " << message << "\n";
    return false;
  }
  template <typename Build> bool runPasses(Build build);
  bool import();
  /// Dumps the module; if this stage is asked for, writes it and ends.
  bool reached(Stage stage, StringRef name);
  bool dumpStage(Stage stage, StringRef name);
  bool emitText(function_ref<void(raw_ostream &)> print);
  bool dump(StringRef name, function_ref<void(raw_ostream &)> print);
  bool lower();
  bool generate();
  bool writeArtifact(const AssemblyResults &results);
  std::string report(const AssemblyResults &results);

  const CompileRequest &request;
  PipelineOptions options;
  MLIRContext &context;
  Clock::time_point start = Clock::now();
  OwningOpRef<ModuleOp> module;
  std::map<std::string, KernelCost> costs;
  int stages = 0;        // reached so far
  bool finished = false; // the stage that was asked for is written
};
} // namespace

template <typename Build> bool Compilation::runPasses(Build build) {
  PassManager passes(&context);
  if (failed(applyPassManagerCLOptions(passes)))
    return false;
  applyDefaultTimingPassManagerCLOptions(passes);
  build(passes);
  return succeeded(passes.run(*module));
}

bool Compilation::import() {
  std::vector<std::string> notes;
  llvm::Expected<ModelFacts> facts = readModelFacts(request.model);
  if (!facts)
    return error(llvm::toString(facts.takeError()));
  for (const std::string &note : facts->notes)
    llvm::errs() << "k2c: note: " << note << "\n";
  options.configHash = facts->configSha256;
  auto imported = importModel(*facts, context);
  if (!imported)
    return error(llvm::toString(imported.takeError()));
  module = std::move(*imported);
  return true;
}

bool Compilation::emitText(function_ref<void(raw_ostream &)> print) {
  finished = true;
  std::error_code code;
  llvm::ToolOutputFile out(request.output.empty() ? "-" : request.output, code,
                           llvm::sys::fs::OF_None);
  if (code)
    return error(request.output + ": expected a file to write to, but got " +
                 code.message());
  print(out.os());
  out.keep();
  return true;
}

bool Compilation::dump(StringRef name,
                       function_ref<void(raw_ostream &)> print) {
  if (request.dumpFolder.empty())
    return true;
  llvm::SmallString<128> path(request.dumpFolder);
  llvm::sys::path::append(path, llvm::formatv("0{0}-{1}", stages, name));
  std::error_code code =
      llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
  if (!code) {
    llvm::raw_fd_ostream out(path, code);
    if (!code)
      print(out);
  }
  return code ? error(path + ": expected a file to write to, but got " +
                      code.message())
              : true;
}

bool Compilation::dumpStage(Stage stage, StringRef name) {
  ++stages;
  return dump((name + ".mlir").str(), [&](raw_ostream &os) {
    os << "// Stage " << name << "; the rest of the way: k2-opt FILE"
       << remainingPipelines(stage, options) << "\n";
    module->print(os);
    os << "\n";
  });
}

bool Compilation::reached(Stage stage, StringRef name) {
  if (!dumpStage(stage, name))
    return false;
  if (request.emit != stage)
    return true;
  return emitText([&](raw_ostream &os) {
    // Local scope: aliases of a whole model's weights only hide the ops.
    module->print(os);
    os << "\n";
  });
}

/// The stages in IR, up to the LLVM dialect.
bool Compilation::lower() {
  if (!reached(Stage::K2, "k2"))
    return false;
  if (finished)
    return true;
  if (!runPasses([&](OpPassManager &p) { buildK2Pipeline(p, options); }) ||
      !reached(Stage::Fused, "fused"))
    return false;
  if (finished)
    return true;
  for (auto model : module->getOps<k2::ModelOp>())
    costs = collectCosts(model);
  if (!runPasses([&](OpPassManager &p) {
        buildK2ToTilePipeline(p);
        buildK2ToPlanPipeline(p, options);
      }) ||
      !reached(Stage::Tile, "tile"))
    return false;
  if (finished)
    return true;
  if (!runPasses([](OpPassManager &p) { buildTilePipeline(p); }) ||
      !reached(Stage::Scheduled, "scheduled"))
    return false;
  if (finished)
    return true;
  if (!runPasses(
          [&](OpPassManager &p) { buildTileToNVVMPipeline(p, options); }) ||
      !reached(Stage::NVVM, "nvvm"))
    return false;
  if (finished)
    return true;
  return runPasses([](OpPassManager &p) { buildNVVMToLLVMPipeline(p); }) &&
         dumpStage(Stage::LLVM, "llvm");
}

/// PTX one kernel after the other, ptxas beside it.
bool Compilation::generate() {
  auto kernels = module->getOps<gpu::GPUModuleOp>();
  if (request.emit == Stage::LLVM) {
    bool good = true;
    return emitText([&](raw_ostream &os) {
             for (auto kernel : kernels) {
               llvm::LLVMContext llvmContext;
               auto text = translateModuleToLLVMIR(kernel, llvmContext,
                                                   kernel.getName());
               good &= bool(text);
               if (text)
                 text->print(os, nullptr);
             }
           }) &&
           good;
  }
  // The text depends on what ptxas says, so that it is asked for PTX, too.
  Assembly assembly(options.target);
  if (!assembly.problem().empty())
    return error(assembly.problem());
  auto emit = [&](gpu::GPUModuleOp kernel, const PTXOptions &ptxOptions) {
    FailureOr<std::string> ptx = emitPTX(kernel, ptxOptions);
    if (failed(ptx))
      return error("kernel " + kernel.getName() +
                   ": expected it to be translated to PTX");
    assembly.add(kernel.getName().str(), *ptx, sharedBytes(kernel));
    return true;
  };
  for (auto kernel : kernels)
    if (!emit(kernel, {}))
      return false;
  AssemblyResults &results = assembly.wait();
  // Where ptxas runs out of registers, code that keeps fewer values alive.
  PTXOptions careful;
  careful.saveRegisters = true;
  for (auto kernel : kernels)
    if (results.codes[kernel.getName().str()].assembled.spills &&
        !emit(kernel, careful))
      return false;
  assembly.wait();
  ++stages;
  for (auto &[name, code] : results.codes) {
    const std::string &text = code.ptx;
    if (!dump("ptx/" + name + ".ptx", [&](raw_ostream &os) { os << text; }))
      return false;
  }
  if (request.emit == Stage::PTX)
    return emitText([&](raw_ostream &os) {
      for (auto &[name, code] : results.codes)
        os << code.ptx;
    });
  bool good = true;
  for (auto &[name, code] : results.codes)
    if (!code.assembled.fault.empty())
      good = error(assembly.explain(name));
  return good && writeArtifact(results);
}

std::string Compilation::report(const AssemblyResults &results) {
  ordered_json list = ordered_json::array();
  for (auto program : module->getOps<plan::ProgramOp>())
    for (auto kernel : program.getBody().getOps<plan::KernelOp>()) {
      std::string name = kernel.getSymName().str();
      const Code &code = results.codes.at(kernel.getCode().str());
      ordered_json entry = {{"name", name},
                            {"code", kernel.getCode().str()},
                            {"ops", toJSON(Attribute(kernel.getSourceOps()))},
                            {"flops", costs[name].flops},
                            {"compulsory_bytes", costs[name].bytes},
                            {"threads", kernel.getBlock()},
                            {"shared_bytes", code.sharedBytes}};
      if (results.hasPtxas) {
        const PtxasReport &ptxas = code.assembled.report;
        entry["registers"] = ptxas.registers;
        entry["spill_bytes"] = ptxas.spillBytes;
        entry["stack_bytes"] = ptxas.stackBytes;
      }
      list.push_back(entry);
    }
  return printManifest({{"kernels", list}});
}

bool Compilation::writeArtifact(const AssemblyResults &results) {
  ArtifactWriter writer;
  std::string problem = writer.open(request.output);
  auto write = [&](const Twine &name, StringRef bytes) {
    if (problem.empty())
      problem = writer.write(name.str(), bytes);
  };
  llvm::StringMap<KernelFacts> facts;
  for (auto &[name, code] : results.codes) {
    KernelFacts &fact = facts[name];
    fact.ptxSha256 = sha256(code.ptx);
    fact.sharedBytes = code.sharedBytes;
    if (results.hasPtxas)
      fact.registers = code.assembled.report.registers;
  }
  size_t kernels = 0;
  for (auto program : module->getOps<plan::ProgramOp>()) {
    // Kernels with equal code have files of their own: each can be edited.
    for (auto kernel : program.getBody().getOps<plan::KernelOp>()) {
      const Code &code = results.codes.at(kernel.getCode().str());
      ++kernels;
      write("kernels/" + kernel.getSymName() + ".ptx", code.ptx);
      if (results.hasPtxas)
        write("kernels/" + kernel.getSymName() + "." + options.target +
                  ".cubin",
              code.assembled.cubin);
    }
    write("manifest.json", printManifest(buildManifest(program, facts)));
  }
  write("report.json", report(results));
  if (problem.empty())
    problem = writer.commit();
  if (!problem.empty())
    return error(problem);
  if (!results.hasPtxas)
    llvm::errs()
        << "k2c: note: no ptxas was found (K2C_PTXAS, CUDA_HOME, PATH, "
           "Python package nvidia-cuda-nvcc): the artifact has PTX "
           "only\n";
  llvm::errs() << llvm::formatv(
      "k2c: {0}: {1} kernels, {2} of them distinct, {3} from the cache, "
      "{4:f1} s\n",
      request.output, kernels, results.codes.size(), results.cached,
      secondsSince(start));
  return true;
}

int Compilation::run() {
  // What passes say goes out in the tool's own form.
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    const char *severity =
        diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error"
        : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning"
        : diagnostic.getSeverity() == DiagnosticSeverity::Note    ? "note"
                                                                  : "remark";
    llvm::errs() << "k2c: " << severity << ": ";
    printPlace(diagnostic.getLocation(), llvm::errs());
    llvm::errs() << diagnostic << "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      llvm::errs() << "k2c: note: " << note << "\n";
    return success();
  });
  bool good = import() && lower() && (finished || generate());
  return good ? 0 : 1;
}

int k2c::compile(const CompileRequest &request, MLIRContext &context) {
  return Compilation(request, context).run();
}
