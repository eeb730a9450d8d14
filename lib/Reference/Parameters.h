//===- Parameters.h - Parameters from a checkpoint or from inputs -*- C++
//-*-===//
#ifndef LIB_REFERENCE_PARAMETERS_H
#define LIB_REFERENCE_PARAMETERS_H

#include "Bindings.h"
#include "k2c/Reference/Interpreter.h"
#include "runtime/Checkpoint/Checkpoint.h"

namespace k2c::reference {

/// Puts the parts of a parameter together from a folder of safetensors files.
template <typename Real>
class CheckpointParameters : public ParameterSource<Real> {
public:
  explicit CheckpointParameters(const k2rt::Checkpoint &checkpoint)
      : checkpoint(checkpoint) {}
  llvm::Expected<Value<Real>> load(k2::ParamOp param, int64_t layer) override;

private:
  llvm::Error fill(Real *to, const std::string &name,
                   const std::vector<int64_t> &shape, mlir::Type element);
  const k2rt::Checkpoint &checkpoint;
};

/// Takes parameters from named tensors.
template <typename Real> class NamedParameters : public ParameterSource<Real> {
public:
  explicit NamedParameters(const HostTensors &tensors) : tensors(tensors) {}
  llvm::Expected<Value<Real>> load(k2::ParamOp param, int64_t layer) override;

private:
  const HostTensors &tensors;
};

} // namespace k2c::reference

#endif // LIB_REFERENCE_PARAMETERS_H
