//===- K2MoEOps.cpp - Rules and costs of the mixture of experts -----------===//

#include "dialects/K2/K2.h"

using namespace mlir;
using namespace k2c::k2;

//===----------------------------------------------------------------------===//
// router
//===----------------------------------------------------------------------===//

LogicalResult RouterOp::verify() {
  auto logits = cast<RankedTensorType>(getLogits().getType());
  // router_c1
  if (logits.getRank() != 2)
    return emitOpError() << "expected logits of rank 2, but got rank "
                         << logits.getRank();
  int64_t experts = logits.getDimSize(1), k = getTopK(), groups = getNGroup(),
          kept = getTopkGroup();
  // router_c2
  if (getBias()) {
    auto bias = cast<RankedTensorType>(getBias().getType());
    if (bias.getRank() != 1 || bias.getDimSize(0) != experts)
      return emitOpError() << "expected bias of " << experts
                           << " elements, one per expert, but got " << bias;
  }
  // router_c3
  if (groups <= 0 || experts % groups != 0)
    return emitOpError() << "expected n_group to divide the " << experts
                         << " experts, but got " << groups;
  // router_c4
  if (kept <= 0 || kept > groups)
    return emitOpError() << "expected topk_group from 1 to n_group = " << groups
                         << ", but got " << kept;
  // router_c5
  if (groups > 1 && experts / groups < 2)
    return emitOpError()
           << "expected at least two experts in a group, but got one";
  // router_c6
  if (k <= 0 || k > experts / groups * kept)
    return emitOpError() << "expected top_k from 1 to the "
                         << experts / groups * kept
                         << " experts of the kept groups, but got " << k;
  // router_c7
  for (Type type : getResultTypes()) {
    auto result = cast<RankedTensorType>(type);
    if (result.getRank() != 2 || result.getDimSize(1) != k ||
        !compatibleExtent(result.getDimSize(0), logits.getDimSize(0)))
      return emitOpError() << "expected results of top_k = " << k
                           << " columns and the rows of logits, but got "
                           << result;
  }
  return success();
}

CostExpr RouterOp::getFlops() {
  return CostExpr(8 *
                  cast<RankedTensorType>(getLogits().getType()).getDimSize(1)) *
         CostExpr::tokens();
}

//===----------------------------------------------------------------------===//
// dispatch
//===----------------------------------------------------------------------===//

LogicalResult DispatchOp::verify() {
  auto ids = cast<RankedTensorType>(getIds().getType());
  // dispatch_c1
  if (ids.getRank() != 2 ||
      ids.getDimSize(1) != getRouting().getType().getTopK())
    return emitOpError() << "expected ids of "
                         << getRouting().getType().getTopK()
                         << " columns as the routing has, but got " << ids;
  return success();
}

CostExpr DispatchOp::getFlops() { return 0; }

CostExpr ExpertWorkOp::getFlops() { return 0; }

//===----------------------------------------------------------------------===//
// expert_linear
//===----------------------------------------------------------------------===//

static CostExpr routedRows(RoutingType routing) {
  return CostExpr(routing.getTopK()) * CostExpr::tokens();
}

LogicalResult ExpertLinearOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  ArrayRef<int64_t> weight = getWeightShape(getWeight().getType());
  RoutingType routing = getRouting().getType();
  // expert_linear_c1
  if (input.getRank() != 2 || weight.size() != 3 || result.getRank() != 2)
    return emitOpError() << "expected input and result of rank 2 and weight of "
                            "rank 3, but got "
                         << input.getRank() << ", " << result.getRank()
                         << " and " << weight.size();
  // expert_linear_c2
  if (weight[0] != routing.getExperts())
    return emitOpError() << "expected weight of the routing's "
                         << routing.getExperts() << " experts, but got "
                         << weight[0];
  // expert_linear_c3
  if (input.getDimSize(1) != weight[2])
    return emitOpError()
           << "expected weight of " << input.getDimSize(1)
           << " columns to match the last dimension of input, but got "
           << weight[2];
  // expert_linear_c4
  if (result.getDimSize(1) != weight[1])
    return emitOpError() << "expected result of " << weight[1]
                         << " columns, one per row of weight, but got "
                         << result.getDimSize(1);
  // expert_linear_c5
  int64_t rows = input.getDimSize(0);
  if (!ShapedType::isDynamic(rows)) {
    int64_t routed = getGather() ? rows * routing.getTopK() : rows;
    if (!compatibleExtent(routed, result.getDimSize(0)))
      return emitOpError() << "expected result of " << routed
                           << " rows, one per token and slot, but got "
                           << result.getDimSize(0);
  }
  return success();
}

CostExpr ExpertLinearOp::getFlops() {
  ArrayRef<int64_t> weight = getWeightShape(getWeight().getType());
  return CostExpr(2 * weight[1] * weight[2]) *
         routedRows(getRouting().getType());
}

CostExpr ExpertLinearOp::getOperandBytes(unsigned operand) {
  RoutingType routing = getRouting().getType();
  if (operand == 0)
    return compulsoryBytes(getInput().getType(), getGather()
                                                     ? CostExpr::tokens()
                                                     : routedRows(routing));
  if (operand != 1)
    return 0;
  // At most one expert per routed row is read; how many fewer depends on the
  // router.
  int64_t all =
      static_cast<int64_t>(compulsoryBytes(getWeight().getType()).evaluate({}));
  return CostExpr(all / routing.getExperts()) *
         CostExpr::min(routing.getExperts(), routedRows(routing));
}

CostExpr ExpertLinearOp::getResultBytes(unsigned) {
  return compulsoryBytes(getResult().getType(),
                         routedRows(getRouting().getType()));
}

//===----------------------------------------------------------------------===//
// combine
//===----------------------------------------------------------------------===//

LogicalResult CombineOp::verify() {
  auto rows = cast<RankedTensorType>(getRows().getType()),
       weights = cast<RankedTensorType>(getWeights().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  // combine_c1
  if (rows.getRank() != 2 || weights.getRank() != 2 || result.getRank() != 2)
    return emitOpError()
           << "expected rows, weights and result of rank 2, but got "
           << rows.getRank() << ", " << weights.getRank() << " and "
           << result.getRank();
  // combine_c2
  if (weights.getDimSize(1) != getRouting().getType().getTopK())
    return emitOpError() << "expected weights of "
                         << getRouting().getType().getTopK()
                         << " columns as the routing has, but got "
                         << weights.getDimSize(1);
  // combine_c3
  if (rows.getDimSize(1) != result.getDimSize(1))
    return emitOpError() << "expected result of " << rows.getDimSize(1)
                         << " columns as the rows have, but got "
                         << result.getDimSize(1);
  return success();
}

CostExpr CombineOp::getFlops() {
  return CostExpr(2 *
                  cast<RankedTensorType>(getResult().getType()).getDimSize(1)) *
         routedRows(getRouting().getType());
}

CostExpr CombineOp::getOperandBytes(unsigned operand) {
  return operand == 0
             ? compulsoryBytes(getRows().getType(),
                               routedRows(getRouting().getType()))
             : compulsoryBytes(getOperation()->getOperand(operand).getType());
}
