//===- InvarianceTest.cpp - A row's result does not depend on its step ----===//
//
// One sequence, the probe, runs in steps of different company: alone, between
// other sequences (other number of tokens, other place in tiles, in the pages
// and in the experts' work list), and with its last tokens in a step of their
// own. Every kernel must write the same bits for the probe's rows.
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"

#include "k2c/Conversion/K2ToTile/KernelInputs.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::test;

namespace {

/// What a kernel of a layer wrote, row by row of the probe's tokens.
using Rows = std::map<std::string, std::vector<std::vector<double>>>;

class Invariance : public ModelTest {
protected:
  void check(llvm::json::Object config) {
    compile(std::move(config));
    ASSERT_TRUE(runner);
    const SequenceLength probe{60, 11};
    Rows alone = rowsOf({}, probe, {});
    EXPECT_GT(alone.size(), 20u);
    expectSame(alone, rowsOf({{0, 3}}, probe, {}), 0);
    expectSame(alone, rowsOf({}, probe, {{5, 70}}), 0);
    expectSame(alone, rowsOf({{130, 64}, {0, 1}}, probe, {{3, 9}, {64, 2}}), 0);
    expectSame(alone, rowsOf({}, {64, 7}, {}), 4);
    expectSame(alone, rowsOf({{7, 5}}, {70, 1}, {{0, 40}}), 10);
  }

private:
  /// The rows from `first` on of `want` are those of `got`.
  void expectSame(const Rows &want, const Rows &got, size_t first) {
    ASSERT_EQ(want.size(), got.size());
    for (const auto &[kernel, rows] : want) {
      const auto &others = got.at(kernel);
      ASSERT_EQ(rows.size(), others.size() + first) << kernel;
      for (size_t r = 0; r < others.size(); ++r)
        EXPECT_EQ(rows[first + r], others[r]) << kernel << " row " << r;
    }
  }

  Rows rowsOf(ArrayRef<SequenceLength> before, SequenceLength probe,
              ArrayRef<SequenceLength> after) {
    SmallVector<SequenceLength> lengths(before);
    lengths.push_back(probe);
    llvm::append_range(lengths, after);
    auto model = *module->getOps<k2::ModelOp>().begin();
    k2::ConfigAttr facts = model.getConfig();
    std::mt19937 random(lengths.size());
    Step step;
    step.batch = makeBatch(lengths, step.pages, random);
    const int64_t sequence = before.size();
    const int64_t start = step.batch.seqStart[sequence];
    fillTokens(step, facts, start, probe, random);
    runner->setStep(step);
    reference::Interpreter<Real> reference(reference::Rounding::Bf16, &weights);
    auto rowOf = [&](const reference::Cache<Real> &cache, int64_t position) {
      int64_t page = step.batch.blockTable.at(sequence, position / kPageSize);
      return cache.row(page * kPageSize + position % kPageSize);
    };
    for (int64_t l = 0; l < facts.getNumHiddenLayers(); ++l) {
      reference.caches.push_back(
          makeCache(step.batch, step.pages, facts.getKvLoraRank(),
                    facts.getQkRopeHeadDim(), random, input.unused));
      // The first run's cached rows are the probe's in all of them.
      if (cached.size() > size_t(l))
        for (int64_t position = 0; position < probe.past; ++position)
          llvm::copy(cached[l][position], rowOf(reference.caches[l], position));
    }

    Rows rows;
    reference::Routing routing;
    reference.hooks.before = [&](Operation *op, int64_t layer,
                                 ValueOf valueOf) {
      if (auto kernel = dyn_cast<k2::KernelOp>(op))
        if (llvm::Error error = runner->launch(kernel, layer, valueOf))
          ADD_FAILURE() << llvm::toString(std::move(error));
    };
    reference.hooks.after = [&](Operation *op, int64_t layer, ValueOf valueOf) {
      auto kernel = dyn_cast<k2::KernelOp>(op);
      // A kernel that failed has no results.
      if (!kernel || HasFailure())
        return;
      for (OpResult result : kernel->getResults()) {
        if (auto *made = std::get_if<reference::Routing>(&valueOf(result)))
          routing = *made;
        if (!isa<RankedTensorType>(result.getType()))
          continue;
        std::string name = kernel.getName().str() + "." +
                           std::to_string(layer) + "." +
                           std::to_string(result.getResultNumber());
        // Rows of experts lie where the routing put them.
        bool perToken =
            getRowCount(result) == plan::ExprAttr::get(&context, "T");
        int64_t columns =
            cast<RankedTensorType>(result.getType()).getDimSize(1);
        std::vector<double> all =
            runner->result(kernel, result.getResultNumber());
        auto keepRow = [&](const std::string &key, int64_t row) {
          auto first = all.begin() + row * columns;
          rows[key].emplace_back(first, first + columns);
        };
        for (int64_t t = start; t < start + probe.tokens; ++t) {
          if (perToken) {
            keepRow(name, t);
            continue;
          }
          for (int64_t k = 0; k < routing.rowOf.columns(); ++k)
            keepRow(name + "." + std::to_string(k), routing.rowOf.at(t, k));
        }
      }
      if (llvm::Error error = runner->compare(kernel, valueOf))
        ADD_FAILURE() << llvm::toString(std::move(error));
    };
    auto entry = model.lookupSymbol<k2::EntryOp>("model");
    auto result = reference.run(entry.getBody(),
                                {step.ids, step.cos, step.sin, step.batch});
    if (!result)
      ADD_FAILURE() << llvm::toString(result.takeError());
    if (cached.empty())
      for (const reference::Cache<Real> &cache : reference.caches) {
        cached.emplace_back();
        for (int64_t p = 0; p < probe.past + probe.tokens; ++p)
          cached.back().emplace_back(rowOf(cache, p), rowOf(cache, p) +
                                                          cache.latentSize +
                                                          cache.ropeSize);
      }
    return rows;
  }

