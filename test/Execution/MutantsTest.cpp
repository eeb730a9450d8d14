//===- MutantsTest.cpp - Broken kernels are noticed -----------------------===//
//
// Each test breaks one thing on the compiled path and expects that the
// comparison with the reference, or a check of the simulator, says so.
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"
#include "Mutations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::test;

namespace {

class Mutants : public ModelTest {
protected:
  /// Steps such as StepsTest.cpp's, fewer of them.
  static std::vector<std::vector<SequenceLength>> steps() {
    return {{{70, 5}, {3, 0}, {0, 17}, {128, 1}}, {{0, 130}}, {{63, 66}}};
  }

  /// What notices the edit, or nothing.
  std::string caught(StringRef kernel, Edits edits) {
    runner = std::make_unique<KernelRunner>(*module, weights);
    runner->edits = std::move(edits);
    only = kernel;
    std::vector<std::string> found;
    errors = &found;
    for (const auto &lengths : steps())
      if (found.empty())
        run(lengths);
    errors = nullptr;
    return found.empty() ? "" : found.front();
  }

  /// What was made wrong, or nothing if there is no such match.
  std::optional<std::string>
  expectCaught(StringRef kernel, StringRef kind,
               std::function<bool(Operation *)> matches = nullptr,
               unsigned index = 0) {
    std::optional<std::string> made;
    Edits edits;
    edits.tile = [&](tile::KernelOp tile) {
      if (tile.getSymName() == kernel)
        made = mutate(tile, {[&](StringRef k, Operation *op) {
                               return k == kind && (!matches || matches(op));
                             },
                             index});
    };
    std::string message = caught(kernel, edits);
    EXPECT_TRUE(made || index > 0)
        << "no " << kind.str() << " in " << kernel.str();
    EXPECT_TRUE(!made || !message.empty()) << "survived: " << *made;
    return made;
  }

  void everyMistake();

