// RUN: k2-opt %s --convert-k2-to-plan --split-input-file --verify-diagnostics
// What a kernel says about its launch must fit the kernel; each mismatch is an error at the kernel.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 8, num_hidden_layers = 1, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 0,
    n_routed_experts = 0, num_experts_per_tok = 0, n_shared_experts = 0, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 1.0 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>
k2.model @no_kernel attributes {config = #config} {
  k2.entry @stack(%x0: tensor<?x8xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x8xbf16> {
    // expected-error @+1 {{expected a tile.kernel named 'add'}}
    %0 = k2.kernel "add" -> tensor<?x8xbf16> {
      %1 = k2.residual_add %x0, %x0 : tensor<?x8xbf16>
      k2.yield %1 : tensor<?x8xbf16>
    }
    k2.return %0 : tensor<?x8xbf16>
  }
}

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 8, num_hidden_layers = 1, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 0,
    n_routed_experts = 0, num_experts_per_tok = 0, n_shared_experts = 0, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 1.0 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>
k2.model @no_launch attributes {config = #config} {
  k2.entry @stack(%x0: tensor<?x8xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x8xbf16> {
    %0 = k2.kernel "add" -> tensor<?x8xbf16> {
      %1 = k2.residual_add %x0, %x0 : tensor<?x8xbf16>
      k2.yield %1 : tensor<?x8xbf16>
    }
    k2.return %0 : tensor<?x8xbf16>
  }
}
// expected-error @+1 {{expected plan.grid and plan.args to describe the launch of k2.kernel 'add'}}
tile.kernel @add() attributes {num_warps = 4} { tile.return }

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 8, num_hidden_layers = 1, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 0,
    n_routed_experts = 0, num_experts_per_tok = 0, n_shared_experts = 0, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 1.0 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>
k2.model @count attributes {config = #config} {
  k2.entry @stack(%x0: tensor<?x8xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x8xbf16> {
    %0 = k2.kernel "add" -> tensor<?x8xbf16> {
      %1 = k2.residual_add %x0, %x0 : tensor<?x8xbf16>
      k2.yield %1 : tensor<?x8xbf16>
    }
    k2.return %0 : tensor<?x8xbf16>
  }
}
// expected-error @+1 {{expected one #plan.arg for each of 2 arguments, but got 1}}
tile.kernel @add(%x: memref<?x8xbf16>, %y: memref<?x8xbf16>) attributes {num_warps = 4, plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>], plan.args = [#plan.arg<read input 0 [T]>]} { tile.return }

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 8, num_hidden_layers = 1, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 0,
    n_routed_experts = 0, num_experts_per_tok = 0, n_shared_experts = 0, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 1.0 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>
k2.model @extent attributes {config = #config} {
  k2.entry @stack(%x0: tensor<?x8xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x8xbf16> {
    %0 = k2.kernel "add" -> tensor<?x8xbf16> {
      %1 = k2.residual_add %x0, %x0 : tensor<?x8xbf16>
      k2.yield %1 : tensor<?x8xbf16>
    }
    k2.return %0 : tensor<?x8xbf16>
  }
}
// expected-error @+1 {{expected argument 0 of type 'memref<?x8xbf16>' to have an extent for each dynamic dimension, but got #plan.arg<read input 0>}}
tile.kernel @add(%x: memref<?x8xbf16>, %y: memref<?x8xbf16>) attributes {num_warps = 4, plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>], plan.args = [#plan.arg<read input 0>, #plan.arg<write result 0 [T]>]} { tile.return }

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 8, num_hidden_layers = 1, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 0,
    n_routed_experts = 0, num_experts_per_tok = 0, n_shared_experts = 0, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 1.0 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>
k2.model @scalar attributes {config = #config} {
  k2.entry @stack(%x0: tensor<?x8xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x8xbf16> {
    %0 = k2.kernel "add" -> tensor<?x8xbf16> {
      %1 = k2.residual_add %x0, %x0 : tensor<?x8xbf16>
      k2.yield %1 : tensor<?x8xbf16>
    }
    k2.return %0 : tensor<?x8xbf16>
  }
}
// expected-error @+1 {{expected argument 0 of type 'i32' to have one scalar, but got #plan.arg<read input 0 [T]>}}
tile.kernel @add(%n: i32, %x: memref<?x8xbf16>, %y: memref<?x8xbf16>) attributes {num_warps = 4, plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>], plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read input 0 [T]>, #plan.arg<write result 0 [T]>]} { tile.return }

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 8, num_hidden_layers = 1, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 0,
    n_routed_experts = 0, num_experts_per_tok = 0, n_shared_experts = 0, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 1.0 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>
k2.model @input_range attributes {config = #config} {
  k2.entry @stack(%x0: tensor<?x8xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x8xbf16> {
    // expected-error @+1 {{expected an index below 1 in its launch, but got #plan.arg<read input 1 [T]>}}
    %0 = k2.kernel "add" -> tensor<?x8xbf16> {
      %1 = k2.residual_add %x0, %x0 : tensor<?x8xbf16>
      k2.yield %1 : tensor<?x8xbf16>
    }
    k2.return %0 : tensor<?x8xbf16>
  }
}
tile.kernel @add(%x: memref<?x8xbf16>, %y: memref<?x8xbf16>) attributes {num_warps = 4, plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>], plan.args = [#plan.arg<read input 1 [T]>, #plan.arg<write result 0 [T]>]} { tile.return }

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 8, num_hidden_layers = 1, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 0,
    n_routed_experts = 0, num_experts_per_tok = 0, n_shared_experts = 0, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 1.0 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>
k2.model @result_range attributes {config = #config} {
  k2.entry @stack(%x0: tensor<?x8xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x8xbf16> {
    // expected-error @+1 {{expected an index below 1 in its launch, but got #plan.arg<write result 1 [T]>}}
    %0 = k2.kernel "add" -> tensor<?x8xbf16> {
      %1 = k2.residual_add %x0, %x0 : tensor<?x8xbf16>
      k2.yield %1 : tensor<?x8xbf16>
    }
    k2.return %0 : tensor<?x8xbf16>
  }
}
tile.kernel @add(%x: memref<?x8xbf16>, %y: memref<?x8xbf16>) attributes {num_warps = 4, plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>], plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<write result 1 [T]>]} { tile.return }

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 8, num_hidden_layers = 1, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 0,
    n_routed_experts = 0, num_experts_per_tok = 0, n_shared_experts = 0, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 1.0 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>
k2.model @array_name attributes {config = #config} {
  k2.entry @stack(%x0: tensor<?x8xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x8xbf16> {
    // expected-error @+1 {{expected the reserved name of an array, but got #plan.arg<read array "slots" [T]>}}
    %0 = k2.kernel "add" -> tensor<?x8xbf16> {
      %1 = k2.residual_add %x0, %x0 : tensor<?x8xbf16>
      k2.yield %1 : tensor<?x8xbf16>
    }
    k2.return %0 : tensor<?x8xbf16>
  }
}
tile.kernel @add(%x: memref<?x8xbf16>, %y: memref<?x8xbf16>) attributes {num_warps = 4, plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>], plan.args = [#plan.arg<read array "slots" [T]>, #plan.arg<write result 0 [T]>]} { tile.return }

// -----

#config = #k2.config<model_type = "kimi_k2", hidden_size = 8, num_hidden_layers = 1, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 0,
    n_routed_experts = 0, num_experts_per_tok = 0, n_shared_experts = 0, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 1.0 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>
k2.model @outside attributes {config = #config} {
  k2.entry @stack(%x0: tensor<?x8xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x8xbf16> {
    // expected-error @+1 {{expected only kernels, k2.layers and k2.return in a block or entry}}
    %0 = k2.residual_add %x0, %x0 : tensor<?x8xbf16>
    k2.return %0 : tensor<?x8xbf16>
  }
}
