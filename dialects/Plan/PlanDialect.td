#ifndef DIALECTS_PLAN_PLANDIALECT_TD
#define DIALECTS_PLAN_PLANDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::k2c::plan";
  let summary = "The host side of a compiled model: named buffers, weights, kernels and flat commands";
  let description = [{
    A `plan.program` says everything the runtime does for a step: which buffers exist, how weights are laid out, which kernels are launched
    with which arguments, in which order. It is serialised as the artifact's `manifest.json`; the runtime only interprets it.

    Values are not SSA here: a command names buffers, because a command list is data that outlives the compiler.

    Two attributes of this dialect are put on kernels of another one, by the conversion that makes them: `plan.grid` (three `#plan.expr`) and
    `plan.args` (one `#plan.arg` for each argument), and if the kernel reads work lists, `plan.worklists`. They are verified wherever they stand.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
class Plan_Attr<string name, string attrMnemonic> : AttrDef<Plan_Dialect, name> {
  let mnemonic = attrMnemonic;
}

#endif // DIALECTS_PLAN_PLANDIALECT_TD
