//===- Manifest.h - A plan as the artifact's manifest.json ------*- C++ -*-===//
#ifndef K2C_ARTIFACT_MANIFEST_H
#define K2C_ARTIFACT_MANIFEST_H

#include "dialects/Plan/Plan.h"
#include "llvm/ADT/StringMap.h"
#include <nlohmann/json.hpp>

namespace k2c {

/// What only code generation knows about the code of a kernel.
struct KernelFacts {
  std::string ptxSha256;
  int64_t sharedBytes = 0; // dynamic shared memory, to be passed at launch
  std::optional<int64_t> registers; // known when ptxas ran: there is a cubin
};

/// The JSON form of an expression: an integer, a symbol or [op, a, b].
nlohmann::ordered_json toJSON(plan::ExprAttr expr);

/// The JSON form of dictionaries, arrays, strings, booleans and numbers.
nlohmann::ordered_json toJSON(mlir::Attribute attribute);

/// The manifest of a program. `facts` has an entry for each kernel's `code`.
nlohmann::ordered_json buildManifest(plan::ProgramOp program,
                                     const llvm::StringMap<KernelFacts> &facts);

/// Bytes of the file: indented two levels deep, so that a diff of two manifests
/// shows kernels, buffers and commands line by line.
std::string printManifest(const nlohmann::ordered_json &manifest);

} // namespace k2c

#endif // K2C_ARTIFACT_MANIFEST_H
