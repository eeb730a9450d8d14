// RUN: k2-opt %s --split-input-file --verify-diagnostics --convert-k2-to-tile
// Shapes that a model of an op refuses: pairs that a row cannot be cut into, tiles that straddle blocks of scales.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @w per layer layers [0, 2] : !k2.quantized<[256, 256], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"w", rows = 256, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [64, 256, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x512xbf16> {
      %w = k2.weight @w : !k2.quantized<[256, 256], f8E4M3FN, block = [128, 128], scale = f32>
      // expected-error @below {{expected columns of a tile within a block of 128 scaled columns, but got 256}}
      %0 = k2.absorb_query %x, %w {heads = 2, nope = 60, rope = 4, value = 68} : (tensor<?x128xbf16>, !k2.quantized<[256, 256], f8E4M3FN, block = [128, 128], scale = f32>) -> tensor<?x512xbf16>
      k2.yield %0 : tensor<?x512xbf16>
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
    %s = k2.slice %x offset 3 size 4 : tensor<?x128xbf16> -> tensor<?x4xbf16>
    %l = k2.slice %x offset 64 size 64 : tensor<?x128xbf16> -> tensor<?x64xbf16>
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [1, 64], split = 1, decomposition = tiles, prologue = none> -> !k2.cache<64, 4> {
      // expected-error @below {{expected a slice at an even column, but got 3}}
      %k = k2.rope %s, %cos, %sin {heads = 1 : i64, nope = 0 : i64, rope = 4 : i64} : tensor<?x4xbf16>, tensor<?x2xf32>
      %0 = k2.append %l, %k, %batch, %cache : tensor<?x64xbf16>, tensor<?x4xbf16>, !k2.cache<64, 4>
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
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<63, 4>) -> tensor<?x128xbf16> {
    %s = k2.slice %x offset 64 size 4 : tensor<?x128xbf16> -> tensor<?x4xbf16>
    %l = k2.slice %x offset 0 size 63 : tensor<?x128xbf16> -> tensor<?x63xbf16>
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [1, 64], split = 1, decomposition = tiles, prologue = none> -> !k2.cache<63, 4> {
      %k = k2.rope %s, %cos, %sin {heads = 1 : i64, nope = 0 : i64, rope = 4 : i64} : tensor<?x4xbf16>, tensor<?x2xf32>
      // expected-error @below {{expected even numbers of latents and of turned columns in the cache, but got 63 and 4}}
      %0 = k2.append %l, %k, %batch, %cache : tensor<?x63xbf16>, tensor<?x4xbf16>, !k2.cache<63, 4>
      k2.yield %0 : !k2.cache<63, 4>
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
  k2.block @dense(%x: tensor<?x10xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x10xbf16> {
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [2, 16], split = 1, decomposition = tiles, prologue = none> -> tensor<?x10xbf16> {
      // expected-error @below {{expected an even number of plain and of turned columns, but got 1 and 4}}
      %0 = k2.rope %x, %cos, %sin {heads = 2 : i64, nope = 1 : i64, rope = 4 : i64} : tensor<?x10xbf16>, tensor<?x2xf32>
      k2.yield %0 : tensor<?x10xbf16>
    }
    k2.return %x : tensor<?x10xbf16>
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
    %s = k2.slice %x offset 0 size 64 : tensor<?x128xbf16> -> tensor<?x64xbf16>
    %y = k2.kernel "a" config <orientation = tokens_m, tile = [2, 16], split = 1, decomposition = tiles, prologue = none> -> tensor<?x64xbf16> {
      // expected-error @below {{expected the rope of several heads to read whole rows, but got a slice}}
      %0 = k2.rope %s, %cos, %sin {heads = 2 : i64, nope = 28 : i64, rope = 4 : i64} : tensor<?x64xbf16>, tensor<?x2xf32>
      k2.yield %0 : tensor<?x64xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}
