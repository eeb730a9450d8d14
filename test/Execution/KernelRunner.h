//===- KernelRunner.h - One k2.kernel at a time -----------------*- C++ -*-===//
//
// Runs each k2.kernel of a model on the simulator with the reference's inputs
// and compares its outputs with the reference's: an error does not travel from
// kernel to kernel, so tolerances are those of one kernel.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_EXECUTION_KERNELRUNNER_H
#define TEST_EXECUTION_KERNELRUNNER_H

#include "CompiledKernel.h"
#include "RandomModel.h"
#include "dialects/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace k2c::test {

using ValueOf = llvm::function_ref<const RefValue &(mlir::Value)>;

/// The step that all kernels run in.
struct Step {
  reference::Batch<Real> batch;
  int64_t pages = 0;
  Integers ids;
  Tensor cos, sin;
  /// slotOf[e]: where expert e is in the pool.
  std::vector<int64_t> slotOf;
  /// The number of the batch's page 0: the cache is the end of a larger one of
  /// which the pages before do not exist.
  int64_t firstPage = 0;
  /// The same of the experts' rows: those of the step are the last of a larger
  /// one.
  int64_t firstExpertRow = 0;
};

class KernelRunner {
public:
  /// `module` holds the k2.model and the tile kernels made from it.
  KernelRunner(mlir::ModuleOp module, RandomParameters &parameters);

  /// The step of the launches that follow; it stays alive. Kernels are compiled
  /// once for all steps.
  void setStep(const Step &next);

  /// Uploads what the kernel reads and launches it. Called before the reference
  /// runs the kernel: it changes the cache in place.
  llvm::Error launch(k2::KernelOp kernel, int64_t layer, ValueOf valueOf);
  /// Compares what the kernel wrote. Called after the reference ran it.
  llvm::Error compare(k2::KernelOp kernel, ValueOf valueOf);
  /// What the launched kernel wrote as its result `index`, row by row.
  std::vector<double> result(k2::KernelOp kernel, unsigned index) const;
  /// Frees what the launched kernel wrote; compare does so too.
  void release();

  /// Of every kernel that is compiled from now on.
  Edits edits;

private:
  /// Memory of one argument.
  struct Array {
    uint64_t pointer = 0;
    size_t bytes = 0;
  };
  /// What a kernel wrote, to be compared.
  struct Output {
    plan::ArgAttr binding;
    Array array;
  };

  /// By what the argument binds.
  using Arrays = std::map<std::string, Array>;

  /// The tile kernels that the step needs, in order of launch.
  llvm::SmallVector<tile::KernelOp> tilesOf(k2::KernelOp kernel);
  llvm::Error launch(k2::KernelOp kernel, tile::KernelOp tile, int64_t layer,
                     ValueOf valueOf, Arrays &arrays);
  llvm::Expected<CompiledKernel *> compiled(llvm::StringRef name);
  int64_t evaluate(plan::ExprAttr expr, int64_t layer) const;
  /// Whether the argument has a row for every token and expert chosen for it.
  bool hasExpertRows(plan::ArgAttr arg) const;
  std::vector<std::pair<int64_t, int64_t>> queryTiles(int64_t rows,
                                                      int64_t perToken) const;
  /// The bytes of an argument before the launch; outputs are poison.
  std::vector<uint8_t> contents(k2::KernelOp kernel, plan::ArgAttr arg,
                                mlir::MemRefType view,
                                llvm::ArrayRef<int64_t> extents, int64_t layer,
                                ValueOf valueOf);
  std::vector<uint8_t> arrayContents(k2::KernelOp kernel, plan::ArgAttr arg,
                                     ValueOf valueOf);
  Array upload(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name);

  mlir::ModuleOp module;
  k2::ModelOp model;
  RandomParameters &parameters;
  const Step *current = nullptr;
  ptxsim::Device device;
  std::map<std::string, CompiledKernel> kernels;
  std::map<std::string, int64_t> symbols;
  std::vector<Output> outputs;
};

} // namespace k2c::test

#endif // TEST_EXECUTION_KERNELRUNNER_H
