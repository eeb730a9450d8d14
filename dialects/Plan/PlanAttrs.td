#ifndef DIALECTS_PLAN_PLANATTRS_TD
#define DIALECTS_PLAN_PLANATTRS_TD

include "dialects/Plan/PlanEnums.td"

def Plan_ExprAttr : Plan_Attr<"Expr", "expr"> {
  let summary = "An integer expression over the symbols of a step";
  let description = [{
    Symbols: `T` tokens of the step, `B` sequences, `S` the largest cached + new length, `P` pages of the cache, `masked` 1 in a step that brings a mask
    and 0 else, `W_<list>` the length of a work list, `layer`, and
    constants of the model by name. `+ - *` are infix with the usual precedence; `ceildiv`, `floordiv`, `min`, `max` and the conditions `lt`, `le`, `eq`,
    `and`, `or` are written as functions. Building one folds constants and the neutral elements.

    ```mlir
    #plan.expr<min(T * 8, 384) + floordiv(T * 8, 64)>
    ```
  }];
  let parameters = (ins EnumParameter<Plan_ExprKind>:$kind, "int64_t":$value, "::mlir::StringAttr":$symbol, "::mlir::Attribute":$lhs, "::mlir::Attribute":$rhs);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "int64_t":$value), [{
      return $_get($_ctxt, ExprKind::Integer, value, ::mlir::StringAttr::get($_ctxt), ::mlir::Attribute(), ::mlir::Attribute());
    }]>,
    AttrBuilder<(ins "::llvm::StringRef":$symbol), [{
      return $_get($_ctxt, ExprKind::Symbol, int64_t(0), ::mlir::StringAttr::get($_ctxt, symbol), ::mlir::Attribute(), ::mlir::Attribute());
    }]>,
    AttrBuilder<(ins "ExprKind":$kind, "ExprAttr":$lhs, "ExprAttr":$rhs), [{
      if (ExprAttr folded = foldExpr($_ctxt, kind, lhs, rhs))
        return folded;
      return $_get($_ctxt, kind, int64_t(0), ::mlir::StringAttr::get($_ctxt), ::mlir::Attribute(lhs), ::mlir::Attribute(rhs));
    }]>,
  ];
  let extraClassDeclaration = [{
    /// The value if the expression is a constant.
    std::optional<int64_t> getConstant() const;
    /// Calls `fn` with every symbol, as often as it occurs.
    void walkSymbols(llvm::function_ref<void(llvm::StringRef)> fn) const;
  }];
}
def Plan_ExprArrayAttr : TypedArrayAttrBase<Plan_ExprAttr, "list of expressions">;

