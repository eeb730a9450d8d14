// RUN: k2-opt %s --pass-pipeline="builtin.module(k2.model(k2-choose-kernel-configs))" | FileCheck %s --check-prefixes=CHECK,DECODE
// RUN: k2-opt %s --pass-pipeline="builtin.module(k2.model(k2-choose-kernel-configs{tokens=4096}))" | FileCheck %s --check-prefixes=CHECK,PREFILL
// A row tile is padded to what four warps hold evenly; a quantised weight steps by its blocks and is transformed; wide linears take wide tiles when that
// saves waves or bytes; a config that is there stays.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @n.a per layer layers [0, 2] : tensor<128xf32> parts [#k2.part<"n", rows = 128, at = 0>]
  k2.param @o_proj per layer layers [0, 2] : tensor<7168x128xbf16> parts [#k2.part<"o", rows = 7168, at = 0>]
  k2.param @head per model : tensor<163840x128xbf16> parts [#k2.part<"h", rows = 163840, at = 0>]
  k2.param @q8 per layer layers [0, 2] : !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"q", rows = 128, at = 0>]
  k2.param @w16 per layer layers [0, 2] : tensor<128x128xbf16> parts [#k2.part<"w", rows = 128, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // CHECK: k2.kernel "norm" config <orientation = tokens_m, tile = [1, 128], split = 1, decomposition = tiles, prologue = none>
    %n = k2.kernel "norm" -> tensor<?x128xbf16> {
      %w = k2.weight @n.a : tensor<128xf32>
      %0 = k2.rms_norm %x, %w eps 1.0e-06 weight_type bf16 : tensor<?x128xbf16>, tensor<128xf32>
      k2.yield %0 : tensor<?x128xbf16>
    }
    // CHECK: k2.kernel "small"
    // DECODE-SAME: tile = [64, 64, 64]
    // PREFILL-SAME: tile = [64, 128, 64]
    %o = k2.kernel "small" -> tensor<?x7168xbf16> {
      %w = k2.weight @o_proj : tensor<7168x128xbf16>
      %0 = k2.linear %n, %w : tensor<?x128xbf16>, tensor<7168x128xbf16> -> tensor<?x7168xbf16>
      k2.yield %0 : tensor<?x7168xbf16>
    }
    // CHECK: k2.kernel "wide" config <orientation = tokens_m, tile = [64, 128, 64]
    %h = k2.kernel "wide" -> tensor<?x163840xf32> {
      %w = k2.weight @head : tensor<163840x128xbf16>
      %0 = k2.linear %n, %w : tensor<?x128xbf16>, tensor<163840x128xbf16> -> tensor<?x163840xf32>
      k2.yield %0 : tensor<?x163840xf32>
    }
    // CHECK: k2.kernel "gate_up" config <orientation = tokens_m, tile = [64, 64, 64]
    %g = k2.kernel "gate_up" -> tensor<?x163840xbf16> {
      %w = k2.weight @head : tensor<163840x128xbf16>
      %0 = k2.linear %n, %w : tensor<?x128xbf16>, tensor<163840x128xbf16> -> tensor<?x163840xbf16>
      %1 = k2.linear %n, %w : tensor<?x128xbf16>, tensor<163840x128xbf16> -> tensor<?x163840xbf16>
      %2 = k2.swiglu %0, %1 : tensor<?x163840xbf16>
      k2.yield %2 : tensor<?x163840xbf16>
    }
    // CHECK: k2.kernel "quantized" config <orientation = tokens_m, tile = [64, {{64|128}}, 128], split = 1, decomposition = tiles, prologue = transform>
    %q = k2.kernel "quantized" -> tensor<?x128xbf16> {
      %w = k2.weight @q8 : !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32>
      %0 = k2.linear %n, %w : tensor<?x128xbf16>, !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    // Two storage types in one kernel: steps are blocks of the quantised one.
    // CHECK: k2.kernel "mixed" config <orientation = tokens_m, tile = [64, 64, 128], split = 1, decomposition = tiles, prologue = transform>
    %m = k2.kernel "mixed" -> tensor<?x128xbf16> {
      %w = k2.weight @w16 : tensor<128x128xbf16>
      %w8 = k2.weight @q8 : !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32>
      %0 = k2.linear %n, %w : tensor<?x128xbf16>, tensor<128x128xbf16> -> tensor<?x128xbf16>
      %1 = k2.linear %n, %w8 : tensor<?x128xbf16>, !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x128xbf16>
      %2 = k2.swiglu %0, %1 : tensor<?x128xbf16>
      k2.yield %2 : tensor<?x128xbf16>
    }
    // CHECK: k2.kernel "given" config <orientation = tokens_m, tile = [32, 32, 32]
    %y = k2.kernel "given" config <orientation = tokens_m, tile = [32, 32, 32], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %w = k2.weight @q8 : !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32>
      %0 = k2.linear %n, %w : tensor<?x128xbf16>, !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x128xbf16>
      k2.yield %0 : tensor<?x128xbf16>
    }
    k2.return %y : tensor<?x128xbf16>
  }
}
