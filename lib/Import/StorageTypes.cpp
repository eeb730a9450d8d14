//===- StorageTypes.cpp - The type every parameter is stored in -----------===//

#include "StorageTypes.h"
#include "Exclusions.h"
#include "runtime/Checkpoint/Checkpoint.h"

#include "llvm/Support/MathExtras.h"

using namespace k2c;

static std::string shapeText(const ParameterSpec &spec) {
  std::string numbers = spec.columns ? "[" + std::to_string(spec.rows) + ", " +
                                           std::to_string(spec.columns) + "]"
                                     : "[" + std::to_string(spec.rows) + "]";
  return spec.shape + " = " + numbers;
}

static const char *storageName(Storage storage) {
  switch (storage) {
  case Storage::BF16:
    return "BF16";
  case Storage::F16:
    return "F16";
  case Storage::F32:
    return "F32";
  case Storage::Fp8:
    return "F8_E4M3";
  }
  llvm_unreachable("all storage types are above");
}

/// `model.layers.0.mlp.gate_proj` of its weight.
static std::string moduleOf(const std::string &tensor) {
  return tensor.substr(0, tensor.rfind('.'));
}

/// The layers that have the parameter; one entry for those of the model.
static std::vector<int64_t> layersOf(const ModelFacts &facts,
                                     const ParameterSpec &spec) {
  if (spec.per == ParameterSpec::Per::Model)
    return {0};
  std::vector<int64_t> layers;
  for (int64_t layer = 0; layer < facts.layers; ++layer)
    if (facts.isMoE(layer) == (spec.kind == BlockKind::MoE))
      layers.push_back(layer);
  return layers;
}

//===----------------------------------------------------------------------===//
// From headers
//===----------------------------------------------------------------------===//

namespace {

class HeaderReader {
public:
  HeaderReader(const ModelFacts &facts, const k2rt::Checkpoint &checkpoint,
               const Exclusions &excluded)
      : facts(facts), checkpoint(checkpoint), excluded(excluded) {}

  /// The storage type of one tensor; checks shape and scales.
  llvm::Expected<Storage> read(const ParameterSpec &spec,
                               const std::string &name) {
    auto found = checkpoint.find(name);
    if (!found)
      return llvm::createStringError(found.status().message());
    const k2rt::TensorView *tensor = *found;
    if (!tensor) {
      if (spec.per == ParameterSpec::Per::Model)
        return spec.role == ParameterSpec::Role::Vector ? Storage::F32
                                                        : Storage::BF16;
      return llvm::createStringError(
          checkpoint.folder() + ": " + name + ": expected a tensor of shape " +
          shapeText(spec) + ", but got no such tensor");
    }
    std::vector<int64_t> shape =
        spec.columns ? std::vector<int64_t>{spec.rows, spec.columns}
                     : std::vector<int64_t>{spec.rows};
    if (tensor->shape != shape)
      return refuse(*tensor, "shape " + shapeText(spec),
                    k2rt::shapeString(tensor->shape));
    auto scale = checkpoint.find(name + "_scale_inv");
    if (!scale)
      return llvm::createStringError(scale.status().message());
    if (tensor->dtype == k2rt::DType::F8_E4M3)
      return readFp8(spec, name, *tensor, *scale);
    if (*scale)
      return refuse(**scale, "scales for F8_E4M3 weights only",
                    "a weight of type " +
                        std::string(k2rt::dtypeName(tensor->dtype)));
    switch (tensor->dtype) {
    case k2rt::DType::BF16:
      return Storage::BF16;
    case k2rt::DType::F16:
      if (spec.role == ParameterSpec::Role::Vector)
        return Storage::F16;
      break;
    case k2rt::DType::F32:
      if (spec.role == ParameterSpec::Role::Vector ||
          spec.role == ParameterSpec::Role::Router)
        return Storage::F32;
      break;
    default:
      break;
    }
    return refuse(*tensor, expectedTypes(spec),
                  std::string(k2rt::dtypeName(tensor->dtype)));
  }

private:
  static std::string expectedTypes(const ParameterSpec &spec) {
    switch (spec.role) {
    case ParameterSpec::Role::Vector:
      return "type BF16, F16 or F32";
    case ParameterSpec::Role::Router:
      return "type BF16 or F32";
    case ParameterSpec::Role::Linear:
      return "type BF16 or F8_E4M3";
    case ParameterSpec::Role::Outside:
      return "type BF16";
    }
    llvm_unreachable("all roles are above");
  }

  static llvm::Error refuse(const k2rt::TensorView &tensor,
                            const std::string &rule, const std::string &fact) {
    return llvm::createStringError(*tensor.file + ": " + tensor.name +
                                   ": expected " + rule + ", but got " + fact);
  }

