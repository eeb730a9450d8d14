//===- RandomModel.h - Weights, a batch and a cache for a model -*- C++ -*-===//
#ifndef TEST_EXECUTION_RANDOMMODEL_H
#define TEST_EXECUTION_RANDOMMODEL_H

#include "k2c/Reference/Interpreter.h"
#include <map>
#include <random>

namespace k2c::test {

using Real = double;
using Tensor = reference::TensorOf<Real>;
using reference::Integers;
using RefValue = reference::Value<Real>;

/// Exact values of e4m3 codes.
double decodeE4M3(uint8_t code);
/// The code of a value that is one.
uint8_t encodeE4M3(double value);
/// To the nearest bf16.
double roundToBf16(double value);

/// Weights drawn for every parameter of a model, the same for every load.
class RandomParameters : public reference::ParameterSource<Real> {
public:
  explicit RandomParameters(unsigned seed) : random(seed) {}
  /// Forgets what was drawn: for another model.
  void restart(unsigned seed) {
    random.seed(seed);
    values.clear();
  }
  llvm::Expected<RefValue> load(k2::ParamOp param, int64_t layer) override;
  const RefValue &get(k2::ParamOp param, int64_t layer);

  /// Parameters with names that end so are zero: every router score ties.
  std::vector<std::string> zeroed;
  /// Changes what was drawn for the parameters with names that end so.
  std::map<std::string, std::function<void(Tensor &)>> edited;
  /// Of the blocks of a quantized weight, every third holds zeros under its
  /// scale and every third has scale zero.
  bool zeroBlocks = false;

private:
  RefValue make(k2::ParamOp param);

  std::mt19937 random;
  std::map<std::pair<std::string, int64_t>, RefValue> values;
};

/// Tokens of a sequence: cached before the step, and of the step.
struct SequenceLength {
  int64_t past, tokens;
};

/// Tokens of a page of the cache.
constexpr int64_t kPageSize = 64;

/// A ragged batch over a paged cache: pages in no order, some unused. Where a
/// sequence has fewer pages than another, its row of the table names a page
/// that nobody has written.
reference::Batch<Real> makeBatch(llvm::ArrayRef<SequenceLength> lengths,
                                 int64_t &pages, std::mt19937 &random);
/// Random rows where the batch has tokens already, `unused` elsewhere.
reference::Cache<Real> makeCache(const reference::Batch<Real> &batch,
                                 int64_t pages, int64_t latents, int64_t rope,
                                 std::mt19937 &random, double unused);

/// Every kind of entry, in any order of keys. Row 0 of the step sees no key,
/// row 1 sees all of them alike: the lowest number swallows its scores. Columns
/// past a sequence's keys are NaN.
Tensor makeMask(const reference::Batch<Real> &batch, std::mt19937 &random);

} // namespace k2c::test

#endif // TEST_EXECUTION_RANDOMMODEL_H
