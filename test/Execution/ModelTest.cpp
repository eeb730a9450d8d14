//===- ModelTest.cpp - A model with random weights, kernel by kernel ------===//
#include "ModelTest.h"

#include "k2c/Conversion/K2ToTile/Passes.h"
#include "k2c/Import/Import.h"
#include "k2c/InitAll.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace mlir;
using namespace k2c;
using namespace k2c::test;

llvm::json::Object test::baseConfig() {
  return llvm::json::Object{
      {"architectures", llvm::json::Array{"DeepseekV3ForCausalLM"}},
      {"model_type", "kimi_k2"},
      {"attention_bias", false},
      {"hidden_act", "silu"},
      {"hidden_size", 128},
      {"num_hidden_layers", 2},
      {"first_k_dense_replace", 1},
      {"moe_layer_freq", 1},
      {"num_attention_heads", 2},
      {"num_key_value_heads", 2},
      {"q_lora_rank", 96},
      {"kv_lora_rank", 64},
      {"qk_nope_head_dim", 64},
      {"qk_rope_head_dim", 32},
      {"v_head_dim", 64},
      {"intermediate_size", 208},
      {"moe_intermediate_size", 40},
      {"n_routed_experts", 6},
      {"num_experts_per_tok", 3},
      {"n_shared_experts", 1},
      {"n_group", 1},
      {"topk_group", 1},
      {"topk_method", "noaux_tc"},
      {"scoring_func", "sigmoid"},
      {"norm_topk_prob", true},
      {"routed_scaling_factor", 2.827},
      {"vocab_size", 500},
      {"max_position_embeddings", 4096},
      {"rms_norm_eps", 1e-6},
      {"rope_theta", 50000.0},
      {"tie_word_embeddings", false},
      {"num_nextn_predict_layers", 0},
      {"torch_dtype", "bfloat16"}};
}

llvm::json::Object test::quantized() {
  return llvm::json::Object{{"quant_method", "fp8"},
                            {"fmt", "e4m3"},
                            {"activation_scheme", "dynamic"},
                            {"weight_block_size", llvm::json::Array{128, 128}}};
}

/// From the imported model to tile kernels.
static std::string modelPasses(bool isAbsorbed) {
  return std::string("k2.model(k2-fuse-parallel-linears,") +
         (isAbsorbed ? "k2-absorb-attention," : "") +
         "k2-form-kernels,k2-choose-kernel-configs,k2-verify-fused),"
         "convert-k2-to-tile";
}

llvm::json::Object test::with(
    std::initializer_list<std::pair<const char *, llvm::json::Value>> fields) {
  llvm::json::Object config = baseConfig();
  for (const auto &[name, value] : fields)
    config[name] = value;
  return config;
}

ModelTest::ModelTest() {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  static bool once = (registerAllPasses(), true);
  (void)once;
}

OwningOpRef<ModuleOp> ModelTest::import(llvm::json::Object config) {
  llvm::SmallString<128> path;
  int file;
  if (llvm::sys::fs::createTemporaryFile("config", "json", file, path))
    return nullptr;
  llvm::raw_fd_ostream(file, /*shouldClose=*/true)
      << llvm::json::Value(std::move(config));
  auto imported = importModel(path.str(), context);
  llvm::sys::fs::remove(path);
  if (imported)
    return std::move(*imported);
  ADD_FAILURE() << llvm::toString(imported.takeError());
  return nullptr;
}

void ModelTest::compile(llvm::json::Object config, unsigned seed) {
  runner.reset();
  module = import(std::move(config));
  ASSERT_TRUE(module);
  PassManager passes(&context);
  ASSERT_TRUE(succeeded(parsePassPipeline(modelPasses(isAbsorbed), passes)));
  ASSERT_TRUE(succeeded(passes.run(*module)));
  weights.restart(seed);
  runner = std::make_unique<KernelRunner>(*module, weights);
}

