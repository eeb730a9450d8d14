//===- k2rt.cpp - C interface of the runtime ------------------------------===//
#include "k2rt/k2rt.h"

#include "runtime/Executor/Executor.h"

#include <atomic>
#include <exception>

using namespace k2rt;

struct k2rt_model {
  // In this order, so that the executor goes before its device.
  Artifact artifact;
  std::unique_ptr<Device> device;
  std::unique_ptr<Executor> executor;
  bool fromIds = true, hasWeights = false, hasCache = false;
  int64_t tokens = -1; ///< of the latest step, -1: none
  std::atomic_flag busy;
};

namespace {
thread_local std::string lastError;

int report(const Status &status) {
  if (status.failed())
    lastError = status.message();
  return static_cast<int>(status.code());
}

/// Runs `body`; what it throws becomes a status.
template <typename Body> int guarded(Body &&body) {
  try {
    return report(body());
  } catch (const std::exception &error) {
    return report(Status::input(error.what()));
  } catch (...) {
    return report(Status::input("unknown exception"));
  }
}

/// The same for a model that no other call may be using.
template <typename Body> int onModel(k2rt_model *model, Body &&body) {
  if (!model)
    return report(Status::input("expected a model, but got NULL"));
  if (model->busy.test_and_set())
    return report(
        Status::input("expected one call at a time on a model, but got "
                      "another one at work"));
  int code = guarded(body);
  model->busy.clear();
  return code;
}

/// Copies the arrays of a step. Precondition: num_sequences is the cache's.
StepRequest makeRequest(const k2rt_model &model, const k2rt_step_input &input,
                        int64_t tokens) {
  const ModelFacts &facts = model.executor->manifest().model;
  auto copy = [](auto &to, const auto *from, int64_t count) {
    if (from)
      to.assign(from, from + count);
  };
  StepRequest request;
  copy(request.lengths, input.lengths,
       static_cast<int64_t>(input.num_sequences));
  copy(request.tokenIds, input.token_ids, tokens);
  copy(request.x0, input.x0, tokens * facts.hiddenSize);
  copy(request.positions, input.positions, tokens);
  copy(request.ropeCos, input.rope_cos, tokens * facts.ropeHeadDim / 2);
  copy(request.ropeSin, input.rope_sin, tokens * facts.ropeHeadDim / 2);
  int64_t longest = 0;
  for (size_t b = 0; b < input.num_sequences; ++b)
    longest = std::max(longest,
                       model.executor->pages().length(static_cast<int64_t>(b)) +
                           input.lengths[b]);
  copy(request.mask, input.mask, tokens * longest);
  if (!input.positions)
    for (size_t b = 0; b < input.num_sequences; ++b)
      for (int64_t i = 0; i < input.lengths[b]; ++i)
        request.positions.push_back(static_cast<int32_t>(
            model.executor->pages().length(static_cast<int64_t>(b)) + i));
  return request;
}

Status step(k2rt_model &model, const k2rt_step_input &input) {
  if (!model.hasWeights || !model.hasCache)
    return Status::input("expected weights and a cache before a step, but got "
                         "none");
  if (static_cast<int64_t>(input.num_sequences) !=
      model.executor->pages().sequences())
    return Status::input("num_sequences: expected the " +
                         std::to_string(model.executor->pages().sequences()) +
                         " of the cache, but got " +
                         std::to_string(input.num_sequences));
  if (input.num_sequences && !input.lengths)
    return Status::input("lengths: expected an array, but got NULL");
  int64_t tokens = 0;
  for (size_t b = 0; b < input.num_sequences; ++b)
    if (input.lengths[b] < 0 ||
        __builtin_add_overflow(tokens, input.lengths[b], &tokens))
      return Status::input("lengths: expected counts of tokens, but got " +
                           std::to_string(input.lengths[b]));
  // Room is checked before arrays of that length are read.
  if (Status s = model.executor->pages().canAppend(
          {input.lengths, input.lengths + input.num_sequences});
      s.failed())
    return s;
  if (tokens && (model.fromIds ? !input.token_ids : !input.x0))
    return Status::input(std::string(model.fromIds ? "token_ids" : "x0") +
                         ": expected an array, but got NULL");
  if (model.fromIds ? input.x0 != nullptr : input.token_ids != nullptr)
    return Status::input(std::string(model.fromIds ? "x0" : "token_ids") +
                         ": expected NULL for this entry, but got an array");
  if (!input.rope_cos != !input.rope_sin)
    return Status::input("rope_cos and rope_sin: expected both or none, but "
                         "got one");
  Status status = model.executor->step(makeRequest(model, input, tokens));
  if (status.ok())
    model.tokens = tokens;
  else if (model.executor->broken())
    model.tokens = -1;
  return status;
}

Status readResult(k2rt_model &model, const char *name, float *out,
                  size_t count) {
  std::string buffer = name ? name : "";
  bool logits = buffer == "logits";
  if (!(buffer == "x" || (logits && model.fromIds)))
    return Status::input(std::string("expected the name x") +
                         (model.fromIds ? " or logits" : "") + ", but got '" +
                         buffer + "'");
  if (model.tokens < 0)
    return Status::input("expected a step before a result is read, but got "
                         "none");
  const ModelFacts &facts = model.executor->manifest().model;
  size_t wanted = static_cast<size_t>(
      model.tokens * (logits ? facts.vocabSize : facts.hiddenSize));
  if (count != wanted || (count && !out))
    return Status::input("expected room for " + std::to_string(wanted) +
                         " values, but got " + std::to_string(out ? count : 0));
  if (count == 0)
    return Status();
  // Logits come in chunks of rows, which bound the memory on the device.
  for (int64_t first = 0; first < model.tokens; first += kLogitRows) {
    int64_t rows = std::min(kLogitRows, model.tokens - first);
    Expected<HostArray> value =
        logits ? model.executor->logits(first, rows) : model.executor->hidden();
    if (!value)
      return value.status();
    std::vector<float> floats = value->floats();
    if (floats.size() > count)
      return Status::input("buffer '" + buffer + "': expected at most " +
                           std::to_string(count) + " values, but got " +
                           std::to_string(floats.size()));
    out = std::copy(floats.begin(), floats.end(), out);
    count -= floats.size();
    if (!logits)
      break;
  }
  return Status();
}
} // namespace

