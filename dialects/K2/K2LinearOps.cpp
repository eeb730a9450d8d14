//===- K2LinearOps.cpp - Rules and costs: linear, slice, swiglu -----------===//

#include "dialects/K2/K2.h"

using namespace mlir;
using namespace k2c::k2;

LogicalResult LinearOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  ArrayRef<int64_t> weight = getWeightShape(getWeight().getType());
  // linear_c1
  if (input.getRank() != 2 || weight.size() != 2 || result.getRank() != 2)
    return emitOpError()
           << "expected input, weight and result of rank 2, but got "
           << input.getRank() << ", " << weight.size() << " and "
           << result.getRank();
  // linear_c2
  if (input.getDimSize(1) != weight[1])
    return emitOpError()
           << "expected weight of " << input.getDimSize(1)
           << " columns to match the last dimension of input, but got "
           << weight[1];
  // linear_c3
  if (result.getDimSize(1) != weight[0])
    return emitOpError() << "expected result of " << weight[0]
                         << " columns, one per row of weight, but got "
                         << result.getDimSize(1);
  // linear_c4
  if (!compatibleExtent(input.getDimSize(0), result.getDimSize(0)))
    return emitOpError()
           << "expected as many rows of result as of input, but got "
           << result.getDimSize(0) << " and " << input.getDimSize(0);
  return success();
}

CostExpr LinearOp::getFlops() {
  ArrayRef<int64_t> weight = getWeightShape(getWeight().getType());
  return CostExpr(2 * weight[0] * weight[1]) * CostExpr::tokens();
}

LogicalResult SliceOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  // slice_c1
  if (input.getRank() != 2 || result.getRank() != 2)
    return emitOpError() << "expected input and result of rank 2, but got "
                         << input.getRank() << " and " << result.getRank();
  // slice_c2
  int64_t offset = getOffset(), size = getSize(), columns = input.getDimSize(1);
  if (offset < 0 || size <= 0 || offset + size > columns)
    return emitOpError() << "expected columns within the " << columns
                         << " of input, but got " << size << " from " << offset
                         << " on";
  // slice_c3
  if (result.getDimSize(1) != size ||
      !compatibleExtent(input.getDimSize(0), result.getDimSize(0)))
    return emitOpError() << "expected result of " << size
                         << " columns and the rows of input, but got "
                         << result;
  return success();
}

CostExpr SliceOp::getFlops() { return 0; }

LogicalResult SwigluOp::verify() {
  // swiglu_c1
  int64_t rank = cast<RankedTensorType>(getResult().getType()).getRank();
  if (rank != 2)
    return emitOpError() << "expected operands of rank 2, but got rank "
                         << rank;
  return success();
}

CostExpr SwigluOp::getFlops() {
  return CostExpr(5 *
                  cast<RankedTensorType>(getResult().getType()).getDimSize(1)) *
         CostExpr::tokens();
}
