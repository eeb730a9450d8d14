//===- Exclusions.h - Modules that stay unquantized -------------*- C++ -*-===//
#ifndef LIB_IMPORT_EXCLUSIONS_H
#define LIB_IMPORT_EXCLUSIONS_H

#include "llvm/Support/Error.h"
#include "llvm/Support/Regex.h"
#include <string>
#include <vector>

namespace k2c {

/// The exclusion list of a quantization_config: names, parts of names, or `re:`
/// and a regular expression of Python that matches from the name's start.
class Exclusions {
public:
  /// Refuses what Python's expressions have and ours have not: a pattern that
  /// is read otherwise would choose other weights.
  static llvm::Expected<Exclusions>
  create(const std::vector<std::string> &entries);

  /// Whether the list names a module such as `model.layers.0.mlp.gate_proj`.
  bool contains(const std::string &module) const;

private:
  std::vector<std::string> names;
  std::vector<llvm::Regex> patterns;
};

} // namespace k2c

#endif // LIB_IMPORT_EXCLUSIONS_H
