//===- StorageTypes.h - The type every parameter is stored in ---*- C++ -*-===//
#ifndef LIB_IMPORT_STORAGETYPES_H
#define LIB_IMPORT_STORAGETYPES_H

#include "ParameterTable.h"

#include <map>

namespace k2c {

enum class Storage { BF16, F16, F32, Fp8 };

struct StorageTypes {
  /// By the parameter's symbol.
  std::map<std::string, Storage> types;
  /// Whether they were read from the headers of a checkpoint.
  bool fromHeaders = false;
};

/// From the safetensors headers beside the config when there are any (shapes
/// are checked too), else from quantization_config and its exclusion list.
/// Layers and experts of one parameter must agree, for they share their code.
llvm::Expected<StorageTypes>
resolveStorage(const ModelFacts &facts,
               const std::vector<ParameterSpec> &specs);

} // namespace k2c

#endif // LIB_IMPORT_STORAGETYPES_H
