//===- HostTensors.h - Named tensors in and out -----------------*- C++ -*-===//
#ifndef K2C_REFERENCE_HOSTTENSORS_H
#define K2C_REFERENCE_HOSTTENSORS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace k2c::reference {

/// A tensor of a file. Floating-point elements of every type are held exactly
/// as doubles.
struct HostTensor {
  std::vector<int64_t> shape;
  bool isInteger = false;
  std::vector<double> floats;
  std::vector<int64_t> integers;
};

using HostTensors = std::map<std::string, HostTensor>;

/// All tensors of a safetensors file.
llvm::Expected<HostTensors> readTensors(const std::string &path);

/// Writes floating-point tensors as F32, or as F64 when `wide`, and integers as
/// I32. The file appears only when it is complete.
llvm::Error writeTensors(const std::string &path, const HostTensors &tensors,
                         bool wide);

} // namespace k2c::reference

#endif // K2C_REFERENCE_HOSTTENSORS_H
