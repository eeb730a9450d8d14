#ifndef DIALECTS_PLAN_PLANCOMMANDOPS_TD
#define DIALECTS_PLAN_PLANCOMMANDOPS_TD

include "dialects/Plan/PlanAttrs.td"

class Plan_CommandOp<string mnemonic, list<Trait> traits = []> : Plan_Op<mnemonic, [ParentOneOf<["EntryOp", "LayersOp", "WhenOp"]>] # traits>;

def Plan_EntryOp : Plan_Op<"entry", [HasParent<"ProgramOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "A list of commands that the runtime can be asked for";
  let description = [{
    `model`: token ids to logits. `stack`: the buffer `x` holds x0 before, x_L after. `head`: the rows in `x` to logits, what `model` does after its layers.

    ```mlir
    plan.entry @stack { plan.trace "x" layer 0 of @x }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
}

def Plan_LaunchOp : Plan_CommandOp<"launch"> {
  let summary = "Launch a kernel";
  let description = [{
    A grid dimension of zero skips it. `bindings` are positional, one for each argument of the kernel's ABI.

    ```mlir
    plan.launch @embed grid [T, 1, 1] args [#plan.bind<buffer @token_ids>, #plan.bind<i32 T>]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Plan_ExprArrayAttr:$grid, Plan_BindArrayAttr:$bindings);
  let assemblyFormat = "$kernel `grid` custom<ExprList>($grid) `args` $bindings attr-dict";
  let hasVerifier = 1;
}

def Plan_LayersOp : Plan_CommandOp<"layers", [NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Run commands once for each of some layers";
  let description = [{
    The symbol `layer` goes from `from` up to, not including, `to`; weights per layer or per expert are those of `layer`.

    ```mlir
    plan.layers "moe" from 1 to 61 { plan.zero @expert_count }
    ```
  }];
  let arguments = (ins StrAttr:$block_kind, I64Attr:$from, I64Attr:$to);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$block_kind `from` $from `to` $to $body attr-dict";
  let hasVerifier = 1;
}

def Plan_WhenOp : Plan_CommandOp<"when", [NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Choose between commands by the shape of the step";
  let description = [{
    The condition is not zero: the first list, else the second.

    ```mlir
    plan.when le(T, 16) { plan.zero @x } else { }
    ```
  }];
  let arguments = (ins Plan_ExprAttr:$condition);
  let regions = (region SizedRegion<1>:$thenBody, SizedRegion<1>:$elseBody);
  let assemblyFormat = "custom<Expression>($condition) $thenBody `else` $elseBody attr-dict";
}

def Plan_MakeWorklistOp : Plan_CommandOp<"make_worklist"> {
  let summary = "Make a work list from the lengths of the step";
  let description = [{
    Fills the list's buffer and sets `W_<name>`.

    ```mlir
    plan.make_worklist @query_tiles
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$worklist);
  let assemblyFormat = "$worklist attr-dict";
}

def Plan_CopyOp : Plan_CommandOp<"copy"> {
  let summary = "Copy a buffer to another of the same size";
  let description = [{
    Bytes are copied as they are.

    ```mlir
    plan.copy @a to @b
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source, FlatSymbolRefAttr:$target);
  let assemblyFormat = "$source `to` $target attr-dict";
}

def Plan_ZeroOp : Plan_CommandOp<"zero"> {
  let summary = "Fill a buffer with zero bytes";
  let description = [{
    ```mlir
    plan.zero @expert_count
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$buffer attr-dict";
}

def Plan_RequireOp : Plan_CommandOp<"require"> {
  let summary = "Make the experts that a layer's router chose resident";
  let description = [{
    Nothing happens when all are. `ids` is i32 [T, k].

    ```mlir
    plan.require layer layer ids @router_ids
    ```
  }];
  let arguments = (ins Plan_ExprAttr:$layer, FlatSymbolRefAttr:$ids);
  let assemblyFormat = "`layer` custom<Expression>($layer) `ids` $ids attr-dict";
}

def Plan_TraceOp : Plan_CommandOp<"trace"> {
  let summary = "Name a buffer's contents for traces";
  let description = [{
    `x` with layer l is the residual stream `x.l`; `router.ids` and `router.weights` are those of layer l. Costs nothing when nobody asks for traces.

    ```mlir
    plan.trace "x" layer layer + 1 of @x
    ```
  }];
  let arguments = (ins StrAttr:$trace, Plan_ExprAttr:$layer, FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$trace `layer` custom<Expression>($layer) `of` $buffer attr-dict";
}

#endif // DIALECTS_PLAN_PLANCOMMANDOPS_TD
