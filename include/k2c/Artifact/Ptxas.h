//===- Ptxas.h - The assembler as a subprocess, with gates ------*- C++ -*-===//
#ifndef K2C_ARTIFACT_PTXAS_H
#define K2C_ARTIFACT_PTXAS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k2c {

/// The assembler that was found and the version it says it has.
struct Ptxas {
  std::string path;
  std::string version;
};

/// Looks at $K2C_PTXAS, $CUDA_HOME/bin, PATH, then the Python package
/// nvidia-cuda-nvcc. `$K2C_PTXAS` that does not run is an error (`error` set);
/// none at all is not (empty result, empty error).
std::optional<Ptxas> findPtxas(std::string &error);

/// What `ptxas -v` says about a kernel.
struct PtxasReport {
  int64_t registers = 0;
  int64_t staticSharedBytes = 0;
  int64_t stackBytes = 0;
  int64_t spillBytes = 0;              // stores and loads
  std::vector<std::string> advisories; // lines with C75xx
};

/// Reads the lines of `ptxas -v`.
PtxasReport parsePtxasReport(const std::string &text);

/// Why a report does not pass the gates (spills, stack, C75xx); empty if it
/// does.
std::string gateFailure(const PtxasReport &report);

/// The arguments that change what ptxas writes; part of the cache's key.
std::vector<std::string> ptxasFlags(const std::string &arch);

struct Assembled {
  std::string cubin;
  std::string log; // of ptxas
  PtxasReport report;
  bool cached = false;
  std::string fault;   // rule and fact; empty if all is well
  bool spills = false; // the only fault: other code may do without
};

class CubinCache;

/// Assembles PTX text, through the cache. Safe to call from several threads.
Assembled assemble(const Ptxas &ptxas, const CubinCache &cache,
                   const std::string &name, const std::string &ptx,
                   const std::string &arch);

/// The whole message of a fault: kernel, what ptxas said, and where the PTX is
/// kept (a temporary file) with the command that shows the failure again.
std::string explainFault(const Ptxas &ptxas, const Assembled &assembled,
                         const std::string &name, const std::string &ptx,
                         const std::string &arch);

} // namespace k2c

#endif // K2C_ARTIFACT_PTXAS_H
