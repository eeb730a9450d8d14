// The model as symbols: parameters, blocks, entries and the layer loop.
#ifndef DIALECTS_K2_K2MODELOPS_TD
#define DIALECTS_K2_K2MODELOPS_TD

include "dialects/K2/K2Base.td"

def K2_ModelOp : K2_Op<"model", [IsolatedFromAbove, SymbolTable, Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Hold one model: its parameters, block kinds and entries";
  let description = [{
    The only top-level op of an imported model. `config` holds every fact the code depends on.

    ```mlir
    k2.model @kimi_k2 attributes {config = #k2.config<...>} { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, K2_ConfigAttr:$config);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "ConfigAttr":$config)>];
}

def K2_ParamOp : K2_Op<"param", [Symbol, HasParent<"ModelOp">]> {
  let summary = "Declare a parameter and the checkpoint tensors it is made of";
  let description = [{
    A parameter exists once per model, per layer of its block kind, or per expert of every such layer (then its type has the leading
    dimension E). `layers` is the half-open range of layers whose block kind uses it; absent for `per model`. Vectors (norm weights, the router's bias) are float32
    here: the loader widens bf16 exactly.

    ```mlir
    k2.param @dense.input_layernorm per layer layers [0, 1] : tensor<7168xf32>
        parts [#k2.part<"model.layers.{layer}.input_layernorm.weight", rows = 7168, at = 0>]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, K2_PerAttr:$per, OptionalAttr<DenseI64ArrayAttr>:$layers, TypeAttr:$type,
                       TypedArrayAttrBase<K2_PartAttr, "array of parts">:$parts);
  let assemblyFormat = "$sym_name `per` custom<Per>($per) (`layers` $layers^)? `:` $type `parts` $parts attr-dict";
  let hasVerifier = 1;
}

def K2_WeightOp : K2_Op<"weight", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Read a parameter";
  let description = [{
    In a block the parameter is the one of the layer that runs.

    ```mlir
    %w = k2.weight @dense.q_a_proj : tensor<1536x7168xbf16>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$param);
  let results = (outs AnyTypeOf<[AnyRankedTensor, K2_QuantizedType]>:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}

class K2_FunctionOp<string mnemonic> : K2_Op<mnemonic, [
    AffineScope, AutomaticAllocationScope, IsolatedFromAbove, FunctionOpInterface, HasParent<"ModelOp">, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  // The body gets its entry block with the arguments of the type.
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def K2_BlockOp : K2_FunctionOp<"block"> {
  let summary = "Define what one kind of layer computes";
  let description = [{
    Arguments: the residual stream, cos and sin tables [T, R/2] of the tokens' positions, the batch and the layer's cache; result: the residual stream
    after the block. Compiled once, however many layers are of this kind.

    ```mlir
    k2.block @dense(%x: tensor<?x7168xbf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>, %batch: !k2.batch,
                    %cache: !k2.cache<512, 64>) -> tensor<?x7168xbf16> { ... k2.return %y : tensor<?x7168xbf16> }
    ```
  }];
  let hasVerifier = 1;
}

def K2_EntryOp : K2_FunctionOp<"entry"> {
  let summary = "Define what a run of the model computes";
  let description = [{
    `@stack` maps x0, cos, sin and the batch to the residual stream after the last block; `@model` maps token ids, cos, sin and the batch to
    logits.

    ```mlir
    k2.entry @stack(%x0: tensor<?x7168xbf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>, %batch: !k2.batch)
        -> tensor<?x7168xbf16> { ... }
    ```
  }];
}

def K2_LayersOp : K2_Op<"layers", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Run one kind of block for a range of layers";
  let description = [{
    Runs the block for every layer from `from` up to but excluding `to`, each with its own parameters and cache; the result of a layer is the input of the next.

    ```mlir
    %1 = k2.layers @moe from 1 to 61 (%0, %cos, %sin, %batch)
        : (tensor<?x7168xbf16>, tensor<?x32xf32>, tensor<?x32xf32>, !k2.batch) -> tensor<?x7168xbf16>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$block, I64Attr:$from, I64Attr:$to, K2_Activation:$input, K2_RopeTable:$cos, K2_RopeTable:$sin,
                       K2_BatchType:$batch);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = [{
    $block `from` $from `to` $to `(` $input `,` $cos `,` $sin `,` $batch `)` attr-dict `:` functional-type(operands, results)
  }];
}

def K2_ReturnOp : K2_Op<"return", [Pure, ReturnLike, Terminator, ParentOneOf<["BlockOp", "EntryOp"]>]> {
  let summary = "End a block or an entry";
  let description = [{
    ```mlir
    k2.return %y : tensor<?x7168xbf16>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
  let hasVerifier = 1;
}

#endif // DIALECTS_K2_K2MODELOPS_TD
