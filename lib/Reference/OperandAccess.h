//===- OperandAccess.h - Values of operands by their k2 type ----*- C++ -*-===//
#ifndef LIB_REFERENCE_OPERANDACCESS_H
#define LIB_REFERENCE_OPERANDACCESS_H

#include "k2c/Reference/Values.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace k2c::reference {

/// The verifier of an op guarantees which alternative a value of the frame
/// holds.
template <typename Real> class Operands {
public:
  explicit Operands(llvm::DenseMap<mlir::Value, Value<Real>> &frame)
      : frame(frame) {}

  const TensorOf<Real> &tensor(mlir::Value value) {
    return std::get<TensorOf<Real>>(frame[value]);
  }
  const Integers &integers(mlir::Value value) {
    return std::get<Integers>(frame[value]);
  }
  const Batch<Real> &batch(mlir::Value value) {
    return std::get<Batch<Real>>(frame[value]);
  }
  const Cache<Real> &cache(mlir::Value value) {
    return std::get<Cache<Real>>(frame[value]);
  }
  const Routing &routing(mlir::Value value) {
    return std::get<Routing>(frame[value]);
  }

  /// A quantized weight, or a plain tensor seen as one.
  const Weight<Real> &weight(mlir::Value value) {
    Value<Real> &held = frame[value];
    if (auto *plain = std::get_if<TensorOf<Real>>(&held)) {
      converted.values = *plain;
      return converted;
    }
    return std::get<Weight<Real>>(held);
  }

private:
  llvm::DenseMap<mlir::Value, Value<Real>> &frame;
  Weight<Real> converted;
};

} // namespace k2c::reference

#endif // LIB_REFERENCE_OPERANDACCESS_H