  void expectDropped(StringRef kernel, StringRef instruction) {
    bool dropped = true, any = false;
    for (unsigned index = 0; dropped; ++index) {
      Edits edits;
      dropped = false;
      edits.ptx = [&](std::string &ptx) {
        dropped |= StringRef(ptx).contains(".entry " + kernel.str() + "(") &&
                   dropInstruction(ptx, instruction, index);
      };
      std::string message = caught(kernel, edits);
      any |= dropped;
      EXPECT_EQ(message.empty(), !dropped)
          << kernel.str() << " without " << instruction.str() << " " << index
          << ": " << message;
    }
    EXPECT_TRUE(any) << "no " << instruction.str() << " in " << kernel.str();
  }
};

/// On numbers of this type.
std::function<bool(Operation *)> of(bool isTile) {
  return [=](Operation *op) {
    return isa<RankedTensorType>(op->getOperand(0).getType()) == isTile;
  };
}

TEST_F(Mutants, Attention) {
  compile(baseConfig());
  // Causality: the token itself is seen.
  expectCaught("moe_attention", "cmpi sle -> slt");
  expectCaught("moe_attention", "maximumf gives operand 0");
  expectCaught("moe_attention", "store without bounds");
  expectCaught("moe_attention", "load_scalar + 1");
}

TEST_F(Mutants, Experts) {
  compile(baseConfig());
  for (const char *kernel : {"moe_experts_gate_up", "moe_experts_down"}) {
    // Rows, counts and slots come from the work list.
    expectCaught(kernel, "load_scalar + 1");
    expectCaught(kernel, "store without bounds");
  }
  expectCaught("moe_dispatch", "cmpi slt -> sle");
  expectCaught("moe_dispatch", "cmpi eq -> ne");
  expectCaught("moe_expert_work", "cmpi slt -> sle");
}

// Groups and experts of a tile that the model does not have, beside experts of
// scores below theirs.
TEST_F(Mutants, PaddedExperts) {
  weights.edited["e_score_correction_bias"] = [](Tensor &bias) {
    for (double &value : bias.data)
      value -= 5;
  };
  compile(with({{"n_routed_experts", 75},
                {"num_experts_per_tok", 8},
                {"n_group", 5},
                {"topk_group", 3}}));
  only = "router";
  run({{0, 17}});
  only = "";
  for (const char *kind : {"cmpi slt -> sle", "andi gives operand 0"})
    expectCaught("moe_router", kind);
  expectCaught("moe_router", "cmpi slt -> sle", nullptr, 1);
  expectCaught("moe_router", "select gives operand 1");
}

TEST_F(Mutants, BlockScales) {
  compile(with({{"hidden_size", 256}, {"quantization_config", quantized()}}));
  for (const char *kernel : {"moe_qkv_a", "moe_o_proj", "moe_experts_gate_up",
                             "moe_absorb_query", "moe_absorb_output"})
    expectCaught(kernel, "mulf gives operand 0", of(true));
  // The next block's scale.
  for (const char *kernel : {"moe_qkv_a", "dense_down"})
    expectCaught(kernel, "divui gives operand 0");
}

// Heads of two blocks of scales: which one it is depends on the row in the
// head.
TEST_F(Mutants, BlockScalesOfHeads) {
  compile(with({{"qk_nope_head_dim", 256},
                {"v_head_dim", 256},
                {"quantization_config", quantized()}}));
  auto findsBlock = [](Operation *op) {
    return llvm::any_of(op->getUsers(), llvm::IsaPred<arith::DivUIOp>);
  };
  for (const char *kernel : {"moe_absorb_query", "moe_absorb_output"})
    expectCaught(kernel, "addi gives operand 0", findsBlock);
}

TEST_F(Mutants, RoundingPoints) {
  compile(baseConfig());
  for (const char *kernel :
       {"moe_input_layernorm", "moe_post_attention_layernorm", "moe_q_rope",
        "moe_kv_append", "moe_experts_gate_up", "moe_combine", "dense_down"})
    expectCaught(kernel, "no rounding to bf16");
}

// Few turned keys beside many latents.
TEST_F(Mutants, RoundingsOfTurnedKeys) {
  compile(with({{"kv_lora_rank", 288}, {"qk_rope_head_dim", 24}}));
  unsigned index = 0;
  while (expectCaught("moe_kv_append", "no rounding to bf16", nullptr, index))
    ++index;
  // Two products and their sum of either half of a pair, at least.
  EXPECT_GE(index, 6u);
}

TEST_F(Mutants, Synchronisation) {
  compile(with({{"hidden_size", 328}}));
  expectDropped("moe_o_proj", "cp.async.wait_group");
  expectDropped("moe_o_proj", "bar.sync");
  expectDropped("moe_attention", "bar.sync");
  expectDropped("moe_experts_gate_up", "bar.sync");
}

// By hand: every mistake in every kernel; prints those that nothing notices.
// --gtest_also_run_disabled_tests --gtest_filter='Mutants.*EveryMistake*'
void Mutants::everyMistake() {
  int all = 0, survived = 0;
  std::vector<std::string> names;
  for (auto tile : module->getOps<tile::KernelOp>())
    if (!tile.getSymName().ends_with("_masked"))
      names.push_back(tile.getSymName().str());
  for (const std::string &name : names) {
    if (StringRef(name).starts_with("dense_") &&
        llvm::is_contained(names, "moe_" + name.substr(6)))
      continue;
    for (unsigned index = 0;; ++index) {
      std::optional<std::string> made;
      Edits edits;
      edits.tile = [&](tile::KernelOp tile) {
        if (tile.getSymName() == name)
          made = mutate(tile, {nullptr, index});
      };
      std::string message = caught(name, edits);
      if (!made)
        break;
      ++all;
      if (message.empty()) {
        ++survived;
        llvm::errs() << "survived: " << *made << "\n";
      }
    }
    for (const char *instruction :
         {"bar.sync", "cp.async.wait_group", "cp.async.commit_group"}) {
      bool dropped = true;
      for (unsigned index = 0; dropped; ++index) {
        Edits edits;
        dropped = false;
        edits.ptx = [&](std::string &ptx) {
          dropped |= StringRef(ptx).contains(".entry " + name + "(") &&
                     dropInstruction(ptx, instruction, index);
        };
        std::string message = caught(name, edits);
        all += dropped;
        if (dropped && message.empty()) {
          ++survived;
          llvm::errs() << "survived: " << name << " without " << instruction
                       << " " << index << "\n";
        }
      }
    }
  }
  llvm::errs() << all << " mistakes, " << survived << " survived\n";
}

TEST_F(Mutants, DISABLED_EveryMistakeBf16) {
  compile(with({{"hidden_size", 328},
                {"q_lora_rank", 200},
                {"kv_lora_rank", 288},
                {"num_attention_heads", 18},
                {"num_key_value_heads", 18},
                {"qk_nope_head_dim", 24},
                {"qk_rope_head_dim", 24},
                {"v_head_dim", 72},
                {"n_routed_experts", 75},
                {"num_experts_per_tok", 8},
                {"n_group", 5},
                {"topk_group", 3}}));
  everyMistake();
}

TEST_F(Mutants, DISABLED_EveryMistakeFp8) {
  compile(with({{"hidden_size", 328},
                {"q_lora_rank", 160},
                {"kv_lora_rank", 144},
                {"intermediate_size", 208},
                {"moe_intermediate_size", 136},
                {"quantization_config", quantized()}}));
  everyMistake();
}

} // namespace
