//===- DriverTable.h - What the runtime asks of a device --------*- C++ -*-===//
//
// Functions shaped like the CUDA driver API, so that one executor drives a GPU
// and the simulator. Every function takes the table's `self` first and gives 0
// or an error code, which errorString() explains. Differences to the driver: a
// memory allocation has a name, for messages; a module is loaded from PTX text
// or a cubin as the caller says; loads of text report the compiler's log
// through errorString(); launchCounters() is the simulator's own.
//
// Threads: one thread at a time uses a table.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_DEVICE_DRIVERTABLE_H
#define RUNTIME_DEVICE_DRIVERTABLE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k2rt {

using DevicePtr = uint64_t;
using ModuleHandle = void *;
using FunctionHandle = void *;
using StreamHandle = void *; ///< null: the default stream
using EventHandle = void *;
using GraphHandle = void *;
using GraphExecHandle = void *;

enum class ImageKind { PtxText, Cubin };

struct LaunchConfig {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3];
  uint32_t sharedBytes; ///< dynamic
  bool programmatic;    ///< may start before its predecessor has ended
  StreamHandle stream;
  uint32_t registers = 0; ///< of a thread, as ptxas said; 0: unknown
};

/// What a modelled time rests on, and what it leaves out.
struct ModelNotes {
  std::string device, deviceFile;
  std::string bound, secondBound, occupancyLimit;
  double seconds = 0, waves = 0;
  uint32_t ctasPerSm = 0;
  std::vector<std::string> assumed, notModelled;
};

/// What launches executed, where the device can tell.
struct LaunchCounters {
  uint64_t warpInstructions = 0;
  uint64_t tensorFlops = 0;
  /// With a model of caches (K2RT_SIM=model=...) only.
  bool modelled = false;
  uint64_t dramReadBytes = 0, dramWriteBytes = 0;
  double modelledSeconds = 0;
  /// The same with the kernel boundary before each (that of a graph, or of a
  /// programmatic launch); what the host needs for the launches. Empty if the
  /// model has no figure.
  std::optional<double> modelledChainSeconds = 0, modelledHostSeconds = 0;
  ModelNotes longest; ///< of the launch with the longest modelled time

  LaunchCounters &operator+=(const LaunchCounters &other);
};

struct DriverTable {
  void *self;
  /// Frees `self`; nothing else may be called afterwards.
  void (*destroy)(void *self);
  /// "sim", or the name of the GPU.
  const char *(*deviceName)(void *self);
  /// Explains `code`, the result of the latest call.
  const char *(*errorString)(void *self, int code);
  /// True when modules are loaded from PTX text only.
  bool takesTextOnly;
  /// True when every access is checked against its allocation: then arrays are
  /// allocated at their exact size, each on its own.
  bool checksBounds;

  int (*memAlloc)(void *self, DevicePtr *out, size_t bytes, const char *name);
  int (*memFree)(void *self, DevicePtr pointer);
  int (*memGetInfo)(void *self, size_t *free, size_t *total);
  int (*memcpyHtoD)(void *self, DevicePtr to, const void *from, size_t bytes,
                    StreamHandle stream);
  int (*memcpyDtoH)(void *self, void *to, DevicePtr from, size_t bytes,
                    StreamHandle stream);
  int (*memcpyDtoD)(void *self, DevicePtr to, DevicePtr from, size_t bytes,
                    StreamHandle stream);
  int (*memsetD8)(void *self, DevicePtr to, uint8_t value, size_t bytes,
                  StreamHandle stream);

  int (*moduleLoadData)(void *self, ModuleHandle *out, const char *image,
                        size_t bytes, ImageKind kind, const char *name);
  int (*moduleUnload)(void *self, ModuleHandle module);
  int (*moduleGetFunction)(void *self, FunctionHandle *out, ModuleHandle module,
                           const char *name);
  /// Number and total bytes of the kernel's parameters, so that a wrong
  /// manifest is an error and not a wild read; null if the device cannot tell.
  int (*funcGetParams)(void *self, FunctionHandle function, size_t *count,
                       size_t *bytes);
  /// Allows that much dynamic shared memory.
  int (*funcSetSharedBytes)(void *self, FunctionHandle function,
                            uint32_t bytes);
  /// `params[i]` points at the value of parameter i.
  int (*launchKernel)(void *self, FunctionHandle function,
                      const LaunchConfig *config, void **params);
  /// Figures of all launches since the last call; null if the device has none.
  void (*launchCounters)(void *self, LaunchCounters *out);

  int (*streamCreate)(void *self, StreamHandle *out);
  int (*streamDestroy)(void *self, StreamHandle stream);
  int (*streamSynchronize)(void *self, StreamHandle stream);
  int (*eventCreate)(void *self, EventHandle *out);
  int (*eventDestroy)(void *self, EventHandle event);
  int (*eventRecord)(void *self, EventHandle event, StreamHandle stream);
  int (*eventSynchronize)(void *self, EventHandle event);
  /// Milliseconds between two recorded events.
  int (*eventElapsed)(void *self, float *out, EventHandle from, EventHandle to);

  /// What is put into `stream` from begin to end is recorded, not run.
  int (*streamBeginCapture)(void *self, StreamHandle stream);
  int (*streamEndCapture)(void *self, StreamHandle stream, GraphHandle *out);
  int (*graphInstantiate)(void *self, GraphExecHandle *out, GraphHandle graph);
  int (*graphLaunch)(void *self, GraphExecHandle graph, StreamHandle stream);
  int (*graphExecDestroy)(void *self, GraphExecHandle graph);
  int (*graphDestroy)(void *self, GraphHandle graph);
};

} // namespace k2rt

#endif // RUNTIME_DEVICE_DRIVERTABLE_H
