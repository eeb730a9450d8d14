// What every op family includes.
#ifndef DIALECTS_K2_K2BASE_TD
#define DIALECTS_K2_K2BASE_TD

include "dialects/K2/K2Attrs.td"
include "dialects/K2/K2Dialect.td"
include "dialects/K2/K2Interfaces.td"
include "dialects/K2/K2Types.td"
include "mlir/Bytecode/BytecodeOpInterface.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An op that computes: no effect, a cost, a verifier.
class K2_ComputeOp<string mnemonic, list<Trait> traits = []>
    : K2_Op<mnemonic, !listconcat(traits, [Pure, DeclareOpInterfaceMethods<K2CostInterface>])> {
  let hasVerifier = 1;
}

#endif // DIALECTS_K2_K2BASE_TD