def Plan_PartAttr : Plan_Attr<"Part", "part"> {
  let summary = "One checkpoint tensor's place in a weight";
  let description = [{
    The pattern names a tensor of the checkpoint, with `{layer}` and `{expert}` to be filled in; its `rows` rows start at row `at` of the weight.

    ```mlir
    #plan.part<"model.layers.{layer}.self_attn.q_a_proj.weight" rows 1536 at 0>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$tensor, "int64_t":$rows, "int64_t":$at);
  let assemblyFormat = "`<` $tensor `rows` $rows `at` $at `>`";
}
def Plan_PartArrayAttr : TypedArrayAttrBase<Plan_PartAttr, "list of parts">;

def Plan_ArgAttr : Plan_Attr<"Arg", "arg"> {
  let summary = "What an argument of a tile kernel stands for";
  let description = [{
    Written by the conversion that makes a kernel out of a `k2.kernel`, read by the one that makes the plan. One for each argument of the kernel, views and
    scalars alike; a view's dynamic extents are listed in order and become the i32 arguments that follow its pointer.

    - `input N`: the N-th ranked tensor that the `k2.kernel` uses from outside, in order of first use;
    - `result N`: the N-th result of the `k2.kernel`;
    - `param "NAME"`, `scale "NAME"`: values and block scales of a `k2.param`;
    - `array "NAME"`: an array of the step, of the routing, the latent cache, or a work list, by its reserved name;
    - `scalar EXPR`: an i32 computed by the host.

    ```mlir
    #plan.arg<read input 0 [T]>
    #plan.arg<read scale "moe.experts.gate_proj">
    #plan.arg<read array "seq_start" [B + 1]>
    #plan.arg<write result 0 [T * 8]>
    #plan.arg<scalar T * 8>
    ```
  }];
  let parameters = (ins EnumParameter<Plan_Access>:$access, EnumParameter<Plan_ArgKind>:$kind, "int64_t":$index, "::mlir::StringAttr":$name,
                        OptionalArrayRefParameter<"ExprAttr">:$extents);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "Access":$access, "ArgKind":$kind, "int64_t":$index, "::llvm::ArrayRef<ExprAttr>":$extents), [{
      return $_get($_ctxt, access, kind, index, ::mlir::StringAttr::get($_ctxt), extents);
    }]>,
    AttrBuilder<(ins "Access":$access, "ArgKind":$kind, "::llvm::StringRef":$name, "::llvm::ArrayRef<ExprAttr>":$extents), [{
      return $_get($_ctxt, access, kind, int64_t(0), ::mlir::StringAttr::get($_ctxt, name), extents);
    }]>,
    AttrBuilder<(ins "ExprAttr":$scalar), [{
      return $_get($_ctxt, Access::Read, ArgKind::Scalar, int64_t(0), ::mlir::StringAttr::get($_ctxt), ::llvm::ArrayRef<ExprAttr>(scalar));
    }]>,
  ];
}
def Plan_ArgArrayAttr : TypedArrayAttrBase<Plan_ArgAttr, "list of argument bindings">;

def Plan_WorklistAttr : Plan_Attr<"Worklist", "worklist"> {
  let summary = "A host-made work list that a kernel reads";
  let description = [{
    `query_tiles`: i32 [W, 2] = (sequence, first flat row) of tiles of `rows` rows, each within one sequence; a token has `rows_per_token` flat rows.

    ```mlir
    #plan.worklist<"query_tiles" rows 64 rows_per_token 64>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$rows, "int64_t":$rows_per_token);
  let assemblyFormat = "`<` $name `rows` $rows `rows_per_token` $rows_per_token `>`";
}
def Plan_WorklistArrayAttr : TypedArrayAttrBase<Plan_WorklistAttr, "list of work lists">;

def Plan_KernelArgAttr : Plan_Attr<"KernelArg", "kernel_arg"> {
  let summary = "One argument of a kernel's ABI";
  let description = [{
    ```mlir
    #plan.kernel_arg<pointer "x" read>
    #plan.kernel_arg<i32 "x.d0" read>
    ```
  }];
  let parameters = (ins EnumParameter<Plan_KernelArgKind>:$kind, "::mlir::StringAttr":$name, EnumParameter<Plan_Access>:$access);
  let assemblyFormat = "`<` $kind $name $access `>`";
}
def Plan_KernelArgArrayAttr : TypedArrayAttrBase<Plan_KernelArgAttr, "list of kernel arguments">;

def Plan_BindAttr : Plan_Attr<"Bind", "bind"> {
  let summary = "What a launch passes for one argument";
  let description = [{
    A buffer (a persistent buffer of several layers with the index of the layer), a weight (indexed by the layer of the surrounding `plan.layers`) or an i32.

    ```mlir
    #plan.bind<buffer @x>
    #plan.bind<buffer @latent_cache [layer]>
    #plan.bind<param @dense.o_proj>
    #plan.bind<i32 T>
    ```
  }];
  let parameters = (ins EnumParameter<Plan_BindKind>:$kind, "::mlir::FlatSymbolRefAttr":$target, "ExprAttr":$value);
  let hasCustomAssemblyFormat = 1;
}
def Plan_BindArrayAttr : TypedArrayAttrBase<Plan_BindAttr, "list of launch arguments">;

#endif // DIALECTS_PLAN_PLANATTRS_TD
