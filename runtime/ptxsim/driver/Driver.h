#ifndef RUNTIME_PTXSIM_DRIVER_DRIVER_H
#define RUNTIME_PTXSIM_DRIVER_DRIVER_H

// The state of the library and what every entry begins with. One lock is held
// while an entry runs, kernels included; host functions run without it.

#include "runtime/ptxsim/counting/Collector.h"
#include "runtime/ptxsim/driver/Exports.h"
#include "runtime/ptxsim/driver/Objects.h"
#include "runtime/ptxsim/driver/RegisterFacts.h"

#include <mutex>
#include <new>
#include <string>

namespace ptxsim::cuda {

/// The live objects of a kind: handles that are not among them are refused.
template <class T> class Table {
public:
  T *add(std::unique_ptr<T> object) {
    T *pointer = object.get();
    objects.emplace(pointer, std::move(object));
    return pointer;
  }
  bool has(const T *pointer) const { return objects.contains(pointer); }
  bool erase(const T *pointer) { return objects.erase(pointer) != 0; }
  template <class F> void forEach(F f) {
    for (auto &item : objects)
      f(*item.second);
  }
  template <class F> void eraseIf(F condemned) {
    std::erase_if(objects, [&](auto &item) { return condemned(*item.second); });
  }

private:
  std::unordered_map<const T *, std::unique_ptr<T>> objects;
};

struct Driver {
  std::recursive_mutex mutex; ///< a callback under it may ask for errors
  bool initialised = false;
  DeviceOptions options;
  RegisterFacts registers;
  std::string optionsError; ///< of PTXSIM_OPTIONS
  bool reports = true;      ///< faults are written to stderr
  std::string lastError;
  Counters counters;
  uint64_t launches = 0, nextId = 1;
  std::unique_ptr<Collector> collector; ///< ptxsimCollect
  std::vector<KernelCounts> collected;
  CUcontext primary = nullptr;
  unsigned primaryUsers = 0, primaryFlags = 0;
  Table<CUctx_st> contexts;
  Table<CUmod_st> modules;
  Table<CUlib_st> libraries;
  std::unordered_map<CUfunction, CUcontext> functions;
  Table<CUstream_st> streams;
  Table<CUevent_st> events;
  Table<CUgraph_st> graphs;
  Table<CUgraphExec_st> execs;
  std::unordered_map<CUgraphNode, CUgraph> nodes;
  std::vector<std::shared_ptr<Capture>> captures; ///< under way

  Driver();
  /// Never destroyed: programs call the driver from destructors of their own.
  static Driver &get();
  /// Remembers the text (ptxsimLastError) and gives the code.
  CUresult fail(CUresult code, std::string text);
  /// The same for what a program has not asked for: also on stderr.
  CUresult report(CUresult code, const std::string &text);
  void destroyContext(CUcontext context);
};

/// The calling thread's stack of contexts; the last one is current.
std::vector<CUcontext> &contextStack();

/// Does the calling thread run a function that the program has given to the
/// driver? Such a function may not call the driver.
bool &inCallback();

/// While it lives the calling thread is in such a function.
class Callback {
public:
  Callback() { inCallback() = true; }
  ~Callback() { inCallback() = false; }
  Callback(const Callback &) = delete;
  Callback &operator=(const Callback &) = delete;
};

/// Calls f with the lock held and turns exceptions into codes.
template <class F> CUresult locked(F f) {
  if (inCallback())
    return CUDA_ERROR_NOT_PERMITTED;
  try {
    std::lock_guard lock(Driver::get().mutex);
    return f(Driver::get());
  } catch (const std::bad_alloc &) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception &e) {
    return CUDA_ERROR_UNKNOWN;
  }
}

/// The same after cuInit.
template <class F> CUresult inDriver(F f) {
  return locked([&](Driver &driver) {
    return driver.initialised ? f(driver) : CUDA_ERROR_NOT_INITIALIZED;
  });
}

/// The same with a current context that has seen no fault.
template <class F> CUresult inContext(F f) {
  return inDriver([&](Driver &driver) {
    std::vector<CUcontext> &stack = contextStack();
    if (stack.empty() || !stack.back())
      return CUDA_ERROR_INVALID_CONTEXT;
    if (!driver.contexts.has(stack.back()))
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    CUctx_st &context = *stack.back();
    return context.fault ? context.fault : f(driver, context);
  });
}

/// The stream of a handle, or null.
CUstream findStream(Driver &driver, CUctx_st &context, CUstream handle);
/// May the calling thread do what a capture would miss (allocate, say)?
CUresult checkUnsafe(Driver &driver);
/// May an operation that waits for the default stream run?
CUresult checkLegacy(Driver &driver, CUctx_st &context);

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_DRIVER_H
