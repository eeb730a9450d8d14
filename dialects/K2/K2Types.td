#ifndef DIALECTS_K2_K2TYPES_TD
#define DIALECTS_K2_K2TYPES_TD

include "dialects/K2/K2Dialect.td"
include "mlir/IR/AttrTypeBase.td"

class K2_Type<string name, string typeMnemonic> : TypeDef<K2_Dialect, name> { let mnemonic = typeMnemonic; }

def K2_QuantizedType : K2_Type<"Quantized", "quantized"> {
  let summary = "a matrix, or one matrix per expert, stored as small floats with one multiplier per block";
  let description = [{
    `w[i, j] = value[i, j] * scale[i / block[0], j / block[1]]`, exactly (the product of an e4m3 value and a float32 scale is taken in the
    precision of the consumer). The last block of a row or column may be partial: there are `ceil(N / block[0])` by `ceil(K / block[1])`
    scales. Rank 3 is `[E, N, K]`: one matrix per expert, each with its own scales. In a fused weight every part but the last is padded to a multiple of
    `block[0]` rows, so that no block spans two parts.

    ```mlir
    !k2.quantized<[2112, 7168], f8E4M3FN, block = [128, 128], scale = f32>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, ArrayRefParameter<"int64_t">:$block,
                        "::mlir::Type":$scaleType);
  let assemblyFormat = "`<` `[` $shape `]` `,` $elementType `,` `block` `=` `[` $block `]` `,` `scale` `=` $scaleType `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// Rows and columns of the grid of scales of one matrix.
    int64_t getScaleRows() const;
    int64_t getScaleColumns() const;
  }];
}

def K2_BatchType : K2_Type<"Batch", "batch"> {
  let summary = "the ragged batch of a step";
  let description = [{
    Which flattened token belongs to which sequence, how many tokens of it the cache holds already, its pages and the cache slot of every
    token; optionally an additive mask in place of the causal one.
  }];
}

def K2_CacheType : K2_Type<"Cache", "cache"> {
  let summary = "one layer's paged cache of latents and rotated keys";
  let description = "A row per token: `latentSize` normalised latents, then `ropeSize` columns of the rotated key that all heads share; bf16.";
  let parameters = (ins "int64_t":$latentSize, "int64_t":$ropeSize);
  let assemblyFormat = "`<` $latentSize `,` $ropeSize `>`";
  let genVerifyDecl = 1;
}

def K2_RoutingType : K2_Type<"Routing", "routing"> {
  let summary = "which rows every expert works on";
  let description = [{
    The T * topK (token, slot) pairs of a step sorted by expert, by token within an expert: counts and starts per expert, the token of
    every row and the row of every pair, and the work list of non-empty experts.
  }];
  let parameters = (ins "int64_t":$experts, "int64_t":$topK);
  let assemblyFormat = "`<` $experts `,` $topK `>`";
  let genVerifyDecl = 1;
}

// Only the number of tokens or rows, the first dimension, may be open.
class K2_Rows<list<Type> elements, string what> : Type<
    And<[RankedTensorOf<elements>.predicate,
         CPred<"::k2c::k2::hasStaticColumns(::llvm::cast<::mlir::RankedTensorType>($_self))">]>,
    what # " tensor whose dimensions but the first are static", "::mlir::RankedTensorType">;

def K2_Activation : K2_Rows<[BF16], "bf16">;
def K2_F32Rows : K2_Rows<[F32], "f32">;
def K2_Ids : K2_Rows<[I32], "i32">;
def K2_Matrix : AnyTypeOf<[K2_Rows<[BF16, F32], "bf16 or f32">, K2_QuantizedType], "a bf16 or f32 tensor or a quantized matrix">;
def K2_RopeTable : K2_Rows<[F32], "f32">;

#endif // DIALECTS_K2_K2TYPES_TD