extern "C" const char *k2rt_last_error(void) { return lastError.c_str(); }

extern "C" int k2rt_open(const char *artifact, const char *device,
                         const char *entry, k2rt_model **out) {
  return guarded([&]() -> Status {
    if (!artifact || !device || !entry || !out)
      return Status::input("expected an artifact, a device, an entry and a "
                           "place for the model, but got NULL");
    auto model = std::make_unique<k2rt_model>();
    Expected<Artifact> opened = Artifact::open(artifact);
    if (!opened)
      return opened.status();
    model->artifact = std::move(*opened);
    Expected<std::unique_ptr<Device>> found = Device::open(device);
    if (!found)
      return found.status();
    model->device = std::move(*found);
    model->fromIds = std::string(entry) != "stack";
    ExecutorOptions options;
    options.head = model->fromIds;
    Expected<std::unique_ptr<Executor>> executor =
        Executor::create(model->artifact, entry, *model->device, options);
    if (!executor)
      return executor.status();
    model->executor = std::move(*executor);
    *out = model.release();
    return Status();
  });
}

extern "C" void k2rt_close(k2rt_model *model) { delete model; }

extern "C" int k2rt_get_info(const k2rt_model *model, k2rt_info *out) {
  if (!model || !out)
    return report(Status::input("expected a model and a place for its facts, "
                                "but got NULL"));
  const ModelFacts &facts = model->artifact.manifest().model;
  *out = {facts.hiddenSize,   facts.numLayers, facts.vocabSize,
          facts.maxPositions, facts.pageSize,  facts.ropeHeadDim / 2};
  return K2RT_OK;
}

extern "C" int k2rt_bind_weights(k2rt_model *model, const char *folder) {
  return onModel(model, [&]() -> Status {
    if (!folder)
      return Status::input("expected a folder, but got NULL");
    Expected<Checkpoint> checkpoint = Checkpoint::open(folder);
    if (!checkpoint)
      return checkpoint.status();
    Status status = model->executor->bindWeights(*checkpoint);
    model->hasWeights |= status.ok();
    return status;
  });
}

extern "C" int k2rt_open_cache(k2rt_model *model, const int64_t *capacities,
                               size_t num_sequences) {
  return onModel(model, [&]() -> Status {
    if (num_sequences && !capacities)
      return Status::input("capacities: expected an array, but got NULL");
    Status status =
        model->executor->openCache({capacities, capacities + num_sequences});
    model->hasCache = status.ok();
    model->tokens = -1;
    return status;
  });
}

extern "C" int k2rt_step(k2rt_model *model, const k2rt_step_input *input) {
  return onModel(model, [&]() -> Status {
    if (!input)
      return Status::input("expected the input of a step, but got NULL");
    return step(*model, *input);
  });
}

extern "C" int k2rt_read(k2rt_model *model, const char *name, float *out,
                         size_t count) {
  return onModel(model, [&] { return readResult(*model, name, out, count); });
}