  /// The probe's tokens and tables follow from its positions, all others are
  /// random.
  void fillTokens(Step &step, k2::ConfigAttr facts, int64_t start,
                  SequenceLength probe, std::mt19937 &random) {
    int64_t tokens = step.batch.tokens();
    int64_t pairs = facts.getQkRopeHeadDim() / 2;
    step.ids = Integers({tokens});
    step.cos = step.sin = Tensor({tokens, pairs});
    for (int64_t t = 0; t < tokens; ++t) {
      bool isProbe = t >= start && t < start + probe.tokens;
      int64_t seed = isProbe ? probe.past + t - start : random();
      step.ids.data[t] = uint64_t(seed) * 37 % facts.getVocabSize();
      for (int64_t i = 0; i < pairs; ++i) {
        double angle = (seed % 1000) * std::pow(0.5, i);
        step.cos.at(t, i) = static_cast<float>(std::cos(angle));
        step.sin.at(t, i) = static_cast<float>(std::sin(angle));
      }
    }
    step.slotOf.resize(std::max<int64_t>(facts.getNRoutedExperts(), 0));
    std::iota(step.slotOf.begin(), step.slotOf.end(), 0);
  }

  /// The probe's rows in the cache, by layer and position.
  std::vector<std::vector<std::vector<double>>> cached;
};

TEST_F(Invariance, Bf16Weights) { check(baseConfig()); }

TEST_F(Invariance, QuantizedWeights) {
  check(with({{"hidden_size", 256},
              {"q_lora_rank", 160},
              {"kv_lora_rank", 320},
              {"num_attention_heads", 3},
              {"num_key_value_heads", 3},
              {"n_routed_experts", 24},
              {"num_experts_per_tok", 4},
              {"quantization_config", quantized()}}));
}

TEST_F(Invariance, ExpandedAttention) {
  isAbsorbed = false;
  check(baseConfig());
}

} // namespace
