//===- Artifact.h - A compiled model on disk --------------------*- C++ -*-===//
#ifndef RUNTIME_ARTIFACT_ARTIFACT_H
#define RUNTIME_ARTIFACT_ARTIFACT_H

#include "runtime/Artifact/Manifest.h"

namespace k2rt {

/// The code of one kernel, read from the artifact.
struct KernelCode {
  std::string ptx;     ///< the text
  std::string ptxPath; ///< for messages
  std::string cubin;   ///< empty: none, or made from another PTX
  bool edited = false; ///< the text is not what the compiler wrote
};

class Artifact {
public:
  /// Reads the manifest and the code of every kernel. A kernel file that is
  /// missing is an error that names it; a PTX that differs from its hash is
  /// taken as edited by hand: it counts, and its cubin does not.
  static Expected<Artifact> open(const std::string &folder);

  const std::string &folder() const { return folder_; }
  const Manifest &manifest() const { return manifest_; }
  /// Parallel to manifest().kernels.
  const std::vector<KernelCode> &code() const { return code_; }

private:
  std::string folder_;
  Manifest manifest_;
  std::vector<KernelCode> code_;
};

} // namespace k2rt

#endif // RUNTIME_ARTIFACT_ARTIFACT_H