  llvm::Expected<Storage> readFp8(const ParameterSpec &spec,
                                  const std::string &name,
                                  const k2rt::TensorView &tensor,
                                  const k2rt::TensorView *scale) {
    if (spec.role != ParameterSpec::Role::Linear)
      return refuse(tensor, expectedTypes(spec), "F8_E4M3");
    if (excluded.contains(moduleOf(name)))
      return refuse(tensor,
                    "type BF16, for quantization_config excludes the module",
                    "F8_E4M3");
    if (!scale)
      return refuse(tensor,
                    "a companion " + tensor.name +
                        "_scale_inv (F8_E4M3 values are never used raw)",
                    "no such tensor");
    const int64_t *block = facts.quantization.block;
    std::vector<int64_t> grid = {
        static_cast<int64_t>(llvm::divideCeil(spec.rows, block[0])),
        static_cast<int64_t>(llvm::divideCeil(spec.columns, block[1]))};
    if (scale->shape != grid)
      return refuse(*scale,
                    "shape " + k2rt::shapeString(grid) +
                        ", one multiplier per block of 128 x 128",
                    k2rt::shapeString(scale->shape));
    if (scale->dtype != k2rt::DType::F32 && scale->dtype != k2rt::DType::BF16 &&
        scale->dtype != k2rt::DType::F16)
      return refuse(*scale, "type F32, BF16 or F16",
                    std::string(k2rt::dtypeName(scale->dtype)));
    return Storage::Fp8;
  }

  const ModelFacts &facts;
  const k2rt::Checkpoint &checkpoint;
  const Exclusions &excluded;
};

} // namespace

static llvm::Expected<StorageTypes>
fromHeaders(const ModelFacts &facts, const std::vector<ParameterSpec> &specs,
            const Exclusions &excluded) {
  auto checkpoint = k2rt::Checkpoint::open(facts.folder);
  if (!checkpoint)
    return llvm::createStringError(checkpoint.status().message());
  HeaderReader reader(facts, *checkpoint, excluded);
  StorageTypes result;
  result.fromHeaders = true;
  for (const ParameterSpec &spec : specs) {
    std::string first;
    for (int64_t layer : layersOf(facts, spec)) {
      for (int64_t expert = 0, end = spec.per == ParameterSpec::Per::Expert
                                         ? facts.experts
                                         : 1;
           expert < end; ++expert) {
        std::string name = spec.tensorOf(layer, expert);
        llvm::Expected<Storage> storage = reader.read(spec, name);
        if (!storage)
          return storage.takeError();
        auto [known, isFirst] = result.types.try_emplace(spec.name, *storage);
        if (isFirst)
          first = name;
        // Vectors are float32 in the final layout, so only a norm's own
        // rounding point would tell them apart.
        else if (known->second != *storage &&
                 (spec.role != ParameterSpec::Role::Vector || spec.isNorm))
          return llvm::createStringError(
              llvm::Twine(facts.folder) + ": " + name + ": expected " +
              storageName(known->second) + " as " + first +
              " has (layers and experts of a kind share their code), but got " +
              storageName(*storage));
      }
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// From quantization_config
//===----------------------------------------------------------------------===//

static llvm::Expected<StorageTypes>
fromConfig(const ModelFacts &facts, const std::vector<ParameterSpec> &specs,
           const Exclusions &excluded) {
  const Quantization &quantization = facts.quantization;
  StorageTypes result;
  for (const ParameterSpec &spec : specs) {
    if (spec.role == ParameterSpec::Role::Vector) {
      // Norm weights are taken as bf16, the type of every K2 and V3 checkpoint;
      // the router's bias is float32 in them.
      result.types[spec.name] = spec.isNorm ? Storage::BF16 : Storage::F32;
      continue;
    }
    result.types[spec.name] = Storage::BF16;
    if (spec.role != ParameterSpec::Role::Linear ||
        quantization.kind != Quantization::Kind::Fp8)
      continue;
    int64_t count = 0, excludedCount = 0;
    for (int64_t layer : layersOf(facts, spec)) {
      ++count;
      excludedCount += excluded.contains(moduleOf(spec.tensorOf(layer, 0)));
    }
    if (excludedCount != 0 && excludedCount != count)
      return llvm::createStringError(
          facts.configPath +
          ": quantization_config: expected all layers of a kind to be excluded "
          "alike (they share their "
          "code), but got " +
          std::to_string(excludedCount) + " of " + std::to_string(count) +
          " layers for " + spec.name);
    if (excludedCount == 0)
      result.types[spec.name] = Storage::Fp8;
  }
  return result;
}

llvm::Expected<StorageTypes>
k2c::resolveStorage(const ModelFacts &facts,
                    const std::vector<ParameterSpec> &specs) {
  llvm::Expected<Exclusions> excluded =
      Exclusions::create(facts.quantization.excluded);
  if (!excluded)
    return llvm::createStringError(facts.configPath + ": " +
                                   llvm::toString(excluded.takeError()));
  if (k2rt::Checkpoint::present(facts.folder))
    return fromHeaders(facts, specs, *excluded);
  return fromConfig(facts, specs, *excluded);
}
