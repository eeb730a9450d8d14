#ifndef DIALECTS_K2_K2ATTRS_TD
#define DIALECTS_K2_K2ATTRS_TD

include "dialects/K2/K2Dialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class K2_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::k2c::k2";
  let genSpecializedAttr = 0;
}
class K2_Attr<string name, string attrMnemonic> : AttrDef<K2_Dialect, name> { let mnemonic = attrMnemonic; }

def K2_Scoring : K2_Enum<"Scoring", "how router logits become scores", [
    I32EnumAttrCase<"Sigmoid", 0, "sigmoid">, I32EnumAttrCase<"Softmax", 1, "softmax">]>;
def K2_ScoringAttr : EnumAttr<K2_Dialect, K2_Scoring, "scoring"> {
  let summary = "Function that turns router logits into scores";
  let description = [{
    `sigmoid` scores every expert by itself (DeepSeek-V3, Kimi K2), `softmax` over all experts (DeepSeek-V2). Both in float32. Written `#k2.scoring<sigmoid>`.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def K2_Per : K2_Enum<"Per", "what a parameter exists once for", [
    I32EnumAttrCase<"Model", 0, "model">, I32EnumAttrCase<"Layer", 1, "layer">, I32EnumAttrCase<"Expert", 2, "expert">]>;
def K2_PerAttr : EnumAttr<K2_Dialect, K2_Per, "per"> {
  let summary = "How many instances of a parameter there are";
  let description = [{
    One for the `model`, one per `layer`, or one per `layer` and `expert`; the names of its parts then hold `{layer}` and `{expert}`. Written `#k2.per<layer>`.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def K2_Orientation : K2_Enum<"Orientation", "the tile axis that tokens lie on", [
    I32EnumAttrCase<"TokensM", 0, "tokens_m">, I32EnumAttrCase<"TokensN", 1, "tokens_n">]>;
def K2_Decomposition : K2_Enum<"Decomposition", "how the work of a kernel is cut into CTAs", [
    I32EnumAttrCase<"Tiles", 0, "tiles">, I32EnumAttrCase<"SplitK", 1, "split_k">, I32EnumAttrCase<"SplitKV", 2, "split_kv">,
    I32EnumAttrCase<"WorkList", 3, "work_list">]>;
def K2_Prologue : K2_Enum<"Prologue", "what happens to an operand before the tensor cores see it", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Transform", 1, "transform">]>;

def K2_KernelConfigAttr : K2_Attr<"KernelConfig", "kernel_config"> {
  let summary = "what changes a kernel's abstract program";
  let description = [{
    Decided by `k2-choose-kernel-configs`; anything that leaves the abstract program unchanged belongs to `#tile.schedule`. `tile` holds the
    extents of the CTA's tile in the order M, N, K of the root (row-wise roots: rows, columns); `split` is the number of pieces of
    the reduced axis.

    ```mlir
    #k2.kernel_config<orientation = tokens_m, tile = [64, 128, 64], split = 1, decomposition = tiles, prologue = none>
    ```
  }];
  let parameters = (ins EnumParameter<K2_Orientation>:$orientation, ArrayRefParameter<"int64_t">:$tile, "int64_t":$split,
                        EnumParameter<K2_Decomposition>:$decomposition, EnumParameter<K2_Prologue>:$prologue);
  let assemblyFormat = [{
    `<` `orientation` `=` $orientation `,` `tile` `=` `[` $tile `]` `,` `split` `=` $split `,` `decomposition` `=` $decomposition `,`
    `prologue` `=` $prologue `>`
  }];
  let genVerifyDecl = 1;
}

def K2_PartAttr : K2_Attr<"Part", "part"> {
  let summary = "a checkpoint tensor and the rows it takes in a parameter";
  let description = [{
    `tensor` is the name in the checkpoint with `{layer}` and `{expert}` open; `rows` its rows (elements, of a vector); `at` the first row it
    takes in the parameter. The scales of a quantized part are the tensor `<tensor>_scale_inv`.

    ```mlir
    #k2.part<"model.layers.{layer}.self_attn.q_a_proj.weight", rows = 1536, at = 0>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$tensor, "int64_t":$rows, "int64_t":$at);
  let assemblyFormat = "`<` $tensor `,` `rows` `=` $rows `,` `at` `=` $at `>`";
  let genVerifyDecl = 1;
}

def K2_ConfigAttr : K2_Attr<"Config", "config"> {
  let summary = "all facts of a model that its code depends on";
  let description = [{
    Fields are named as in config.json. `q_lora_rank` 0 means that the query has no low-rank factors; `selection_bias` that the router adds a
    correction bias for the choice (`topk_method` noaux_tc); `softmax_scale` and `rope_multiplier` (of the cos and sin tables) include YaRN's
    factors; `inv_freq` holds the rotary frequencies in float32, pair by pair, after YaRN. Two norms take `latent_norm_eps` (1e-6 in every published
    model code, whatever `rms_norm_eps` says): `q_a_layernorm` and `kv_a_layernorm`.
  }];
  let parameters = (ins
    StringRefParameter<>:$model_type,
    "int64_t":$hidden_size, "int64_t":$num_hidden_layers, "int64_t":$num_attention_heads, "int64_t":$q_lora_rank, "int64_t":$kv_lora_rank,
    "int64_t":$qk_nope_head_dim, "int64_t":$qk_rope_head_dim, "int64_t":$v_head_dim, "int64_t":$intermediate_size,
    "int64_t":$moe_intermediate_size, "int64_t":$n_routed_experts, "int64_t":$num_experts_per_tok, "int64_t":$n_shared_experts,
    "int64_t":$n_group, "int64_t":$topk_group, EnumParameter<K2_Scoring>:$scoring, "::mlir::BoolAttr":$selection_bias,
    "::mlir::BoolAttr":$norm_topk_prob, "::mlir::FloatAttr":$routed_scaling_factor, "int64_t":$first_k_dense_replace,
    "int64_t":$moe_layer_freq, "int64_t":$vocab_size, "int64_t":$max_position_embeddings, "::mlir::FloatAttr":$rms_norm_eps,
    "::mlir::FloatAttr":$latent_norm_eps, "::mlir::FloatAttr":$softmax_scale, "::mlir::FloatAttr":$rope_theta,
    "::mlir::FloatAttr":$rope_multiplier, "::mlir::DenseF32ArrayAttr":$inv_freq);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether layer `layer` has routed experts.
    bool isMoE(int64_t layer) const {
      return getNRoutedExperts() > 0 && layer >= getFirstKDenseReplace() && layer % getMoeLayerFreq() == 0;
    }
  }];
}

#endif // DIALECTS_K2_K2ATTRS_TD