k2::KernelOp ModelTest::kernel(StringRef name) {
  k2::KernelOp found;
  module->walk([&](k2::KernelOp op) {
    if (op.getName() == name)
      found = op;
  });
  if (!found)
    llvm::report_fatal_error("no kernel " + name);
  return found;
}

Step ModelTest::makeStep(ArrayRef<SequenceLength> lengths,
                         std::mt19937 &random) {
  k2::ConfigAttr facts = (*module->getOps<k2::ModelOp>().begin()).getConfig();
  Step step;
  step.batch = makeBatch(lengths, step.pages, random);
  step.firstPage = input.firstPage;
  step.firstExpertRow = input.firstExpertRow;
  for (int64_t token : input.withoutSlot)
    step.batch.slot[token] = -1;
  if (input.masked)
    step.batch.mask = makeMask(step.batch, random);
  int64_t tokens = step.batch.tokens();
  step.ids = Integers({tokens});
  for (int64_t &id : step.ids.data)
    id = random() % facts.getVocabSize();
  step.cos = Tensor({tokens, facts.getQkRopeHeadDim() / 2});
  step.sin = step.cos;
  for (size_t i = 0; i < step.cos.data.size(); ++i) {
    double angle = std::uniform_real_distribution<double>(0, 6.28)(random);
    step.cos.data[i] = static_cast<float>(std::cos(angle));
    step.sin.data[i] = static_cast<float>(std::sin(angle));
  }
  step.slotOf.resize(std::max<int64_t>(facts.getNRoutedExperts(), 0));
  std::iota(step.slotOf.begin(), step.slotOf.end(), 0);
  std::shuffle(step.slotOf.begin(), step.slotOf.end(), random);
  return step;
}

void ModelTest::check(llvm::json::Object config,
                      ArrayRef<SequenceLength> lengths, unsigned seed) {
  compile(std::move(config), seed);
  if (runner)
    run(lengths, seed);
}

void ModelTest::report(llvm::Error error) {
  std::string message = llvm::toString(std::move(error));
  if (errors)
    errors->push_back(message);
  else
    ADD_FAILURE() << message;
}

void ModelTest::run(ArrayRef<SequenceLength> lengths, unsigned seed) {
  auto model = *module->getOps<k2::ModelOp>().begin();
  k2::ConfigAttr facts = model.getConfig();
  std::mt19937 random(seed);
  Step step = makeStep(lengths, random);
  runner->setStep(step);
  reference::Interpreter<Real> reference(reference::Rounding::Bf16, &weights);
  for (int64_t l = 0; l < facts.getNumHiddenLayers(); ++l)
    reference.caches.push_back(
        makeCache(step.batch, step.pages, facts.getKvLoraRank(),
                  facts.getQkRopeHeadDim(), random, input.unused));
  llvm::StringSet<> failed;
  reference.hooks.before = [&](Operation *op, int64_t layer, ValueOf valueOf) {
    auto kernel = dyn_cast<k2::KernelOp>(op);
    if (!kernel || !kernel.getName().contains(only))
      return;
    if (llvm::Error error = runner->launch(kernel, layer, valueOf)) {
      report(std::move(error));
      failed.insert(kernel.getName());
    }
  };
  reference.hooks.after = [&](Operation *op, int64_t layer, ValueOf valueOf) {
    auto kernel = dyn_cast<k2::KernelOp>(op);
    if (!kernel || !kernel.getName().contains(only) ||
        failed.contains(kernel.getName()))
      return;
    ++compared;
    if (keep && isa<RankedTensorType>(kernel->getResult(0).getType()))
      kept[std::to_string(layer) + "." + kernel.getName().str()] =
          runner->result(kernel, 0);
    if (llvm::Error error = runner->compare(kernel, valueOf))
      report(std::move(error));
  };
  int before = compared;
  auto entry = model.lookupSymbol<k2::EntryOp>("model");
  auto result = reference.run(entry.getBody(),
                              {step.ids, step.cos, step.sin, step.batch});
  if (!result)
    FAIL() << llvm::toString(result.takeError());
  EXPECT_TRUE(compared > before || errors);
}
