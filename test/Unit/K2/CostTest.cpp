// The costs of Kimi-K2-Instruct's ops against the figures that the model's
// notes derive by hand from the shapes.
#include "dialects/K2/K2.h"
#include "k2c/Import/Import.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

static std::string text(const CostExpr &expr) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  expr.print(stream);
  return result;
}

TEST(CostExpr, FoldsAndPrints) {
  CostExpr T = CostExpr::tokens(), S = CostExpr::keys();
  EXPECT_EQ(text(CostExpr(2) * CostExpr(3)), "6");
  EXPECT_EQ(text(CostExpr(1) * T + CostExpr(0)), "T");
  EXPECT_EQ(text(CostExpr(0) * T), "0");
  EXPECT_EQ(text((CostExpr(2) + T) * S), "(2 + T) * S");
  EXPECT_EQ(text(CostExpr::min(CostExpr(8), CostExpr(4) * T)), "min(8, 4 * T)");
  EXPECT_EQ(
      (CostExpr::min(CostExpr(8), CostExpr(4) * T) + S * CostExpr::sequences())
          .evaluate({1, 10, 3}),
      34);
}

namespace {

/// The imported model of the published config.
class K2Costs : public testing::Test {
protected:
  void SetUp() override {
    auto imported = importModel(std::string(K2C_SOURCE_DIR) +
                                    "/test/configs/kimi-k2-instruct-0711.json",
                                context);
    ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    module = std::move(*imported);
  }

  /// The op of the MoE block whose location has this name.
  K2CostInterface op(StringRef name) {
    K2CostInterface found;
    module->walk([&](K2CostInterface candidate) {
      if (auto location = dyn_cast<NameLoc>(candidate->getLoc()))
        if (location.getName() == name)
          found = candidate;
    });
    EXPECT_TRUE(found) << name.str();
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  const StepSizes one{1, 4096, 1};
};

} // namespace

TEST_F(K2Costs, Linears) {
  EXPECT_EQ(op("moe.o_proj").getFlops().evaluate(one), 2.0 * 7168 * 8192);
  // Values of one byte and 56 x 64 scales of four.
  EXPECT_EQ(op("moe.o_proj").getOperandBytes(1).evaluate(one),
            58720256.0 + 4 * 56 * 64);
  EXPECT_EQ(text(op("moe.o_proj").getOperandBytes(0)), "2 * T * 8192");
  // The last block of rows of kv_a holds 64: five rows of scales.
  EXPECT_EQ(op("moe.kv_a_proj_with_mqa").getOperandBytes(1).evaluate(one),
            576.0 * 7168 + 4 * 5 * 56);
  EXPECT_EQ(op("moe.gate").getOperandBytes(1).evaluate(one), 5505024.0);
  EXPECT_EQ(op("lm_head").getOperandBytes(1).evaluate(one), 2348810240.0);
}

TEST_F(K2Costs, Experts) {
  K2CostInterface gate = op("moe.experts.gate_proj");
  double expert = 2048.0 * 7168 + 4 * 16 * 56;
  EXPECT_EQ(gate.getFlops().evaluate(one), 8 * 2.0 * 2048 * 7168);
  EXPECT_EQ(gate.getOperandBytes(1).evaluate(one), 8 * expert);
  EXPECT_EQ(gate.getOperandBytes(1).evaluate({1000, 0, 1}), 384 * expert);
  EXPECT_EQ(gate.getResultBytes(0).evaluate(one), 8 * 2.0 * 2048);
  EXPECT_EQ(gate.getOperandBytes(0).evaluate(one), 2.0 * 7168);
  EXPECT_EQ(op("moe.experts.down_proj").getOperandBytes(0).evaluate(one),
            8 * 2.0 * 2048);
}

TEST_F(K2Costs, ExpandedAttention) {
  // 16.8 MFLOP per key for kv_b and 40,960 per query and key.
  EXPECT_EQ(op("moe.attention").getFlops().evaluate(one),
            4096 * (16777216.0 + 40960));
}

TEST_F(K2Costs, AbsorbedAttention) {
  const char *source = R"(
func.func @absorbed(%q: tensor<?x12288xbf16>, %kv_b: tensor<16384x512xbf16>, %cache: !k2.cache<512, 64>, %batch: !k2.batch) {
  %0 = k2.absorb_query %q, %kv_b {heads = 64, nope = 128, rope = 64, value = 128} : (tensor<?x12288xbf16>, tensor<16384x512xbf16>) -> tensor<?x32768xbf16>
  %1 = k2.mla_attention_absorbed %0, %q, %cache, %batch {heads = 64, nope = 128, rope = 64, scale = 0.1}
      : (tensor<?x32768xbf16>, tensor<?x12288xbf16>, !k2.cache<512, 64>, !k2.batch) -> tensor<?x32768xbf16>
  %2 = k2.absorb_output %1, %kv_b {heads = 64, nope = 128, value = 128} : (tensor<?x32768xbf16>, tensor<16384x512xbf16>) -> tensor<?x8192xbf16>
  return
})";
  context.loadDialect<func::FuncDialect>();
  auto parsed = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(parsed);
  std::vector<double> flops;
  parsed->walk([&](K2CostInterface op) {
    flops.push_back(op.getFlops().evaluate(one));
  });
  EXPECT_EQ(flops, std::vector<double>({8388608, 139264.0 * 4096, 8388608}));
}
