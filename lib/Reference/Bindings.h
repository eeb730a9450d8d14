//===- Bindings.h - k2 values from and to named tensors ---------*- C++ -*-===//
#ifndef LIB_REFERENCE_BINDINGS_H
#define LIB_REFERENCE_BINDINGS_H

#include "k2c/Reference/HostTensors.h"
#include "k2c/Reference/Values.h"
#include "mlir/IR/Types.h"

namespace k2c::reference {

/// The value of a k2 or tensor type from the named tensors of an input; Run.h
/// says under which names.
template <typename Real>
llvm::Expected<Value<Real>> bindValue(mlir::Type type, const std::string &name,
                                      const HostTensors &tensors);

/// Adds the tensors that a value consists of.
template <typename Real>
void exportValue(const Value<Real> &value, const std::string &name,
                 HostTensors &tensors);

} // namespace k2c::reference

#endif // LIB_REFERENCE_BINDINGS_H
