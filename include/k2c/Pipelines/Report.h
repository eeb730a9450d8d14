//===- Report.h - What the kernels of a model cost --------------*- C++ -*-===//
#ifndef K2C_PIPELINES_REPORT_H
#define K2C_PIPELINES_REPORT_H

#include "dialects/K2/K2.h"
#include <map>
#include <string>

namespace k2c {

/// Costs of a kernel as expressions in T (tokens), S (keys), B (sequences).
struct KernelCost {
  std::string flops;
  std::string bytes; // compulsory: inputs and weights once, results once
};

/// Costs of all kernels of a model by name, from K2CostInterface.
std::map<std::string, KernelCost> collectCosts(k2::ModelOp model);

} // namespace k2c

#endif // K2C_PIPELINES_REPORT_H
