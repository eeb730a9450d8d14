//===- SimDevice.cpp - The driver table over ptxsim -----------------------===//
//
// A stream runs what is put into it at once, except while it is captured: then
// the operations are kept, with copies of the kernels' parameters, and a graph
// launch runs them in order.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Device.h"
#include "runtime/ptxsim/model/Chain.h"
#include "runtime/ptxsim/model/Report.h"
#include "runtime/ptxsim/ptxsim.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

namespace k2rt {

namespace {
using Operation = std::function<ptxsim::Status()>;

struct SimModule {
  std::shared_ptr<ptxsim::Module> module;
};
struct SimFunction {
  std::shared_ptr<ptxsim::Module> module;
  const ptxsim::Kernel *kernel;
};
struct SimStream {
  bool capturing = false;
  std::vector<Operation> recorded;
};
struct SimEvent {
  std::chrono::steady_clock::time_point at;
};
struct SimGraph {
  std::vector<Operation> operations;
};

struct Sim {
  ptxsim::Device device;
  std::string error;
  LaunchCounters counters; ///< since they were last taken
  /// With K2RT_SIM=model=...
  std::optional<ptxsim::DeviceDescription> model;
  std::unique_ptr<ptxsim::Collector> collector;
  /// With K2RT_SIM=counters=FILE: all launches, by file and kernel.
  std::FILE *countersFile = nullptr;
  std::map<std::pair<std::string, std::string>, ptxsim::KernelReport> reports;
  SimStream defaultStream;
  std::vector<std::unique_ptr<SimFunction>> functions;

  explicit Sim(const ptxsim::DeviceOptions &options) : device(options) {}
  Sim(const Sim &) = delete;
  Sim &operator=(const Sim &) = delete;
  ~Sim() {
    if (!countersFile)
      return;
    std::vector<ptxsim::KernelReport> list;
    for (auto &[name, report] : reports)
      list.push_back(std::move(report));
    const std::string text = ptxsim::reportJson(list);
    if (std::fwrite(text.data(), 1, text.size(), countersFile) != text.size())
      std::fputs("K2RT_SIM: counters: cannot be written\n", stderr);
    std::fclose(countersFile);
  }
  void useModel(ptxsim::DeviceDescription description, std::FILE *file) {
    model = std::move(description);
    countersFile = file;
    collector = std::make_unique<ptxsim::Collector>(model->cacheSizes());
    device.observe({collector.get()});
  }
  static Sim &of(void *self) { return *static_cast<Sim *>(self); }

  /// Of the launch that has just ended.
  ptxsim::Status addModelled(bool programmatic, uint32_t registers) {
    const ptxsim::KernelCounts &counts = collector->latest();
    ptxsim::Result<ptxsim::ModelledTime> time = ptxsim::modelTime(
        *model, counts, {.registers = registers, .programmatic = programmatic});
    if (!time)
      return time.status();
    if (countersFile) {
      ptxsim::KernelReport &report = reports[{counts.file, counts.kernel}];
      report.counts.add(counts);
      report.time = *time;
      report.deviceName = model->name, report.deviceFile = model->file;
    }
    ptxsim::Chain chain;
    chain.add(*time);
    LaunchCounters launch;
    launch.modelled = true;
    launch.dramReadBytes = counts.total[ptxsim::Counter::DramReadBytes];
    launch.dramWriteBytes = counts.total[ptxsim::Counter::DramWriteBytes];
    launch.modelledSeconds = time->kernel;
    launch.modelledChainSeconds = chain.chain;
    launch.modelledHostSeconds = chain.host;
    auto nameOf = [&](size_t term) {
      return term < time->terms.size() ? time->terms[term].name : "";
    };
    launch.longest = {model->name,      model->file,           nameOf(0),
                      nameOf(1),        time->occupancy.limit, time->kernel,
                      time->waves,      time->occupancy.ctas,  time->assumed,
                      time->notModelled};
    counters += launch;
    return {};
  }

