// RUN: k2-opt %s --pass-pipeline="builtin.module(k2.model(k2-fuse-parallel-linears))" | FileCheck %s
// RUN: k2-opt %s --pass-pipeline="builtin.module(k2.model(k2-fuse-parallel-linears))" --remarks-filter=k2-fuse-parallel-linears --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// q_a_proj and kv_a_proj_with_mqa become one weight whose second part starts on a multiple of 128 rows, bf16 and quantised alike; slices of slices
// are composed. Different storage types, readers of whole rows and gate with up stay apart.

// REMARK: remark: [Passed] ParallelLinears {{.*}}"2 linears of one input share the weight dense.qkv_a_proj of 196 rows
// REMARK: remark: [Missed] ParallelLinears {{.*}}have one input, but not one storage type

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

// CHECK-LABEL: k2.model @fused
k2.model @fused attributes {config = #config} {
  // CHECK-NOT: k2.param @dense.q_a_proj
  // CHECK: k2.param @dense.qkv_a_proj per layer layers [0, 2] : tensor<196x128xbf16>
  // CHECK-SAME: parts [#k2.part<"q", rows = 96, at = 0>, #k2.part<"kv", rows = 68, at = 128>]
  // CHECK-NOT: k2.param @dense.kv_a_proj_with_mqa
  k2.param @dense.q_a_proj per layer layers [0, 2] : tensor<96x128xbf16> parts [#k2.part<"q", rows = 96, at = 0>]
  k2.param @dense.kv_a_proj_with_mqa per layer layers [0, 2] : tensor<68x128xbf16> parts [#k2.part<"kv", rows = 68, at = 0>]
  k2.param @dense.q_a_layernorm per layer layers [0, 2] : tensor<96xf32> parts [#k2.part<"n", rows = 96, at = 0>]
  // CHECK-LABEL: k2.block @dense
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // CHECK: %[[W:.*]] = k2.weight @dense.qkv_a_proj : tensor<196x128xbf16>
    // CHECK: %[[Y:.*]] = k2.linear %{{.*}}, %[[W]] : tensor<?x128xbf16>, tensor<196x128xbf16> -> tensor<?x196xbf16>
    // CHECK: %[[Q:.*]] = k2.slice %[[Y]] offset 0 size 96
    // CHECK: k2.rms_norm %[[Q]]
    // CHECK: %[[C:.*]] = k2.slice %[[Y]] offset 128 size 64
    // CHECK: %[[K:.*]] = k2.slice %[[Y]] offset 192 size 4
    // CHECK: k2.rope %[[K]]
    // CHECK: k2.append %[[C]]
    %wq = k2.weight @dense.q_a_proj : tensor<96x128xbf16>
    %q = k2.linear %x, %wq : tensor<?x128xbf16>, tensor<96x128xbf16> -> tensor<?x96xbf16>
    %wn = k2.weight @dense.q_a_layernorm : tensor<96xf32>
    %qn = k2.rms_norm %q, %wn eps 1.0e-06 weight_type bf16 : tensor<?x96xbf16>, tensor<96xf32>
    %wkv = k2.weight @dense.kv_a_proj_with_mqa : tensor<68x128xbf16>
    %kv = k2.linear %x, %wkv : tensor<?x128xbf16>, tensor<68x128xbf16> -> tensor<?x68xbf16>
    %c = k2.slice %kv offset 0 size 64 : tensor<?x68xbf16> -> tensor<?x64xbf16>
    %k0 = k2.slice %kv offset 64 size 4 : tensor<?x68xbf16> -> tensor<?x4xbf16>
    %k = k2.rope %k0, %cos, %sin {heads = 1, nope = 0, rope = 4} : tensor<?x4xbf16>, tensor<?x2xf32>
    %cache1 = k2.append %c, %k, %batch, %cache : tensor<?x64xbf16>, tensor<?x4xbf16>, !k2.cache<64, 4>
    k2.return %x : tensor<?x128xbf16>
  }
}

// CHECK-LABEL: k2.model @quantized
k2.model @quantized attributes {config = #config} {
  // CHECK: k2.param @dense.qkv_a_proj per layer layers [0, 2] : !k2.quantized<[324, 128], f8E4M3FN, block = [128, 128], scale = f32>
  // CHECK-SAME: #k2.part<"kv", rows = 68, at = 256>
  k2.param @dense.q_a_proj per layer layers [0, 2] : !k2.quantized<[160, 128], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"q", rows = 160, at = 0>]
  k2.param @dense.kv_a_proj_with_mqa per layer layers [0, 2] : !k2.quantized<[68, 128], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"kv", rows = 68, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %wq = k2.weight @dense.q_a_proj : !k2.quantized<[160, 128], f8E4M3FN, block = [128, 128], scale = f32>
    %q = k2.linear %x, %wq : tensor<?x128xbf16>, !k2.quantized<[160, 128], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x160xbf16>
    %wkv = k2.weight @dense.kv_a_proj_with_mqa : !k2.quantized<[68, 128], f8E4M3FN, block = [128, 128], scale = f32>
    %kv = k2.linear %x, %wkv : tensor<?x128xbf16>, !k2.quantized<[68, 128], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x68xbf16>
    k2.return %x : tensor<?x128xbf16>
  }
}

// CHECK-LABEL: k2.model @apart
k2.model @apart attributes {config = #config} {
  // CHECK-COUNT-4: k2.param
  k2.param @dense.q_a_proj per layer layers [0, 2] : tensor<96x128xbf16> parts [#k2.part<"q", rows = 96, at = 0>]
  k2.param @dense.kv_a_proj_with_mqa per layer layers [0, 2] : !k2.quantized<[68, 128], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"kv", rows = 68, at = 0>]
  k2.param @dense.gate_proj per layer layers [0, 2] : tensor<208x128xbf16> parts [#k2.part<"g", rows = 208, at = 0>]
  k2.param @dense.up_proj per layer layers [0, 2] : tensor<208x128xbf16> parts [#k2.part<"u", rows = 208, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // CHECK-COUNT-4: k2.linear
    %wq = k2.weight @dense.q_a_proj : tensor<96x128xbf16>
    %q = k2.linear %x, %wq : tensor<?x128xbf16>, tensor<96x128xbf16> -> tensor<?x96xbf16>
    %wkv = k2.weight @dense.kv_a_proj_with_mqa : !k2.quantized<[68, 128], f8E4M3FN, block = [128, 128], scale = f32>
    %kv = k2.linear %x, %wkv : tensor<?x128xbf16>, !k2.quantized<[68, 128], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x68xbf16>
    %wg = k2.weight @dense.gate_proj : tensor<208x128xbf16>
    %g = k2.linear %x, %wg : tensor<?x128xbf16>, tensor<208x128xbf16> -> tensor<?x208xbf16>
    %wu = k2.weight @dense.up_proj : tensor<208x128xbf16>
    %u = k2.linear %x, %wu : tensor<?x128xbf16>, tensor<208x128xbf16> -> tensor<?x208xbf16>
    %m = k2.swiglu %g, %u : tensor<?x208xbf16>
    k2.return %x : tensor<?x128xbf16>
  }
}
