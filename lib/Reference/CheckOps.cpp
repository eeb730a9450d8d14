//===- CheckOps.cpp - check.expect_equal and check.expect_close -----------===//

#include "OperandAccess.h"
#include "dialects/Check/Check.h"
#include "k2c/Reference/Interpreter.h"

#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace k2c::reference {

static std::string coordinates(const std::vector<int64_t> &shape,
                               int64_t index) {
  std::string text = "]";
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    text.insert(0, extent == shape.rbegin() ? "" : ", ");
    text.insert(0, std::to_string(index % *extent));
    index /= *extent;
  }
  return "[" + text;
}

/// The first difference of two equally typed tensors as a message; empty when
/// there is none.
template <typename Element>
static std::string compareEqual(const TensorOf<Element> &got,
                                const TensorOf<Element> &want) {
  if (got.shape != want.shape)
    return "expected equal shapes, but got others";
  for (size_t i = 0; i < got.data.size(); ++i) {
    bool bothNaN = got.data[i] != got.data[i] && want.data[i] != want.data[i];
    if (got.data[i] != want.data[i] && !bothNaN)
      return llvm::formatv("expected {0} at {1}, but got {2}", want.data[i],
                           coordinates(got.shape, i), got.data[i]);
  }
  return {};
}

template <typename Real>
static std::string compareClose(const TensorOf<Real> &got,
                                const TensorOf<Real> &want,
                                check::ExpectCloseOp op) {
  if (got.shape != want.shape)
    return "expected equal shapes, but got others";
  double squares = 0, reference = 0, worst = 0;
  int64_t worstAt = 0;
  for (size_t i = 0; i < got.data.size(); ++i) {
    double difference =
        static_cast<double>(got.data[i]) - static_cast<double>(want.data[i]);
    if (!std::isfinite(difference))
      return llvm::formatv("expected {0} at {1}, but got {2}", want.data[i],
                           coordinates(got.shape, i), got.data[i]);
    squares += difference * difference;
    reference +=
        static_cast<double>(want.data[i]) * static_cast<double>(want.data[i]);
    if (std::fabs(difference) > worst) {
      worst = std::fabs(difference);
      worstAt = static_cast<int64_t>(i);
    }
  }
  if (op.getMaxAbs() && worst > op.getMaxAbs()->convertToDouble())
    return llvm::formatv("expected a difference of at most {0:e2}, but got "
                         "{1:e2} at {2}: {3:e8} for {4:e8}",
                         op.getMaxAbs()->convertToDouble(), worst,
                         coordinates(got.shape, worstAt), got.data[worstAt],
                         want.data[worstAt]);
  double relative = squares == 0 ? 0 : std::sqrt(squares / reference);
  if (op.getRelativeRms() &&
      !(relative <= op.getRelativeRms()->convertToDouble()))
    return llvm::formatv("expected a relative rms error of at most {0:e2}, but "
                         "got {1:e2}; worst at {2}",
                         op.getRelativeRms()->convertToDouble(), relative,
                         coordinates(got.shape, worstAt));
  return {};
}

template <typename Real>
llvm::Error Interpreter<Real>::runCheckOp(Operation *op, Frame &frame) {
  Operands<Real> get(frame);
  std::string problem;
  mlir::Value got = op->getOperand(0), want = op->getOperand(1);
  if (std::holds_alternative<Integers>(frame[got]) !=
      std::holds_alternative<Integers>(frame[want]))
    problem = "expected integers on both sides or on none, but got one";
  else if (std::holds_alternative<Integers>(frame[got]))
    problem = isa<check::ExpectEqualOp>(op)
                  ? compareEqual(get.integers(got), get.integers(want))
                  : "expected floating-point tensors, but got integers";
  else if (auto close = dyn_cast<check::ExpectCloseOp>(op))
    problem = compareClose(get.tensor(got), get.tensor(want), close);
  else
    problem = compareEqual(get.tensor(got), get.tensor(want));
  if (problem.empty())
    return llvm::Error::success();
  std::string where;
  llvm::raw_string_ostream(where) << op->getLoc();
  failures.push_back(where + ": " + op->getName().getStringRef().str() + ": " +
                     problem);
  return llvm::Error::success();
}

template llvm::Error Interpreter<float>::runCheckOp(Operation *, Frame &);
template llvm::Error Interpreter<double>::runCheckOp(Operation *, Frame &);

} // namespace k2c::reference
