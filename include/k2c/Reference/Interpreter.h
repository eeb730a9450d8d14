//===- Interpreter.h - Runs functions of k2 and check ops -------*- C++ -*-===//
//
// The reference: walks the IR op by op and calls the plain functions of Ops.h.
// It shares no code with passes or lowerings.
//
//===----------------------------------------------------------------------===//
#ifndef K2C_REFERENCE_INTERPRETER_H
#define K2C_REFERENCE_INTERPRETER_H

#include "dialects/K2/K2.h"
#include "k2c/Reference/Ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"

namespace k2c::reference {

/// Where `k2.weight` takes its values from.
template <typename Real> class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  virtual llvm::Expected<Value<Real>> load(k2::ParamOp param,
                                           int64_t layer) = 0;
};

/// What a caller may want to see of a run.
template <typename Real> struct Hooks {
  /// The residual stream that enters layer 0 (index 0) and that leaves layer l
  /// (index l + 1).
  std::function<void(int64_t index, const TensorOf<Real> &x)> residual;
  std::function<void(int64_t layer, const Integers &ids,
                     const TensorOf<Real> &weights)>
      routed;
  /// Around every op; the last argument gives the values that exist then.
  using OpHook = std::function<void(
      mlir::Operation *op, int64_t layer,
      llvm::function_ref<const Value<Real> &(mlir::Value)> valueOf)>;
  OpHook before, after;
};

template <typename Real> class Interpreter {
public:
  explicit Interpreter(Rounding rounding = Rounding::None,
                       ParameterSource<Real> *parameters = nullptr)
      : round{rounding}, parameters(parameters) {}

  /// Runs the single block of a function-like region on `arguments`; the
  /// results are the operands of its terminator.
  llvm::Expected<std::vector<Value<Real>>>
  run(mlir::Region &region, std::vector<Value<Real>> arguments);

  /// One cache per layer, for `k2.layers`.
  std::vector<Cache<Real>> caches;
  Hooks<Real> hooks;
  /// When set, the result of `k2.embed`: the seed's x0 in place of a lookup.
  std::optional<TensorOf<Real>> embedding;
  /// Messages of the check ops that failed.
  std::vector<std::string> failures;

private:
  using Frame = llvm::DenseMap<mlir::Value, Value<Real>>;

  llvm::Error runBlock(mlir::Block &block, Frame &frame,
                       std::vector<Value<Real>> &yielded);
  llvm::Error runOp(mlir::Operation *op, Frame &frame);
  llvm::Error runModelOp(mlir::Operation *op, Frame &frame);
  llvm::Error runAttentionOp(mlir::Operation *op, Frame &frame);
  llvm::Error runExpertOp(mlir::Operation *op, Frame &frame);
  llvm::Error runCheckOp(mlir::Operation *op, Frame &frame);
  llvm::Error runUpstreamOp(mlir::Operation *op, Frame &frame);
  llvm::Error runLayers(k2::LayersOp op, Frame &frame);
  llvm::Error checkShapes(mlir::Operation *op, Frame &frame);

  Round round;
  ParameterSource<Real> *parameters;
  int64_t layer = 0;
};

extern template class Interpreter<float>;
extern template class Interpreter<double>;

} // namespace k2c::reference

#endif // K2C_REFERENCE_INTERPRETER_H
