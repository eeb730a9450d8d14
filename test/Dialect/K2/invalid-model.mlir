// RUN: k2-opt %s --split-input-file --verify-diagnostics
// Rules of models, parameters and configs; symbols are named after the rule of Spec.md that they break.

// config_c1
// expected-error @below {{expected hidden_size to be positive, but got 0}}
#config = #k2.config<model_type = "kimi_k2", hidden_size = 0, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

// -----

// config_c2
// expected-error @below {{expected q_lora_rank, n_routed_experts and first_k_dense_replace from 0 on, but got -1, 8 and 2}}
#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = -1,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

// -----

// config_c3
// expected-error @below {{expected qk_rope_head_dim to be even, but got 5}}
#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 5, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

// -----

// config_c4
// expected-error @below {{expected inv_freq of qk_rope_head_dim / 2 = 2 elements, but got 1}}
#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0]>

// -----

// config_c5
// expected-error @below {{expected num_experts_per_tok of at most n_routed_experts = 8, but got 9}}
#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 9, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

// -----

// expected-error @below {{expected a part to name a checkpoint tensor, but got an empty name}}
#part_c1 = #k2.part<"", rows = 1, at = 0>

// -----

// expected-error @below {{expected a part of at least one row at a row from 0 on, but got 0 rows at 0}}
#part_c2 = #k2.part<"w", rows = 0, at = 0>

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  // expected-error @below {{expected a tensor of static shape or a quantized matrix, but got 'tensor<?xf32>'}}
  k2.param @param_c1 per model : tensor<?xf32> parts [#k2.part<"w", rows = 1, at = 0>]
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  // expected-error @below {{expected layers exactly for parameters per layer or per expert, but got per layer}}
  k2.param @param_c2 per layer : tensor<8xf32> parts [#k2.part<"w", rows = 8, at = 0>]
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  // expected-error @below {{expected layers [from, to] with 0 <= from < to, but got [1, 1]}}
  k2.param @param_c3 per layer layers [1, 1] : tensor<8xf32> parts [#k2.part<"w", rows = 8, at = 0>]
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  // expected-error @below {{expected a parameter per expert to have rank 3, but got rank 2}}
  k2.param @param_c4 per expert layers [0, 1] : tensor<8x8xbf16> parts [#k2.part<"w", rows = 8, at = 0>]
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  // expected-error @below {{expected part 'b' at row 256, but got 200}}
  k2.param @param_c5 per layer layers [0, 1] : tensor<268x8xbf16>
      parts [#k2.part<"a", rows = 200, at = 0>, #k2.part<"b", rows = 68, at = 200>]
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  // expected-error @below {{expected parts that fill the 9 rows, but got 8}}
  k2.param @param_c6 per layer layers [0, 1] : tensor<9x8xbf16> parts [#k2.part<"a", rows = 8, at = 0>]
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  k2.entry @stack(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x128xbf16> {
    // expected-error @below {{expected the name of a k2.param, but got @weight_c1}}
    %w = k2.weight @weight_c1 : tensor<8xf32>
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  k2.param @p per model : tensor<8xf32> parts [#k2.part<"w", rows = 8, at = 0>]
  k2.entry @weight_c2(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x128xbf16> {
    // expected-error @below {{expected the parameter's type 'tensor<8xf32>', but got 'tensor<9xf32>'}}
    %w = k2.weight @p : tensor<9xf32>
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  // expected-error @below {{expected arguments x, cos, sin, batch and cache, but got 'tensor<?x128xbf16>'}}
  k2.block @block_c1(%x: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  // expected-error @below {{expected one result of the type of x, 'tensor<?x128xbf16>', but got 'tensor<?x2xf32>'}}
  k2.block @block_c2(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x2xf32> {
    k2.return %cos : tensor<?x2xf32>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  k2.entry @return_c1(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x128xbf16> {
    // expected-error @below {{expected operands of the results' types ('tensor<?x128xbf16>'), but got ('tensor<?x2xf32>')}}
    k2.return %cos : tensor<?x2xf32>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    k2.return %x : tensor<?x128xbf16>
  }
  k2.entry @layers_c1(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %wide: tensor<?x256xbf16>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected the name of a k2.block, but got @moe}}
    %0 = k2.layers @moe from 0 to 2 (%x, %cos, %sin, %batch)
        : (tensor<?x128xbf16>, tensor<?x2xf32>, tensor<?x2xf32>, !k2.batch) -> tensor<?x128xbf16>
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    k2.return %x : tensor<?x128xbf16>
  }
  k2.entry @layers_c2(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %wide: tensor<?x256xbf16>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected 0 <= from < to, but got 2 and 2}}
    %0 = k2.layers @dense from 2 to 2 (%x, %cos, %sin, %batch)
        : (tensor<?x128xbf16>, tensor<?x2xf32>, tensor<?x2xf32>, !k2.batch) -> tensor<?x128xbf16>
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    k2.return %x : tensor<?x128xbf16>
  }
  k2.entry @layers_c3(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %wide: tensor<?x256xbf16>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected layers within the model's 2, but got 3}}
    %0 = k2.layers @dense from 0 to 3 (%x, %cos, %sin, %batch)
        : (tensor<?x128xbf16>, tensor<?x2xf32>, tensor<?x2xf32>, !k2.batch) -> tensor<?x128xbf16>
    k2.return %x : tensor<?x128xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 2, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 0.5]>

k2.model @m attributes {config = #config} {
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    k2.return %x : tensor<?x128xbf16>
  }
  k2.entry @layers_c4(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %wide: tensor<?x256xbf16>) -> tensor<?x128xbf16> {
    // expected-error @below {{expected the block's argument types}}
    %0 = k2.layers @dense from 0 to 2 (%wide, %cos, %sin, %batch)
        : (tensor<?x256xbf16>, tensor<?x2xf32>, tensor<?x2xf32>, !k2.batch) -> tensor<?x256xbf16>
    k2.return %x : tensor<?x128xbf16>
  }
}
