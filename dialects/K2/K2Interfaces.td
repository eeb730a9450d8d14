#ifndef DIALECTS_K2_K2INTERFACES_TD
#define DIALECTS_K2_K2INTERFACES_TD

include "mlir/IR/OpBase.td"

def K2CostInterface : OpInterface<"K2CostInterface"> {
  let cppNamespace = "::k2c::k2";
  let description = [{
    What an op costs at least, as expressions in T (tokens of the step), S (cached and new tokens that a query sees, per sequence) and B (sequences). `k2-choose-kernel-configs`
    and the reports of fusions add these up: an operand that stays inside a kernel costs nothing.
  }];
  let methods = [
    InterfaceMethod<"Multiplications and additions of the op, counted singly.", "::k2c::k2::CostExpr", "getFlops">,
    InterfaceMethod<"Bytes that must be read of an operand when every element is read once.", "::k2c::k2::CostExpr", "getOperandBytes",
      (ins "unsigned":$operand), "", [{ return ::k2c::k2::compulsoryBytes($_op->getOperand(operand).getType()); }]>,
    InterfaceMethod<"Bytes that must be written of a result.", "::k2c::k2::CostExpr", "getResultBytes",
      (ins "unsigned":$result), "", [{ return ::k2c::k2::compulsoryBytes($_op->getResult(result).getType()); }]>
  ];
}

def K2TileInterface : OpInterface<"K2TileInterface"> {
  let cppNamespace = "::k2c::k2";
  let description = [{
    How an op is computed on one CTA's tile. The models are attached to the ops in lib/Conversion/K2ToTile, which also defines
    `k2c::K2TileContext` (operand tiles, kernel configuration, which tile axis is tokens). An op that has this interface and `K2CostInterface`
    fuses without a change to any pass.
  }];
  let methods = [
    InterfaceMethod<"Emits the op on the tiles that the context holds and records the tiles of its results there.",
      "::llvm::LogicalResult", "emitTile", (ins "::mlir::OpBuilder &":$builder, "::k2c::K2TileContext &":$context)>
  ];
}

#endif // DIALECTS_K2_K2INTERFACES_TD
