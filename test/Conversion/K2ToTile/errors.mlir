// RUN: k2-opt %s --split-input-file --verify-diagnostics --convert-k2-to-tile
// Kernels that the conversion refuses, each with its rule.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected a kernel with an op and a config (k2-choose-kernel-configs)}}
    %y = k2.kernel "a" -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @w per layer layers [0, 2] : !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"w", rows = 128, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [64, 256, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %w = k2.weight @w : !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32>
      // expected-error @below {{expected a tile within a block of scales (128 x 128), but got a tile of 256 x 128}}
      %0 = k2.linear %x, %w : tensor<?x128xbf16>, !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @w per layer layers [0, 2] : !k2.quantized<[240, 64], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"w", rows = 240, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %w = k2.weight @w : !k2.quantized<[240, 64], f8E4M3FN, block = [128, 128], scale = f32>
      // expected-error @below {{expected steps of a block of 128 scaled rows where heads start inside of one, but got 64}}
      %0 = k2.absorb_query %x, %w {heads = 2, nope = 60, rope = 4, value = 60} : (tensor<?x128xbf16>, !k2.quantized<[240, 64], f8E4M3FN, block = [128, 128], scale = f32>) -> tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %c = k2.slice %x offset 0 size 64 : tensor<?x128xbf16> -> tensor<?x64xbf16>
    %k = k2.slice %x offset 64 size 4 : tensor<?x128xbf16> -> tensor<?x4xbf16>
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [1, 64], split = 1, decomposition = tiles, prologue = none> -> !k2.cache<64, 4> {
      // expected-error @below {{expected the key's rope in the same kernel, but got its result from outside}}
      %0 = k2.append %c, %k, %batch, %cache : tensor<?x64xbf16>, tensor<?x4xbf16>, !k2.cache<64, 4>
      k2.yield %0 : !k2.cache<64, 4>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected a config with tokens on M, but got #k2.kernel_config<orientation = tokens_n}}
    %y = k2.kernel "a" config <orientation = tokens_n, tile = [1, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected a config with a split of 1, but got #k2.kernel_config<orientation = tokens_m, tile = [1, 128], split = 2}}
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [1, 128], split = 2, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected a config with a tile of 2 extents, but got}}
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [1, 128, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected a config with one row per tile, but got}}
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [2, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected a config with a tile of at least 1 x 128, but got}}
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [1, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}
