// RUN: k2-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(k2.model(k2-choose-kernel-configs{tokens=0}))"
// RUN: k2-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(k2.model(k2-choose-kernel-configs{multiprocessors=-1}))"
// Nothing can be chosen for no tokens or no multiprocessors.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

// expected-error @below {{expected tokens and multiprocessors to be positive}}
k2.model @m attributes {config = #config} {
}
