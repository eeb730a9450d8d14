#ifndef DIALECTS_PLAN_PLANDATAOPS_TD
#define DIALECTS_PLAN_PLANDATAOPS_TD

include "dialects/Plan/PlanAttrs.td"

class Plan_DataOp<string mnemonic, list<Trait> traits = []> : Plan_Op<mnemonic, [HasParent<"ProgramOp">] # traits>;

def Plan_ProgramOp : Plan_Op<"program", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Everything the runtime does with a compiled model";
  let description = [{
    Holds params, buffers, kernels, work lists and entries, each kind with names of its own: a kernel and a param may share one (work lists are buffers, too). `model` are the facts of the model that the runtime needs, `options` what changed code
    generation; both go into the manifest as they are. No numbers are computed here.

    ```mlir
    plan.program @k2 attributes {model = {hidden_size = 128 : i64}, options = {}, target = "sm_90a"} {
      plan.buffer @x : bf16 [T, 128] stride 128 step
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$target, DictionaryAttr:$model, DictionaryAttr:$options);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::StringRef":$target, "::mlir::DictionaryAttr":$model, "::mlir::DictionaryAttr":$options)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The op of a kind that has this name, or null. Walks the program: for many look-ups keep a map.
    template <typename OpT> OpT lookup(::llvm::StringRef name) {
      for (OpT op : getBody().getOps<OpT>())
        if (op.getSymName() == name)
          return op;
      return {};
    }
  }];
}

def Plan_ParamOp : Plan_DataOp<"param"> {
  let summary = "A weight in its final layout";
  let description = [{
    Rows of `shape` are `row_stride` elements apart and padded with zeros; rows between parts are zero. `per model` is one instance, `per layer` one for each layer
    from `layers[0]` up to, not including, `layers[1]`, `per expert` one for each expert of each layer (then `shape` is one expert's). A 1-D shape has no rows: its
    parts count elements. No arithmetic beyond the exact widening to f32 happens when it is loaded.

    ```mlir
    plan.param @dense.o_proj : bf16 [128, 128] stride 128 layer layers [0, 2] parts [#plan.part<"model.layers.{layer}.self_attn.o_proj.weight" rows 128 at 0>]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$element, DenseI64ArrayAttr:$shape, I64Attr:$row_stride, Plan_Per:$per, DenseI64ArrayAttr:$layers,
                       Plan_PartArrayAttr:$parts);
  let assemblyFormat = "$sym_name `:` $element $shape `stride` $row_stride $per `layers` $layers `parts` $parts attr-dict";
  let hasVerifier = 1;
}

def Plan_BufferOp : Plan_DataOp<"buffer"> {
  let summary = "Named device memory";
  let description = [{
    Rows (the last dimension) are `stride` elements apart if it is given, else they follow each other: a stride makes sense only for rows of known length and more than
    one of them. `step` buffers live within one step and share an arena by lifetime, `persistent` ones keep their contents and
    are zeroed when weights are bound, `input` ones are filled by the runtime before a step.

    ```mlir
    plan.buffer @x : bf16 [T, 128] stride 128 step
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$element, Plan_ExprArrayAttr:$shape, OptionalAttr<I64Attr>:$row_stride, Plan_BufferClass:$buffer_class);
  let assemblyFormat = "$sym_name `:` $element custom<ExprList>($shape) (`stride` $row_stride^)? $buffer_class attr-dict";
  let hasVerifier = 1;
}

def Plan_WorklistOp : Plan_DataOp<"worklist"> {
  let summary = "A list of work that the host makes from the lengths of a step";
  let description = [{
    `query_tiles`: i32 [W, 2] = (sequence, first flat row) of tiles of `rows` rows, each within one sequence; a token has `rows_per_token` flat rows. It is a buffer, too, which
    `plan.make_worklist` fills; its length is the symbol `W_<name>`.

    ```mlir
    plan.worklist @query_tiles rows 64 rows_per_token 2
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$rows, I64Attr:$rows_per_token);
  let assemblyFormat = "$sym_name `rows` $rows `rows_per_token` $rows_per_token attr-dict";
  let hasVerifier = 1;
}

def Plan_KernelOp : Plan_DataOp<"kernel"> {
  let summary = "A kernel of the artifact and its ABI";
  let description = [{
    `code` names the kernel function that holds the code: kernels that are equal but for their name share it. `block` is the number of threads.

    ```mlir
    plan.kernel @embed code "embed" block 128 args [#plan.kernel_arg<pointer "ids" read>, #plan.kernel_arg<i32 "ids.d0" read>] ops ["k2.embed"]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$code, I64Attr:$block, Plan_KernelArgArrayAttr:$args, StrArrayAttr:$source_ops);
  let assemblyFormat = "$sym_name `code` $code `block` $block `args` $args `ops` $source_ops attr-dict";
  let hasVerifier = 1;
}

#endif // DIALECTS_PLAN_PLANDATAOPS_TD
