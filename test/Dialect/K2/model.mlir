// RUN: k2-opt %s | k2-opt | FileCheck %s
// RUN: k2-opt %s --mlir-print-op-generic | k2-opt | FileCheck %s
// RUN: k2-opt %s --emit-bytecode | k2-opt | FileCheck %s
// A model with its symbols keeps config, parameters, parts and loops through the pretty, the generic and the bytecode form.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

// CHECK: k2.model @micro attributes {config = #k2.config<model_type = "kimi_k2", hidden_size = 128,
// CHECK-SAME: scoring = sigmoid, selection_bias = true
// CHECK-SAME: inv_freq = [1.000000e+00, 5.000000e-01]>}
k2.model @micro attributes {config = #config} {
  // CHECK: k2.param @norm per model : tensor<128xf32> parts [#k2.part<"model.norm.weight", rows = 128, at = 0>]
  k2.param @norm per model : tensor<128xf32> parts [#k2.part<"model.norm.weight", rows = 128, at = 0>]
  // CHECK: k2.param @dense.kv_a_proj_with_mqa per layer layers [0, 2] : !k2.quantized<[68, 128], f8E4M3FN, block = [128, 128], scale = f32>
  // CHECK-SAME: parts [#k2.part<"model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight", rows = 68, at = 0>]
  k2.param @dense.kv_a_proj_with_mqa per layer layers [0, 2] : !k2.quantized<[68, 128], f8E4M3FN, block = [128, 128], scale = f32>
      parts [#k2.part<"model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight", rows = 68, at = 0>]
  // CHECK: k2.param @dense.fused per layer layers [0, 2] : tensor<324x128xbf16> parts
  k2.param @dense.fused per layer layers [0, 2] : tensor<324x128xbf16>
      parts [#k2.part<"model.layers.{layer}.a.weight", rows = 200, at = 0>, #k2.part<"model.layers.{layer}.b.weight", rows = 68, at = 256>]
  // CHECK: k2.param @moe.experts.gate_proj per expert layers [1, 2] : tensor<8x64x128xbf16> parts
  k2.param @moe.experts.gate_proj per expert layers [1, 2] : tensor<8x64x128xbf16>
      parts [#k2.part<"model.layers.{layer}.mlp.experts.{expert}.gate_proj.weight", rows = 64, at = 0>]
  // CHECK: k2.block @dense(%[[X:.*]]: tensor<?x128xbf16>, %{{.*}}: tensor<?x2xf32>, %{{.*}}: tensor<?x2xf32>, %{{.*}}: !k2.batch, %{{.*}}: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>)
      -> tensor<?x128xbf16> {
    // CHECK: k2.return %[[X]] : tensor<?x128xbf16>
    k2.return %x : tensor<?x128xbf16>
  }
  // CHECK: k2.entry @stack(
  k2.entry @stack(%x0: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x128xbf16> {
    // CHECK: %[[Y:.*]] = k2.layers @dense from 0 to 2(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<?x128xbf16>, tensor<?x2xf32>, tensor<?x2xf32>, !k2.batch) -> tensor<?x128xbf16>
    %0 = k2.layers @dense from 0 to 2 (%x0, %cos, %sin, %batch)
        : (tensor<?x128xbf16>, tensor<?x2xf32>, tensor<?x2xf32>, !k2.batch) -> tensor<?x128xbf16>
    // CHECK: %[[W:.*]] = k2.weight @norm : tensor<128xf32>
    %w = k2.weight @norm : tensor<128xf32>
    %1 = k2.rms_norm %0, %w eps 1.0e-06 weight_type bf16 : tensor<?x128xbf16>, tensor<128xf32>
    k2.return %1 : tensor<?x128xbf16>
  }
}
