// RUN: k2-opt %s --convert-k2-to-tile --canonicalize --cse | FileCheck %s
// rms_norm on a slice of wider rows, residual_add with rms_norm, embed: one row per CTA, padded to 128 columns and masked by the views. The normed
// value and the sum are rounded to bf16 before they go on.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @n per layer layers [0, 2] : tensor<100xf32> parts [#k2.part<"n", rows = 100, at = 0>]
  k2.param @table per model : tensor<500x128xbf16> parts [#k2.part<"table", rows = 500, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %c = k2.slice %x offset 8 size 100 : tensor<?x128xbf16> -> tensor<?x100xbf16>
    %0 = k2.kernel "norm" config <orientation = tokens_m, tile = [1, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x100xbf16> {
      %s = k2.slice %x offset 8 size 100 : tensor<?x128xbf16> -> tensor<?x100xbf16>
      %w = k2.weight @n : tensor<100xf32>
      %n = k2.rms_norm %s, %w eps 1.0e-06 weight_type bf16 : tensor<?x100xbf16>, tensor<100xf32>
      k2.yield %n : tensor<?x100xbf16>
    }
    %1:2 = k2.kernel "add_norm" config <orientation = tokens_m, tile = [1, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x100xbf16>, tensor<?x100xbf16> {
      %w = k2.weight @n : tensor<100xf32>
      %s = k2.residual_add %0, %0 : tensor<?x100xbf16>
      %n = k2.rms_norm %s, %w eps 1.0e-06 weight_type f32 : tensor<?x100xbf16>, tensor<100xf32>
      k2.yield %s, %n : tensor<?x100xbf16>, tensor<?x100xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
  k2.entry @model(%ids: tensor<?xi32>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x128xbf16> {
    %0 = k2.kernel "embed" config <orientation = tokens_m, tile = [1, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %w = k2.weight @table : tensor<500x128xbf16>
      %e = k2.embed %ids, %w : tensor<?xi32>, tensor<500x128xbf16> -> tensor<?x128xbf16>
      k2.yield %e : tensor<?x128xbf16>
    }
    k2.return %0 : tensor<?x128xbf16>
  }
}

// CHECK-LABEL: tile.kernel @norm(
// The view of the slice ends with its last column, 8 + 100; rows of the result are padded to 16 bytes.
// CHECK-SAME: %[[X:.*]]: memref<?x108xbf16, strided<[128, 1]>>, %[[W:.*]]: memref<1x100xf32>, %[[Y:.*]]: memref<?x100xbf16, strided<[104, 1]>>)
// CHECK-SAME: num_warps = 4
// CHECK-SAME: plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read param "n">, #plan.arg<write result 0 [T]>]
// CHECK-SAME: plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>]
// CHECK-SAME: source = ["k2.rms_norm"]
// CHECK-DAG: %[[D:.*]] = arith.constant dense<1.000000e+02> : tensor<1x1xf32>
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK: %[[T:.*]] = tile.cta_id x
// CHECK: %[[XB:.*]] = tile.load %[[X]][%[[T]], %[[C8]]] : memref<?x108xbf16, strided<[128, 1]>> -> tensor<1x128xbf16>
// CHECK: %[[XF:.*]] = arith.extf %[[XB]]
// CHECK: %[[SQ:.*]] = arith.mulf %[[XF]], %[[XF]]
// CHECK: %[[SUM:.*]] = tile.reduce add axis 1 %[[SQ]] : tensor<1x128xf32> -> tensor<1x1xf32>
// CHECK: %[[MEAN:.*]] = arith.divf %[[SUM]], %[[D]]
// CHECK: math.rsqrt %{{.*}} fastmath<afn>
// CHECK: %[[N:.*]] = arith.truncf
// CHECK: %[[NF:.*]] = arith.extf %[[N]]
// CHECK: %[[WF:.*]] = tile.load %[[W]][%[[C0]], %[[C0]]] : memref<1x100xf32> -> tensor<1x128xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[NF]], %[[WF]]
// CHECK: %[[YB:.*]] = arith.truncf %[[P]]
// CHECK: tile.store %[[YB]], %[[Y]][%[[T]], %[[C0]]]

// CHECK-LABEL: tile.kernel @add_norm(
// CHECK-SAME: %{{.*}}: memref<?x100xbf16, strided<[104, 1]>>, %{{.*}}: memref<1x100xf32>, %[[S:.*]]: memref<?x100xbf16, strided<[104, 1]>>, %[[Y:.*]]: memref<?x100xbf16, strided<[104, 1]>>)
// CHECK-SAME: #plan.arg<write result 0 [T]>, #plan.arg<write result 1 [T]>
// CHECK: %[[ADD:.*]] = arith.addf
// CHECK: %[[SB:.*]] = arith.truncf %[[ADD]]
// CHECK: %[[SF:.*]] = arith.extf %[[SB]]
// CHECK: arith.mulf %[[SF]], %[[SF]]
// CHECK: tile.store %[[SB]], %[[S]]
// CHECK: tile.store %{{.*}}, %[[Y]]

// CHECK-LABEL: tile.kernel @embed(
// CHECK-SAME: %[[IDS:.*]]: memref<?xi32>, %[[TABLE:.*]]: memref<500x128xbf16>, %[[Y:.*]]: memref<?x128xbf16>)
// CHECK-SAME: #plan.arg<read array "token_ids" [T]>
// CHECK: %[[T:.*]] = tile.cta_id x
// CHECK: %[[ID:.*]] = tile.load_scalar %[[IDS]][%[[T]]]
// CHECK: %[[ROW:.*]] = tile.load %[[TABLE]][%[[ID]], %{{.*}}] : memref<500x128xbf16> -> tensor<1x128xbf16>
// CHECK: tile.store %[[ROW]], %[[Y]][%[[T]], %{{.*}}]
