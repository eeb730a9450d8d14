//===- ModelRun.cpp - Runs of whole models --------------------------------===//

#include "Bindings.h"
#include "Parameters.h"
#include "StepInputs.h"
#include "k2c/Reference/Run.h"

using namespace mlir;
using namespace k2c::k2;

namespace k2c::reference {

namespace {

/// Collects the tokens of every step at their places in [B, T, ...]; padding
/// stays as it was made.
class Outputs {
public:
  explicit Outputs(const RunInputs &inputs) : inputs(inputs) {}
  std::vector<Place> places;

  template <typename Real>
  void put(const std::string &name, const TensorOf<Real> &values) {
    HostTensor &tensor = make(name, values.columns(), false);
    for (auto [t, place] : llvm::enumerate(places))
      std::copy_n(values.row(static_cast<int64_t>(t)), values.columns(),
                  tensor.floats.begin() + offset(place, values.columns()));
  }
  void put(const std::string &name, const Integers &values) {
    HostTensor &tensor = make(name, values.columns(), true);
    for (auto [t, place] : llvm::enumerate(places))
      std::copy_n(values.row(static_cast<int64_t>(t)), values.columns(),
                  tensor.integers.begin() + offset(place, values.columns()));
  }
  HostTensors take() { return std::move(tensors); }

private:
  int64_t offset(const Place &place, int64_t width) const {
    return (place.row * inputs.columns + place.column) * width;
  }
  HostTensor &make(const std::string &name, int64_t width, bool isInteger) {
    auto [found, isNew] = tensors.try_emplace(name);
    if (isNew) {
      HostTensor &tensor = found->second;
      tensor.shape = {inputs.rows, inputs.columns, width};
      tensor.isInteger = isInteger;
      if (isInteger)
        tensor.integers.assign(countElements(tensor.shape), -1);
      else
        tensor.floats.assign(countElements(tensor.shape), 0);
    }
    return found->second;
  }

  const RunInputs &inputs;
  HostTensors tensors;
};

} // namespace

template <typename Real>
static llvm::Expected<HostTensors> run(ModelOp model, const RunInputs &inputs,
                                       const k2rt::Checkpoint &checkpoint,
                                       const ModelRunOptions &options) {
  ConfigAttr config = model.getConfig();
  CheckpointParameters<Real> parameters(checkpoint);
  Interpreter<Real> interpreter(options.rounding, &parameters);
  int64_t width = config.getKvLoraRank() + config.getQkRopeHeadDim();
  for (int64_t layer = 0; layer < config.getNumHiddenLayers(); ++layer)
    interpreter.caches.push_back(
        {std::make_shared<TensorOf<Real>>(
             std::vector<int64_t>{inputs.pages(), RunInputs::pageSize, width}),
         config.getKvLoraRank(), config.getQkRopeHeadDim()});
  Outputs outputs(inputs);
  interpreter.hooks.residual = [&](int64_t index, const TensorOf<Real> &x) {
    if (options.trace)
      outputs.put("x." + std::to_string(index), x);
    if (index == config.getNumHiddenLayers())
      outputs.put("x_final", x);
  };
  if (options.trace)
    interpreter.hooks.routed = [&](int64_t layer, const Integers &ids,
                                   const TensorOf<Real> &weights) {
      outputs.put("router." + std::to_string(layer) + ".ids", ids);
      outputs.put("router." + std::to_string(layer) + ".weights", weights);
    };
  bool logits = inputs.hasIds || options.logits;
  auto entry = model.lookupSymbol<EntryOp>(logits ? "model" : "stack");
  if (!entry)
    return llvm::createStringError(std::string("model: expected an entry @") +
                                   (logits ? "model" : "stack") +
                                   ", but got none");
  for (const auto &step : inputs.steps) {
    outputs.places = inputs.places(step);
    if (!inputs.hasIds && logits)
      interpreter.embedding = inputs.embeddings<Real>(outputs.places);
    Value<Real> first =
        logits ? Value<Real>(inputs.ids(outputs.places))
               : Value<Real>(inputs.embeddings<Real>(outputs.places));
    auto results = interpreter.run(
        entry.getBody(),
        {std::move(first), inputs.ropeTable<Real>(outputs.places, false),
         inputs.ropeTable<Real>(outputs.places, true),
         inputs.batch<Real>(step)});
    if (!results)
      return results.takeError();
    if (logits)
      outputs.put("logits", std::get<TensorOf<Real>>(results->front()));
  }
  return outputs.take();
}

llvm::Expected<HostTensors> runModel(ModuleOp module, const HostTensors &input,
                                     const ModelRunOptions &options) {
  auto models = module.getOps<ModelOp>();
  if (models.empty())
    return llvm::createStringError("model: expected a k2.model, but got none");
  ModelOp model = *models.begin();
  llvm::Expected<RunInputs> inputs =
      RunInputs::read(input, model.getConfig(), options.steps);
  if (!inputs)
    return inputs.takeError();
  auto checkpoint = k2rt::Checkpoint::open(options.weights);
  if (!checkpoint)
    return llvm::createStringError(checkpoint.status().message());
  return options.wide ? run<double>(model, *inputs, *checkpoint, options)
                      : run<float>(model, *inputs, *checkpoint, options);
}

} // namespace k2c::reference
