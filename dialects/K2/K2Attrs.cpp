//===- K2Attrs.cpp - Rules of the k2 attributes ---------------------------===//

#include "dialects/K2/K2.h"

using namespace mlir;
using namespace k2c::k2;

LogicalResult
KernelConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         Orientation, ArrayRef<int64_t> tile, int64_t split,
                         Decomposition, Prologue) {
  // kernel_config_c1
  for (int64_t extent : tile)
    if (extent <= 0)
      return emitError() << "expected positive tile extents, but got "
                         << extent;
  // kernel_config_c2
  if (split < 1)
    return emitError() << "expected a split of at least 1, but got " << split;
  return success();
}

LogicalResult PartAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef tensor, int64_t rows, int64_t at) {
  // part_c1
  if (tensor.empty())
    return emitError() << "expected a part to name a checkpoint tensor, but "
                          "got an empty name";
  // part_c2
  if (rows <= 0 || at < 0)
    return emitError()
           << "expected a part of at least one row at a row from 0 on, but got "
           << rows << " rows at " << at;
  return success();
}

LogicalResult ConfigAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, StringRef,
    int64_t hidden_size, int64_t num_hidden_layers, int64_t num_attention_heads,
    int64_t q_lora_rank, int64_t kv_lora_rank, int64_t qk_nope_head_dim,
    int64_t qk_rope_head_dim, int64_t v_head_dim, int64_t, int64_t,
    int64_t n_routed_experts, int64_t num_experts_per_tok, int64_t,
    int64_t n_group, int64_t topk_group, Scoring, BoolAttr, BoolAttr, FloatAttr,
    int64_t first_k_dense_replace, int64_t moe_layer_freq, int64_t vocab_size,
    int64_t, FloatAttr, FloatAttr, FloatAttr, FloatAttr, FloatAttr,
    DenseF32ArrayAttr inv_freq) {
  // config_c1
  std::pair<StringRef, int64_t> positive[] = {
      {"hidden_size", hidden_size},
      {"num_hidden_layers", num_hidden_layers},
      {"num_attention_heads", num_attention_heads},
      {"kv_lora_rank", kv_lora_rank},
      {"qk_nope_head_dim", qk_nope_head_dim},
      {"qk_rope_head_dim", qk_rope_head_dim},
      {"v_head_dim", v_head_dim},
      {"moe_layer_freq", moe_layer_freq},
      {"vocab_size", vocab_size},
      {"n_group", n_group},
      {"topk_group", topk_group}};
  for (auto [name, value] : positive)
    if (value <= 0)
      return emitError() << "expected " << name << " to be positive, but got "
                         << value;
  // config_c2
  if (q_lora_rank < 0 || n_routed_experts < 0 || first_k_dense_replace < 0)
    return emitError() << "expected q_lora_rank, n_routed_experts and "
                          "first_k_dense_replace from 0 on, but got "
                       << q_lora_rank << ", " << n_routed_experts << " and "
                       << first_k_dense_replace;
  // config_c3
  if (qk_rope_head_dim % 2 != 0)
    return emitError() << "expected qk_rope_head_dim to be even, but got "
                       << qk_rope_head_dim;
  // config_c4
  if (static_cast<int64_t>(inv_freq.size()) != qk_rope_head_dim / 2)
    return emitError() << "expected inv_freq of qk_rope_head_dim / 2 = "
                       << qk_rope_head_dim / 2 << " elements, but got "
                       << inv_freq.size();
  // config_c5
  if (num_experts_per_tok > n_routed_experts)
    return emitError()
           << "expected num_experts_per_tok of at most n_routed_experts = "
           << n_routed_experts << ", but got " << num_experts_per_tok;
  return success();
}
