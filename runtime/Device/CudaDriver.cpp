//===- CudaDriver.cpp - The driver table over libcuda ---------------------===//
#include "runtime/Device/CudaTypes.h"
#include "runtime/Device/Device.h"

#include <dlfcn.h>

namespace k2rt {

namespace {
using namespace cuda;

struct Cuda {
  void *library = nullptr;
#define X(name, symbol, parameters) int(*name) parameters = nullptr;
  K2RT_CUDA_FUNCTIONS(X)
#undef X
  /// cuFuncGetParamInfo, from driver 12.4 on.
  int (*functionParam)(void *, size_t, size_t *, size_t *) = nullptr;
  int device = 0;
  void *context = nullptr;
  std::string name, error, log;

  /// The driver's state, its context current on the calling thread.
  static Cuda &of(void *self) {
    Cuda &cuda = *static_cast<Cuda *>(self);
    cuda.contextSetCurrent(cuda.context);
    return cuda;
  }
  ~Cuda();
  Status load();
  Status openDevice(int ordinal);
  std::string explain(int code) const;
};

Cuda::~Cuda() {
  if (context)
    contextRelease(device);
  if (library)
    ::dlclose(library);
}

std::string Cuda::explain(int code) const {
  const char *errorNameText = nullptr, *text = nullptr;
  errorName(code, &errorNameText);
  errorText(code, &text);
  return std::string(errorNameText ? errorNameText : "unknown error") + " (" +
         std::to_string(code) + "): " + (text ? text : "no description");
}

Status Cuda::load() {
  library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::input(
        std::string("--device=cuda: expected NVIDIA's driver library "
                    "libcuda.so.1, but got: ") +
        ::dlerror());
  const char *missing = nullptr;
  auto resolve = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        ::dlsym(library, symbol));
    if (!function && !missing)
      missing = symbol;
  };
#define X(name, symbol, parameters) resolve(name, #symbol);
  K2RT_CUDA_FUNCTIONS(X)
#undef X
  if (missing)
    return Status::input(
        std::string("--device=cuda: expected a driver of CUDA 12 or newer, but "
                    "got one without ") +
        missing);
  functionParam = reinterpret_cast<decltype(functionParam)>(
      ::dlsym(library, "cuFuncGetParamInfo"));
  return Status();
}

Status Cuda::openDevice(int wanted) {
  auto check = [&](int code, const char *what) {
    return code == 0 ? Status()
                     : Status::input(std::string("--device=cuda: ") + what +
                                     ": " + explain(code));
  };
  int count = 0, major = 0, minor = 0;
  char text[256] = "";
  if (Status s = check(init(0), "cuInit"); s.failed())
    return s;
  if (Status s = check(deviceCount(&count), "cuDeviceGetCount"); s.failed())
    return s;
  if (wanted >= count)
    return Status::input("--device=cuda:" + std::to_string(wanted) +
                         ": expected a device number below " +
                         std::to_string(count) + ", but got " +
                         std::to_string(wanted));
  if (Status s = check(deviceGet(&device, wanted), "cuDeviceGet"); s.failed())
    return s;
  deviceName(text, sizeof(text), device);
  deviceAttribute(&major, kDeviceComputeMajor, device);
  deviceAttribute(&minor, kDeviceComputeMinor, device);
  name = std::string(text) + " (compute capability " + std::to_string(major) +
         "." + std::to_string(minor) + ")";
  if (Status s = check(contextRetain(&context, device), "no context");
      s.failed()) {
    context = nullptr;
    return s;
  }
  return Status();
}

// --- memory

int memAlloc(void *self, DevicePtr *out, size_t bytes, const char *) {
  DevicePointer pointer = 0;
  int code = Cuda::of(self).memAlloc(&pointer, bytes);
  *out = pointer;
  return code;
}
int memFree(void *self, DevicePtr pointer) {
  return Cuda::of(self).memFree(pointer);
}
int memGetInfo(void *self, size_t *free, size_t *total) {
  return Cuda::of(self).memGetInfo(free, total);
}
int memcpyHtoD(void *self, DevicePtr to, const void *from, size_t bytes,
               StreamHandle stream) {
  Cuda &cuda = Cuda::of(self);
  return stream ? cuda.copyHtoDAsync(to, from, bytes, stream)
                : cuda.copyHtoD(to, from, bytes);
}
int memcpyDtoH(void *self, void *to, DevicePtr from, size_t bytes,
               StreamHandle stream) {
  Cuda &cuda = Cuda::of(self);
  return stream ? cuda.copyDtoHAsync(to, from, bytes, stream)
                : cuda.copyDtoH(to, from, bytes);
}
int memcpyDtoD(void *self, DevicePtr to, DevicePtr from, size_t bytes,
               StreamHandle stream) {
  return Cuda::of(self).copyDtoDAsync(to, from, bytes, stream);
}
int memsetD8(void *self, DevicePtr to, uint8_t value, size_t bytes,
             StreamHandle stream) {
  return Cuda::of(self).memsetAsync(to, value, bytes, stream);
}

// --- modules and launches

