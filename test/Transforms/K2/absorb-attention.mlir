// RUN: k2-opt %s --pass-pipeline="builtin.module(k2.model(k2-absorb-attention))" | FileCheck %s
// Expanded attention becomes absorb_query, attention over the latents and absorb_output, with its sizes and scale.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @dense.kv_b_proj per layer layers [0, 2] : tensor<256x64xbf16> parts [#k2.part<"w", rows = 256, at = 0>]
  k2.param @dense.q_proj per layer layers [0, 2] : tensor<136x128xbf16> parts [#k2.part<"q", rows = 136, at = 0>]
  // CHECK-LABEL: k2.block @dense
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %wq = k2.weight @dense.q_proj : tensor<136x128xbf16>
    // CHECK: %[[Q:.*]] = k2.linear
    %q = k2.linear %x, %wq : tensor<?x128xbf16>, tensor<136x128xbf16> -> tensor<?x136xbf16>
    // CHECK: %[[W:.*]] = k2.weight @dense.kv_b_proj
    %w = k2.weight @dense.kv_b_proj : tensor<256x64xbf16>
    // CHECK: %[[QL:.*]] = k2.absorb_query %[[Q]], %[[W]] {heads = 2 : i64, nope = 64 : i64, rope = 4 : i64, value = 64 : i64} : (tensor<?x136xbf16>, tensor<256x64xbf16>) -> tensor<?x128xbf16>
    // CHECK: %[[OL:.*]] = k2.mla_attention_absorbed %[[QL]], %[[Q]], %{{.*}}, %{{.*}} {heads = 2 : i64, nope = 64 : i64, rope = 4 : i64, scale = 1.250000e-01 : f64}
    // CHECK: %[[O:.*]] = k2.absorb_output %[[OL]], %[[W]] {heads = 2 : i64, nope = 64 : i64, value = 64 : i64} : (tensor<?x128xbf16>, tensor<256x64xbf16>) -> tensor<?x128xbf16>
    // CHECK-NOT: k2.mla_attention
    // CHECK: k2.return %[[O]]
    %o = k2.mla_attention %q, %cache, %batch, %w {heads = 2, nope = 64, rope = 4, value = 64, scale = 0.125 : f64}
        : (tensor<?x136xbf16>, !k2.cache<64, 4>, !k2.batch, tensor<256x64xbf16>) -> tensor<?x128xbf16>
    k2.return %o : tensor<?x128xbf16>
  }
}
