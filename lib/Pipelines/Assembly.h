//===- Assembly.h - ptxas on several kernels at once ------------*- C++ -*-===//
#ifndef LIB_PIPELINES_ASSEMBLY_H
#define LIB_PIPELINES_ASSEMBLY_H

#include "k2c/Artifact/CubinCache.h"
#include "k2c/Artifact/Ptxas.h"
#include "llvm/Support/ThreadPool.h"

#include <chrono>
#include <map>
#include <mutex>

namespace k2c {

/// One kernel's code.
struct Code {
  std::string ptx;
  int64_t sharedBytes = 0;
  Assembled assembled;
};

struct AssemblyResults {
  std::map<std::string, Code> codes;
  bool hasPtxas = false;
  size_t cached = 0;
};

/// Takes PTX as it is made; ptxas processes run beside the caller.
class Assembly {
public:
  /// Without a ptxas only the text is kept.
  explicit Assembly(std::string arch);
  /// Why the ptxas that was asked for cannot be used; empty if all is well.
  const std::string &problem() const { return why; }
  /// A second text of a kernel replaces the first.
  void add(const std::string &name, std::string ptx, int64_t sharedBytes);
  /// Waits for all that was added; more can be added after it.
  AssemblyResults &wait();
  /// The whole message of a kernel's fault.
  std::string explain(const std::string &name);

private:
  void progress();

  std::string arch, why;
  std::optional<Ptxas> ptxas;
  CubinCache cache = CubinCache::open();
  AssemblyResults results;
  std::mutex mutex; // of what follows
  std::chrono::steady_clock::time_point last =
      std::chrono::steady_clock::now() + std::chrono::seconds(1);
  size_t done = 0, added = 0;
  llvm::DefaultThreadPool pool; // last: its threads use all of the above
};

} // namespace k2c

#endif // LIB_PIPELINES_ASSEMBLY_H
