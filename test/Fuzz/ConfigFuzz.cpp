//===- ConfigFuzz.cpp - Any bytes as a config.json ------------------------===//
//
// Either an error that names the file, or facts that hold together: what the
// importer computes from them neither overflows nor is without end.
//
//===----------------------------------------------------------------------===//
#include "lib/Import/StorageTypes.h"

#include <cmath>
#include <cstdlib>

using namespace k2c;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

static bool startsWithFile(llvm::Error error) {
  return llvm::toString(std::move(error)).starts_with("folder/f: ");
}

/// Parameters of one layer of a kind, or of the ends.
static int64_t count(const ModelFacts &facts,
                     const std::vector<ParameterSpec> &specs) {
  int64_t total = 0;
  for (const ParameterSpec &spec : specs) {
    require(spec.rows > 0 && spec.columns >= 0);
    int64_t elements = spec.elements(), copies = 1;
    if (spec.per == ParameterSpec::Per::Expert)
      copies = facts.experts;
    require(elements > 0 && copies > 0 && elements <= INT64_MAX / copies);
    total += elements * copies;
    require(total > 0);
  }
  return total;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  llvm::Expected<ModelFacts> facts = parseModelFacts(text, "folder/f");
  if (!facts) {
    require(startsWithFile(facts.takeError()));
    return 0;
  }
  require(facts->layers > 0 && facts->moeLayers() >= 0 &&
          facts->denseLayers() >= 0);
  require(facts->heads > 0 && facts->hiddenSize > 0 && facts->kvLoraRank > 0);
  require(facts->rmsNormEps > 0 && facts->ropeTheta > 1);
  require(std::isfinite(facts->softmaxScale) && facts->softmaxScale > 0);
  require(std::isfinite(facts->ropeMultiplier));
  require(static_cast<int64_t>(facts->invFreq.size()) == facts->qkRope / 2);
  for (float frequency : facts->invFreq)
    require(std::isfinite(frequency));
  require(facts->compileProblem.empty() ||
          facts->compileProblem.find(": expected ") != std::string::npos);
  std::vector<ParameterSpec> specs = endParameters(*facts);
  count(*facts, specs);
  for (BlockKind kind : {BlockKind::Dense, BlockKind::MoE}) {
    bool moe = kind == BlockKind::MoE;
    int64_t layers = moe ? facts->moeLayers() : facts->denseLayers();
    if (layers == 0)
      continue;
    if (moe)
      require(facts->expertsPerToken > 0 && facts->keptGroups > 0 &&
              facts->keptGroups <= facts->groups &&
              facts->experts % facts->groups == 0 &&
              facts->expertsPerToken <=
                  facts->experts / facts->groups * facts->keptGroups);
    std::vector<ParameterSpec> more = blockParameters(*facts, kind);
    require(count(*facts, more) <= INT64_MAX / layers);
    specs.insert(specs.end(), more.begin(), more.end());
  }
  if (facts->quantization.kind == Quantization::Kind::Unsupported)
    return 0;
  llvm::Expected<StorageTypes> storage = resolveStorage(*facts, specs);
  if (!storage) {
    require(startsWithFile(storage.takeError()));
    return 0;
  }
  for (const ParameterSpec &spec : specs)
    require(storage->types.count(spec.name) == 1);
  return 0;
}
