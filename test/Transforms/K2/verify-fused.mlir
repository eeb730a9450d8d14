// RUN: k2-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(k2.model(k2-verify-fused))"
// What must not be left at the end of the model stage: ops outside of kernels, kernels without a config or with the name of another.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @outside attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected every op to be in a kernel (k2-form-kernels), but got it outside}}
    %y = k2.residual_add %x, %x : tensor<?x128xbf16>
    k2.return %y : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @no_config attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected a config (k2-choose-kernel-configs), but got none}}
    %y = k2.kernel "a" -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %y : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @names attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // expected-note @below {{the first kernel of this name}}
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [1, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    // expected-error @below {{expected a kernel name of its own, but got 'a' twice}}
    %z = k2.kernel "a" config <orientation = tokens_m, tile = [1, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %y : tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %z : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @foreign attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [1, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x128xbf16>
      // expected-error @below {{expected an op with K2CostInterface in a kernel, but got none}}
      %1 = arith.addf %0, %0 : tensor<?x128xbf16>
      k2.yield %1 : tensor<?x128xbf16>
    }
    k2.return %y : tensor<?x128xbf16>
  }
}
