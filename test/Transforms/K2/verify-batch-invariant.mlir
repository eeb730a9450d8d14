// RUN: k2-opt %s --verify-diagnostics --pass-pipeline="builtin.module(k2.model(k2-verify-fused{batch-invariant=true}))"
// With batch-invariant no kernel cuts the keys of a sequence: pieces would be as long as the sequence makes them, and sums of another order.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @pieces attributes {config = #config} {
  k2.param @kv_b per layer layers [0, 2] : tensor<240x64xbf16> parts [#k2.part<"w", rows = 240, at = 0>]
  k2.param @o per layer layers [0, 2] : tensor<128x128xbf16> parts [#k2.part<"o", rows = 128, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // A split of K is a constant of the op: its parts are summed in order.
    %x1 = k2.kernel "b" config <orientation = tokens_m, tile = [64, 64, 64], split = 2, decomposition = split_k, prologue = none> -> tensor<?x128xbf16> {
      %w = k2.weight @o : tensor<128x128xbf16>
      %0 = k2.linear %x, %w : tensor<?x128xbf16>, tensor<128x128xbf16> -> tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    // expected-error @below {{expected keys in one piece (batch-invariant), but got #k2.kernel_config<orientation = tokens_m, tile = [64, 64, 64], split = 4, decomposition = split_kv, prologue = none>}}
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [64, 64, 64], split = 4, decomposition = split_kv, prologue = none> -> tensor<?x128xbf16> {
      %w = k2.weight @kv_b : tensor<240x64xbf16>
      %0 = k2.mla_attention %x, %cache, %batch, %w {heads = 2, nope = 60, rope = 4, value = 60, scale = 0.125 : f64}
          : (tensor<?x128xbf16>, !k2.cache<64, 4>, !k2.batch, tensor<240x64xbf16>) -> tensor<?x120xbf16>
      k2.yield %x : tensor<?x128xbf16>
    }
    k2.return %y : tensor<?x128xbf16>
  }
}