  int fail(std::string text) {
    error = std::move(text);
    return 1;
  }
  int done(const ptxsim::Status &status) {
    return status ? 0 : fail(status.message());
  }
  /// Runs the operation, or records it while the stream is captured.
  int submit(StreamHandle stream, Operation operation) {
    SimStream &target =
        stream ? *static_cast<SimStream *>(stream) : defaultStream;
    if (target.capturing) {
      target.recorded.push_back(std::move(operation));
      return 0;
    }
    return done(operation());
  }
};

int memAlloc(void *self, DevicePtr *out, size_t bytes, const char *name) {
  ptxsim::Result<uint64_t> pointer = Sim::of(self).device.allocate(bytes, name);
  if (!pointer)
    return Sim::of(self).fail(pointer.message());
  *out = *pointer;
  return 0;
}

int memFree(void *self, DevicePtr pointer) {
  return Sim::of(self).done(Sim::of(self).device.free(pointer));
}

int memGetInfo(void *self, size_t *, size_t *) {
  return Sim::of(self).fail("the simulator's memory is the host's");
}

int memcpyHtoD(void *self, DevicePtr to, const void *from, size_t bytes,
               StreamHandle stream) {
  return Sim::of(self).submit(stream, [=] {
    return Sim::of(self).device.copyToDevice(to, from, bytes);
  });
}

int memcpyDtoH(void *self, void *to, DevicePtr from, size_t bytes,
               StreamHandle stream) {
  return Sim::of(self).submit(
      stream, [=] { return Sim::of(self).device.copyToHost(to, from, bytes); });
}

int memcpyDtoD(void *self, DevicePtr to, DevicePtr from, size_t bytes,
               StreamHandle stream) {
  return Sim::of(self).submit(stream, [=] {
    return Sim::of(self).device.copyOnDevice(to, from, bytes);
  });
}

int memsetD8(void *self, DevicePtr to, uint8_t value, size_t bytes,
             StreamHandle stream) {
  return Sim::of(self).submit(
      stream, [=] { return Sim::of(self).device.fill8(to, value, bytes); });
}

int moduleLoadData(void *self, ModuleHandle *out, const char *image,
                   size_t bytes, ImageKind kind, const char *name) {
  if (kind != ImageKind::PtxText)
    return Sim::of(self).fail("expected PTX text, but got a cubin");
  ptxsim::Result<std::shared_ptr<ptxsim::Module>> module =
      Sim::of(self).device.loadModule(std::string(image, bytes), name);
  if (!module)
    return Sim::of(self).fail(module.message());
  *out = new SimModule{*module};
  return 0;
}

int moduleUnload(void *, ModuleHandle module) {
  delete static_cast<SimModule *>(module);
  return 0;
}

int moduleGetFunction(void *self, FunctionHandle *out, ModuleHandle module,
                      const char *name) {
  Sim &sim = Sim::of(self);
  auto &owner = static_cast<SimModule *>(module)->module;
  const ptxsim::Kernel *kernel = owner->find(name);
  if (!kernel)
    return sim.fail("expected an entry of that name in the module, but got "
                    "none");
  sim.functions.push_back(
      std::make_unique<SimFunction>(SimFunction{owner, kernel}));
  *out = sim.functions.back().get();
  return 0;
}

int funcGetParams(void *, FunctionHandle function, size_t *count,
                  size_t *bytes) {
  const ptxsim::Kernel &kernel = *static_cast<SimFunction *>(function)->kernel;
  *count = kernel.params.size();
  *bytes = kernel.paramBytes;
  return 0;
}

int funcSetSharedBytes(void *, FunctionHandle, uint32_t) { return 0; }

int launchKernel(void *self, FunctionHandle handle, const LaunchConfig *config,
                 void **params) {
  Sim &sim = Sim::of(self);
  const SimFunction &function = *static_cast<SimFunction *>(handle);
  ptxsim::Dim3 grid{config->grid[0], config->grid[1], config->grid[2]};
  ptxsim::Dim3 block{config->block[0], config->block[1], config->block[2]};
  // One CTA is also what a launch without clusters says: the kernel decides.
  std::optional<ptxsim::Dim3> cluster;
  if (config->cluster[0] != 1 || config->cluster[1] != 1 ||
      config->cluster[2] != 1)
    cluster = {config->cluster[0], config->cluster[1], config->cluster[2]};
  uint32_t shared = config->sharedBytes, registers = config->registers;
  const bool programmatic = config->programmatic;
  // The values are copied: a captured launch runs after the caller's are gone.
  std::vector<std::vector<std::byte>> values;
  for (size_t i = 0; i < function.kernel->params.size(); ++i) {
    const std::byte *from = static_cast<const std::byte *>(params[i]);
    values.emplace_back(from, from + function.kernel->params[i].size);
  }
  return sim.submit(config->stream, [&sim, function, grid, block, cluster,
                                     programmatic, registers, shared,
                                     values = std::move(values)] {
    std::vector<const void *> pointers;
    for (const std::vector<std::byte> &value : values)
      pointers.push_back(value.data());
    ptxsim::Counters latest;
    ptxsim::Status status =
        sim.device.launch(*function.module, *function.kernel, grid, block,
                          shared, pointers.data(), &latest, cluster);
    sim.counters.warpInstructions += latest.warpInstructions;
    sim.counters.tensorFlops += latest.tensorFlops;
    return status && sim.model ? sim.addModelled(programmatic, registers)
                               : status;
  });
}

void launchCounters(void *self, LaunchCounters *out) {
  *out = std::exchange(Sim::of(self).counters, {});
}

int streamCreate(void *, StreamHandle *out) {
  *out = new SimStream;
  return 0;
}
int streamDestroy(void *, StreamHandle stream) {
  delete static_cast<SimStream *>(stream);
  return 0;
}
int streamSynchronize(void *, StreamHandle) { return 0; }

int eventCreate(void *, EventHandle *out) {
  *out = new SimEvent;
  return 0;
}
int eventDestroy(void *, EventHandle event) {
  delete static_cast<SimEvent *>(event);
  return 0;
}
int eventRecord(void *, EventHandle event, StreamHandle) {
  static_cast<SimEvent *>(event)->at = std::chrono::steady_clock::now();
  return 0;
}
int eventSynchronize(void *, EventHandle) { return 0; }
int eventElapsed(void *, float *out, EventHandle from, EventHandle to) {
  *out =
      std::chrono::duration<float, std::milli>(
          static_cast<SimEvent *>(to)->at - static_cast<SimEvent *>(from)->at)
          .count();
  return 0;
}

int streamBeginCapture(void *self, StreamHandle stream) {
  if (!stream)
    return Sim::of(self).fail("the default stream cannot be captured");
  SimStream &target = *static_cast<SimStream *>(stream);
  if (target.capturing)
    return Sim::of(self).fail("the stream is captured already");
  target.capturing = true;
  target.recorded.clear();
  return 0;
}
int streamEndCapture(void *self, StreamHandle stream, GraphHandle *out) {
  SimStream *target = static_cast<SimStream *>(stream);
  if (!target || !target->capturing)
    return Sim::of(self).fail("the stream is not captured");
  target->capturing = false;
  *out = new SimGraph{std::exchange(target->recorded, {})};
  return 0;
}
int graphInstantiate(void *, GraphExecHandle *out, GraphHandle graph) {
  *out = new SimGraph(*static_cast<SimGraph *>(graph));
  return 0;
}
int graphLaunch(void *self, GraphExecHandle graph, StreamHandle stream) {
  for (const Operation &operation : static_cast<SimGraph *>(graph)->operations)
    if (int code = Sim::of(self).submit(stream, operation))
      return code;
  return 0;
}
int graphDestroy(void *, GraphHandle graph) {
  delete static_cast<SimGraph *>(graph);
  return 0;
}

const char *deviceName(void *) { return "sim"; }
const char *errorString(void *self, int) { return Sim::of(self).error.c_str(); }
void destroy(void *self) { delete static_cast<Sim *>(self); }

/// A CTA that executes more warp instructions hangs (K2RT_SIM=limit=N). That
/// takes seconds to two minutes, by instruction. k2c's longest, attention over
/// 131,072 tokens with the heads of Kimi K2, executes 2.3e7: 1.1e4 for each
/// page.
constexpr uint64_t kHang = 1ull << 31;

/// The options of K2RT_SIM that are not the simulator's own.
struct Measuring {
  std::string model, counters;
};
/// Takes model=NAME and counters=FILE out of the text.
Measuring takeMeasuring(std::string &options) {
  Measuring taken;
  std::string rest;
  for (size_t at = 0; at < options.size();) {
    const size_t comma = std::min(options.find(',', at), options.size());
    const std::string item = options.substr(at, comma - at);
    at = comma + 1;
    if (item.rfind("model=", 0) == 0)
      taken.model = item.substr(6);
    else if (item.rfind("counters=", 0) == 0)
      taken.counters = item.substr(9);
    else
      rest += (rest.empty() ? "" : ",") + item;
  }
  if (taken.model.empty() && !taken.counters.empty())
    taken.model = "h200";
  options = std::move(rest);
  return taken;
}
} // namespace

Expected<DriverTable> makeSimDriver() {
  ptxsim::DeviceOptions options;
  options.instructionLimit = kHang;
  Measuring measuring;
  if (const char *text = std::getenv("K2RT_SIM")) {
    std::string rest = text;
    measuring = takeMeasuring(rest);
    if (ptxsim::Status status = ptxsim::readOptions(rest, options); !status)
      return Status::input("K2RT_SIM: " + status.message());
  }
  std::optional<ptxsim::DeviceDescription> model;
  if (!measuring.model.empty()) {
    auto found = ptxsim::DeviceDescription::find(measuring.model);
    if (!found)
      return Status::input("K2RT_SIM: model: " + found.message());
    model = std::move(*found);
  }
  std::FILE *file = nullptr;
  if (!measuring.counters.empty()) {
    file = std::fopen(measuring.counters.c_str(), "wb");
    if (!file)
      return Status::input("K2RT_SIM: counters: " + measuring.counters +
                           ": cannot be written: " + std::strerror(errno));
  }
  DriverTable table{};
  Sim *sim = new Sim(options);
  if (model)
    sim->useModel(std::move(*model), file);
  table.self = sim;
  table.destroy = destroy;
  table.deviceName = deviceName;
  table.errorString = errorString;
  table.takesTextOnly = true;
  table.checksBounds = true;
  table.memAlloc = memAlloc;
  table.memFree = memFree;
  table.memGetInfo = memGetInfo;
  table.memcpyHtoD = memcpyHtoD;
  table.memcpyDtoH = memcpyDtoH;
  table.memcpyDtoD = memcpyDtoD;
  table.memsetD8 = memsetD8;
  table.moduleLoadData = moduleLoadData;
  table.moduleUnload = moduleUnload;
  table.moduleGetFunction = moduleGetFunction;
  table.funcGetParams = funcGetParams;
  table.funcSetSharedBytes = funcSetSharedBytes;
  table.launchKernel = launchKernel;
  table.launchCounters = launchCounters;
  table.streamCreate = streamCreate;
  table.streamDestroy = streamDestroy;
  table.streamSynchronize = streamSynchronize;
  table.eventCreate = eventCreate;
  table.eventDestroy = eventDestroy;
  table.eventRecord = eventRecord;
  table.eventSynchronize = eventSynchronize;
  table.eventElapsed = eventElapsed;
  table.streamBeginCapture = streamBeginCapture;
  table.streamEndCapture = streamEndCapture;
  table.graphInstantiate = graphInstantiate;
  table.graphLaunch = graphLaunch;
  table.graphExecDestroy = graphDestroy;
  table.graphDestroy = graphDestroy;
  return table;
}

} // namespace k2rt
