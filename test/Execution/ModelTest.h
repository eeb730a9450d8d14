//===- ModelTest.h - A model with random weights, kernel by kernel -*- C++ -*-//
//
// A config becomes a model with random weights. The reference runs it in the
// rounding of the compiled code; each kernel runs on the simulator on the
// reference's inputs.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_EXECUTION_MODELTEST_H
#define TEST_EXECUTION_MODELTEST_H

#include "KernelRunner.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"
#include <limits>

namespace k2c::test {

/// A config.json of the family; tests change what they are about.
llvm::json::Object baseConfig();
llvm::json::Object
with(std::initializer_list<std::pair<const char *, llvm::json::Value>> fields);
/// The value of quantization_config.
llvm::json::Object quantized();

/// What is special about a step.
struct Special {
  /// Tokens whose slot is -1.
  std::vector<int64_t> withoutSlot;
  /// Of the cache's rows that no token has.
  double unused = std::numeric_limits<double>::quiet_NaN();
  int64_t firstPage = 0, firstExpertRow = 0;
  /// Whether the step has a mask.
  bool masked = false;
};

class ModelTest : public testing::Test {
protected:
  ModelTest();

  /// The kernels of a model, each compared where the reference runs it.
  void check(llvm::json::Object config, llvm::ArrayRef<SequenceLength> lengths,
             unsigned seed = 1);

  /// The same in two steps, for several batches on one model.
  void compile(llvm::json::Object config, unsigned seed = 1);
  void run(llvm::ArrayRef<SequenceLength> lengths, unsigned seed = 1);

  /// The compiled model's kernel with this name.
  k2::KernelOp kernel(llvm::StringRef name);
  Step makeStep(llvm::ArrayRef<SequenceLength> lengths, std::mt19937 &random);

  mlir::MLIRContext context;
  /// Whether k2-absorb-attention runs.
  bool isAbsorbed = true;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  RandomParameters weights{1};
  std::unique_ptr<KernelRunner> runner;
  Special input;
  /// Only kernels with this in their name run.
  std::string only;
  int compared = 0;
  /// Where errors of kernels go in place of failing the test.
  std::vector<std::string> *errors = nullptr;
  /// With `keep`: what each layer's kernels gave, by "<layer>.<kernel>".
  bool keep = false;
  std::map<std::string, std::vector<double>> kept;

private:
  void report(llvm::Error error);
  mlir::OwningOpRef<mlir::ModuleOp> import(llvm::json::Object config);
};

} // namespace k2c::test

#endif // TEST_EXECUTION_MODELTEST_H
