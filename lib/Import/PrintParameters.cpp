//===- PrintParameters.cpp - The accounting of a config.json --------------===//

#include "StorageTypes.h"
#include "k2c/Import/Import.h"

#include "llvm/Support/JSON.h"

using namespace k2c;

static int64_t countElements(const ModelFacts &facts,
                             const std::vector<ParameterSpec> &specs) {
  int64_t total = 0;
  for (const ParameterSpec &spec : specs)
    total += spec.elements() *
             (spec.per == ParameterSpec::Per::Expert ? facts.experts : 1);
  return total;
}

/// 17,059,365,248.
static std::string grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, ",");
  return digits;
}

int k2c::printParameters(llvm::StringRef model, ParameterFormat format,
                         llvm::raw_ostream &out, llvm::raw_ostream &errors) {
  auto fail = [&](llvm::Error error) {
    errors << "k2c: error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  };
  llvm::Expected<ModelFacts> facts = readModelFacts(model);
  if (!facts)
    return fail(facts.takeError());
  for (const std::string &note : facts->notes)
    errors << "k2c: note: " << facts->configPath << ": " << note << "\n";
  std::vector<ParameterSpec> dense = blockParameters(*facts, BlockKind::Dense),
                             moe, ends = endParameters(*facts);
  if (facts->moeLayers() > 0)
    moe = blockParameters(*facts, BlockKind::MoE);
  std::vector<ParameterSpec> present = ends;
  if (facts->denseLayers() > 0)
    present.insert(present.end(), dense.begin(), dense.end());
  else
    dense.clear();
  present.insert(present.end(), moe.begin(), moe.end());
  // A scheme without code generation names its tensors otherwise, so its
  // headers cannot be checked.
  bool checked = false;
  if (facts->quantization.kind != Quantization::Kind::Unsupported) {
    llvm::Expected<StorageTypes> storage = resolveStorage(*facts, present);
    if (!storage)
      return fail(storage.takeError());
    checked = storage->fromHeaders;
  }
  int64_t densePer = countElements(*facts, dense),
          moePer = countElements(*facts, moe);
  int64_t stack = densePer * facts->denseLayers() + moePer * facts->moeLayers();
  if (format == ParameterFormat::Json) {
    llvm::json::OStream json(out, /*IndentSize=*/2);
    json.object([&] {
      json.attributeObject("blocks", [&] {
        auto block = [&](const char *name, int64_t parameters, int64_t count) {
          if (count > 0)
            json.attributeObject(name, [&] {
              json.attribute("parameters", parameters);
              json.attribute("count", count);
            });
        };
        block("dense", densePer, facts->denseLayers());
        block("moe", moePer, facts->moeLayers());
      });
      json.attribute("stack_parameters", stack);
      json.attributeObject("ends", [&] {
        json.attribute("embed", ends[0].elements());
        json.attribute("final_norm", ends[1].elements());
        json.attribute("lm_head", ends[2].elements());
      });
    });
    out << "\n";
    return 0;
  }
  auto line = [&](const std::string &what, int64_t value) {
    out << llvm::formatv("{0,-48}{1,22}\n", what, grouped(value));
  };
  auto block = [&](const char *name, const std::vector<ParameterSpec> &specs,
                   int64_t parameters, int64_t count) {
    if (count == 0)
      return;
    for (const ParameterSpec &spec : specs) {
      int64_t copies =
          spec.per == ParameterSpec::Per::Expert ? facts->experts : 1;
      line("  " + spec.name +
               (copies > 1 ? " x " + std::to_string(copies) : ""),
           spec.elements() * copies);
    }
    line(std::string(name) + " block", parameters);
  };
  block("dense", dense, densePer, facts->denseLayers());
  block("moe", moe, moePer, facts->moeLayers());
  line("stack: " + std::to_string(facts->denseLayers()) + " dense + " +
           std::to_string(facts->moeLayers()) + " moe",
       stack);
  for (const ParameterSpec &spec : ends)
    line("  " + spec.name, spec.elements());
  line("model", stack + countElements(*facts, ends));
  out << (checked ? "checked against the checkpoint's headers\n"
                  : "from config.json alone: no checkpoint beside it\n");
  return 0;
}
