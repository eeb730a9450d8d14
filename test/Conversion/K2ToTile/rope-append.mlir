// RUN: k2-opt %s --convert-k2-to-tile --canonicalize --cse | FileCheck %s
// rope reads pairs of bf16 as i32: plain columns are copied, the others turned with every product and sum rounded. append writes latents and
// keys through two views of one array, only where the token has a slot.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @n per layer layers [0, 2] : tensor<64xf32> parts [#k2.part<"n", rows = 64, at = 0>]
  k2.param @q per layer layers [0, 2] : tensor<204x128xbf16> parts [#k2.part<"q", rows = 204, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %q0 = k2.kernel "q" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x204xbf16> {
      %w = k2.weight @q : tensor<204x128xbf16>
      %y = k2.linear %x, %w : tensor<?x128xbf16>, tensor<204x128xbf16> -> tensor<?x204xbf16>
      k2.yield %y : tensor<?x204xbf16>
    }
    %0 = k2.kernel "rope" config <orientation = tokens_m, tile = [4, 2], split = 1, decomposition = tiles, prologue = none> -> tensor<?x204xbf16> {
      %y = k2.rope %q0, %cos, %sin {heads = 3, nope = 64, rope = 4} : tensor<?x204xbf16>, tensor<?x2xf32>
      k2.yield %y : tensor<?x204xbf16>
    }
    %1 = k2.kernel "append" config <orientation = tokens_m, tile = [1, 64], split = 1, decomposition = tiles, prologue = none> -> !k2.cache<64, 4> {
      %c0 = k2.slice %q0 offset 0 size 64 : tensor<?x204xbf16> -> tensor<?x64xbf16>
      %k0 = k2.slice %q0 offset 64 size 4 : tensor<?x204xbf16> -> tensor<?x4xbf16>
      %w = k2.weight @n : tensor<64xf32>
      %c = k2.rms_norm %c0, %w eps 1.0e-06 weight_type bf16 : tensor<?x64xbf16>, tensor<64xf32>
      %k = k2.rope %k0, %cos, %sin {heads = 1, nope = 0, rope = 4} : tensor<?x4xbf16>, tensor<?x2xf32>
      %y = k2.append %c, %k, %batch, %cache : tensor<?x64xbf16>, tensor<?x4xbf16>, !k2.cache<64, 4>
      k2.yield %y : !k2.cache<64, 4>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// CHECK-LABEL: tile.kernel @rope(
// CHECK-SAME: %[[Q:.*]]: memref<?x3x34xi32, strided<[104, 34, 1]>>, %[[COS:.*]]: memref<?x2xf32, strided<[4, 1]>>, %[[SIN:.*]]: memref<?x2xf32, strided<[4, 1]>>, %[[Y:.*]]: memref<?x3x34xi32, strided<[104, 34, 1]>>)
// CHECK-SAME: plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read array "rope_cos" [T]>, #plan.arg<read array "rope_sin" [T]>, #plan.arg<write result 0 [T]>]
// CHECK-SAME: plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>]
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<-65536> : tensor<4x2xi32>
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant dense<16> : tensor<4x2xi32>
// CHECK: %[[T:.*]] = tile.cta_id x
// CHECK: %[[COSF:.*]] = tile.load %[[COS]][%[[T]], %{{.*}}] : memref<?x2xf32, strided<[4, 1]>> -> tensor<1x2xf32>
// CHECK: arith.truncf %[[COSF]] : tensor<1x2xf32> to tensor<1x2xbf16>
// CHECK: %[[PLAIN:.*]] = tile.load %[[Q]][%[[T]], %[[H:.*]], %{{.*}}] bounds[%[[C3]], %[[C32]]]
// CHECK: tile.store %[[PLAIN]], %[[Y]][%[[T]], %[[H]], %{{.*}}] bounds[%[[C3]], %[[C32]]]
// CHECK: %[[P:.*]] = tile.load %[[Q]][%[[T]], %[[H]], %[[C32]]] : {{.*}} -> tensor<4x2xi32>
// CHECK: %[[C:.*]] = tile.broadcast %{{.*}} : tensor<1x2xf32> -> tensor<4x2xf32>
// CHECK: %[[S:.*]] = tile.broadcast %{{.*}} : tensor<1x2xf32> -> tensor<4x2xf32>
// CHECK: %[[EI:.*]] = arith.shli %[[P]], %[[SHIFT]]
// CHECK: %[[E:.*]] = arith.bitcast %[[EI]] : tensor<4x2xi32> to tensor<4x2xf32>
// CHECK: %[[OI:.*]] = arith.andi %[[P]], %[[HIGH]]
// CHECK: %[[O:.*]] = arith.bitcast %[[OI]]
// CHECK: %[[EC:.*]] = arith.mulf %[[E]], %[[C]]
// CHECK: arith.truncf %[[EC]]
// CHECK: %[[OS:.*]] = arith.mulf %[[O]], %[[S]]
// CHECK: arith.truncf %[[OS]]
// CHECK: %[[FIRST:.*]] = arith.subf
// CHECK: arith.truncf %[[FIRST]]
// CHECK: %[[OC:.*]] = arith.mulf %[[O]], %[[C]]
// CHECK: %[[ES:.*]] = arith.mulf %[[E]], %[[S]]
// CHECK: %[[SECOND:.*]] = arith.addf
// CHECK: arith.truncf %[[SECOND]]
// CHECK: %[[PACKED:.*]] = arith.ori
// CHECK: tile.store %[[PACKED]], %[[Y]][%[[T]], %[[H]], %[[C32]]]

// CHECK-LABEL: tile.kernel @append(
// CHECK-SAME: %{{.*}}: memref<?x64xbf16, strided<[208, 1]>>, %{{.*}}: memref<1x64xf32>, %[[K:.*]]: memref<?x34xi32, strided<[104, 1]>>,
// CHECK-SAME: %[[LATENTS:[a-z0-9]+]]: memref<?x64xbf16, strided<[72, 1]>>, %[[PAIRS:.*]]: memref<?x34xi32, strided<[36, 1]>>, %[[SLOTS:.*]]: memref<?xi32>)
// CHECK-SAME: #plan.arg<write array "latent_cache" [P * 64]>, #plan.arg<write array "latent_cache" [P * 64]>, #plan.arg<read array "slot" [T]>
// CHECK-SAME: source = ["k2.rms_norm", "k2.rope", "k2.append"]
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
// CHECK: %[[T:.*]] = tile.cta_id x
// CHECK: tile.load %[[K]][%[[T]], %[[C32]]]
// CHECK: %[[SLOT:.*]] = tile.load_scalar %[[SLOTS]][%[[T]]]
// CHECK: %[[HAS:.*]] = arith.cmpi sge, %[[SLOT]], %[[C0]]
// CHECK: scf.if %[[HAS]] {
// CHECK: tile.store %{{.*}}, %[[LATENTS]][%[[SLOT]], %[[C0]]] : tensor<1x64xbf16>
// CHECK: tile.store %{{.*}}, %[[PAIRS]][%[[SLOT]], %[[C32]]] : tensor<1x2xi32>