int moduleLoadData(void *self, ModuleHandle *out, const char *image, size_t,
                   ImageKind, const char *) {
  Cuda &cuda = Cuda::of(self);
  // The driver tells cubin and PTX apart by itself.
  cuda.log.assign(8192, '\0');
  int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferSize};
  // The driver takes a number in place of a pointer here.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void *size = reinterpret_cast<void *>(cuda.log.size());
  void *values[] = {cuda.log.data(), size};
  int code = cuda.moduleLoad(out, image, 2, options, values);
  cuda.log.resize(cuda.log.find('\0') == std::string::npos
                      ? cuda.log.size()
                      : cuda.log.find('\0'));
  return code;
}
int moduleUnload(void *self, ModuleHandle module) {
  return Cuda::of(self).moduleUnload(module);
}
int moduleGetFunction(void *self, FunctionHandle *out, ModuleHandle module,
                      const char *name) {
  return Cuda::of(self).moduleFunction(out, module, name);
}
int funcGetParams(void *self, FunctionHandle function, size_t *count,
                  size_t *bytes) {
  size_t offset = 0, size = 0;
  *count = *bytes = 0;
  while (Cuda::of(self).functionParam(function, *count, &offset, &size) == 0) {
    ++*count;
    *bytes = offset + size;
  }
  return 0;
}
int funcSetSharedBytes(void *self, FunctionHandle function, uint32_t bytes) {
  return Cuda::of(self).functionSet(function, kFuncMaxDynamicSharedBytes,
                                    static_cast<int>(bytes));
}
int launchKernel(void *self, FunctionHandle function,
                 const LaunchConfig *config, void **params) {
  LaunchAttribute attributes[2] = {};
  uint32_t count = 0;
  if (config->cluster[0] * config->cluster[1] * config->cluster[2] > 1) {
    LaunchAttribute &attribute = attributes[count++];
    attribute.id = kLaunchClusterDimension;
    attribute.value.cluster = {config->cluster[0], config->cluster[1],
                               config->cluster[2]};
  }
  if (config->programmatic) {
    LaunchAttribute &attribute = attributes[count++];
    attribute.id = kLaunchProgrammaticSerialization;
    attribute.value.programmaticAllowed = 1;
  }
  LaunchConfigEx ex{config->grid[0],     config->grid[1],
                    config->grid[2],     config->block[0],
                    config->block[1],    config->block[2],
                    config->sharedBytes, config->stream,
                    attributes,          count};
  return Cuda::of(self).launch(&ex, function, params, nullptr);
}

// --- streams, events, graphs

int streamCreate(void *self, StreamHandle *out) {
  return Cuda::of(self).streamCreate(out, 0);
}
int streamDestroy(void *self, StreamHandle stream) {
  return Cuda::of(self).streamDestroy(stream);
}
int streamSynchronize(void *self, StreamHandle stream) {
  return Cuda::of(self).streamSynchronize(stream);
}
int eventCreate(void *self, EventHandle *out) {
  return Cuda::of(self).eventCreate(out, 0);
}
int eventDestroy(void *self, EventHandle event) {
  return Cuda::of(self).eventDestroy(event);
}
int eventRecord(void *self, EventHandle event, StreamHandle stream) {
  return Cuda::of(self).eventRecord(event, stream);
}
int eventSynchronize(void *self, EventHandle event) {
  return Cuda::of(self).eventSynchronize(event);
}
int eventElapsed(void *self, float *out, EventHandle from, EventHandle to) {
  return Cuda::of(self).eventElapsed(out, from, to);
}
int streamBeginCapture(void *self, StreamHandle stream) {
  return Cuda::of(self).streamBeginCapture(stream, /*thread local*/ 1);
}
int streamEndCapture(void *self, StreamHandle stream, GraphHandle *out) {
  return Cuda::of(self).streamEndCapture(stream, out);
}
int graphInstantiate(void *self, GraphExecHandle *out, GraphHandle graph) {
  return Cuda::of(self).graphInstantiate(out, graph, 0);
}
int graphLaunch(void *self, GraphExecHandle graph, StreamHandle stream) {
  return Cuda::of(self).graphLaunch(graph, stream);
}
int graphExecDestroy(void *self, GraphExecHandle graph) {
  return Cuda::of(self).graphExecDestroy(graph);
}
int graphDestroy(void *self, GraphHandle graph) {
  return Cuda::of(self).graphDestroy(graph);
}

const char *deviceName(void *self) { return Cuda::of(self).name.c_str(); }
const char *errorString(void *self, int code) {
  Cuda &cuda = Cuda::of(self);
  cuda.error = cuda.explain(code) + ", on " + cuda.name;
  if (!cuda.log.empty())
    cuda.error += "; " + std::exchange(cuda.log, {});
  return cuda.error.c_str();
}
void destroy(void *self) { delete static_cast<Cuda *>(self); }
} // namespace

Expected<DriverTable> makeCudaDriver(int ordinal) {
  auto cuda = std::make_unique<Cuda>();
  if (Status s = cuda->load(); s.failed())
    return s;
  if (Status s = cuda->openDevice(ordinal); s.failed())
    return s;
  DriverTable table{};
  table.destroy = destroy;
  table.deviceName = deviceName;
  table.errorString = errorString;
  table.takesTextOnly = false;
  table.checksBounds = false;
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
  table.funcGetParams = cuda->functionParam ? funcGetParams : nullptr;
  table.funcSetSharedBytes = funcSetSharedBytes;
  table.launchKernel = launchKernel;
  table.launchCounters = nullptr;
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
  table.graphExecDestroy = graphExecDestroy;
  table.graphDestroy = graphDestroy;
  table.self = cuda.release();
  return table;
}

} // namespace k2rt
