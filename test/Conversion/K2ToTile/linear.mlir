// RUN: k2-opt %s --convert-k2-to-tile --canonicalize --cse | FileCheck %s
// A linear with a float32 result, one with a quantised weight (the scale multiplies the partial sum of a block), gate and up with one pass over
// their input and a fused residual.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @o per layer layers [0, 2] : tensor<100x128xbf16> parts [#k2.part<"o", rows = 100, at = 0>]
  k2.param @d per layer layers [0, 2] : !k2.quantized<[200, 128], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"d", rows = 200, at = 0>]
  k2.param @g per layer layers [0, 2] : tensor<128x128xbf16> parts [#k2.part<"g", rows = 128, at = 0>]
  k2.param @u per layer layers [0, 2] : tensor<128x128xbf16> parts [#k2.part<"u", rows = 128, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %0 = k2.kernel "plain" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x100xf32> {
      %w = k2.weight @o : tensor<100x128xbf16>
      %y = k2.linear %x, %w : tensor<?x128xbf16>, tensor<100x128xbf16> -> tensor<?x100xf32>
      k2.yield %y : tensor<?x100xf32>
    }
    %1 = k2.kernel "quantized" config <orientation = tokens_m, tile = [64, 64, 128], split = 1, decomposition = tiles, prologue = transform> -> tensor<?x200xbf16> {
      %w = k2.weight @d : !k2.quantized<[200, 128], f8E4M3FN, block = [128, 128], scale = f32>
      %y = k2.linear %x, %w : tensor<?x128xbf16>, !k2.quantized<[200, 128], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x200xbf16>
      k2.yield %y : tensor<?x200xbf16>
    }
    %2 = k2.kernel "gate_up_residual" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %wg = k2.weight @g : tensor<128x128xbf16>
      %wu = k2.weight @u : tensor<128x128xbf16>
      %g = k2.linear %x, %wg : tensor<?x128xbf16>, tensor<128x128xbf16> -> tensor<?x128xbf16>
      %u = k2.linear %x, %wu : tensor<?x128xbf16>, tensor<128x128xbf16> -> tensor<?x128xbf16>
      %m = k2.swiglu %g, %u : tensor<?x128xbf16>
      %y = k2.residual_add %x, %m : tensor<?x128xbf16>
      k2.yield %y : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// CHECK-LABEL: tile.kernel @plain(
// CHECK-SAME: %[[X:.*]]: memref<?x128xbf16>, %[[W:.*]]: memref<100x128xbf16>, %[[Y:.*]]: memref<?x100xf32>)
// CHECK-SAME: plan.grid = [#plan.expr<2>, #plan.expr<ceildiv(T, 64)>, #plan.expr<1>]
// CHECK: %[[CY:.*]] = tile.cta_id y
// CHECK: %[[M:.*]] = arith.muli %[[CY]]
// CHECK: %[[CX:.*]] = tile.cta_id x
// CHECK: %[[N:.*]] = arith.muli %[[CX]]
// CHECK: %[[ACC:.*]] = scf.for %[[K:.*]] = %c0{{.*}} to %c128{{.*}} step %c64{{.*}} iter_args(%[[C:.*]] = %{{.*}}) -> (tensor<64x64xf32>)
// CHECK: %[[A:.*]] = tile.load %[[X]][%[[M]], %[[K]]]
// CHECK: %[[B:.*]] = tile.load %[[W]][%[[N]], %[[K]]]
// CHECK: %[[D:.*]] = tile.dot %[[A]], %[[B]], %[[C]] {b_transposed}
// CHECK: scf.yield %[[D]]
// CHECK: tile.store %[[ACC]], %[[Y]][%[[M]], %[[N]]] : tensor<64x64xf32>

// CHECK-LABEL: tile.kernel @quantized(
// CHECK-SAME: %{{.*}}: memref<?x128xbf16>, %[[W:.*]]: memref<200x128xf8E4M3FN>, %[[S:.*]]: memref<2x1xf32, strided<[4, 1]>>, %{{.*}}: memref<?x200xbf16>)
// CHECK-SAME: #plan.arg<read param "d">, #plan.arg<read scale "d">
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : i32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK: %[[CX:.*]] = tile.cta_id x
// CHECK: %[[N:.*]] = arith.muli %[[CX]]
// CHECK: %[[W8:.*]] = tile.load %[[W]][%[[N]], %{{.*}}] : memref<200x128xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
// CHECK: %[[WB:.*]] = tile.convert %[[W8]]
// CHECK: %[[P:.*]] = tile.dot %{{.*}}, %[[WB]], %[[ZERO]] {b_transposed}
// CHECK: %[[ROW:.*]] = arith.divui %[[N]], %[[C128]]
// CHECK: %[[SC:.*]] = tile.load_scalar %[[S]][%[[ROW]], %[[C0]]]
// CHECK: %[[SPLAT:.*]] = tile.splat %[[SC]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[P]], %[[SPLAT]]
// CHECK: arith.addf %[[SCALED]]
// CHECK: arith.truncf

// CHECK-LABEL: tile.kernel @gate_up_residual(
// CHECK-SAME: %[[X:.*]]: memref<?x128xbf16>, %[[G:.*]]: memref<128x128xbf16>, %[[U:.*]]: memref<128x128xbf16>, %[[Y:.*]]: memref<?x128xbf16>)
// CHECK-SAME: source = ["k2.linear", "k2.swiglu", "k2.residual_add"]
// CHECK: %[[ACC:.*]]:2 = scf.for
// CHECK: %[[A:.*]] = tile.load %[[X]]
// CHECK: tile.load %[[G]]
// CHECK: tile.dot %[[A]]
// CHECK: tile.load %[[U]]
// CHECK: tile.dot %[[A]]
// CHECK-DAG: %[[GB:.*]] = arith.truncf %[[ACC]]#0
// CHECK-DAG: %[[UB:.*]] = arith.truncf %[[ACC]]#1
// CHECK-DAG: %[[GF:.*]] = arith.extf %[[GB]]
// CHECK-DAG: %[[UF:.*]] = arith.extf %[[UB]]
// CHECK: %[[E:.*]] = math.exp2 %{{.*}} fastmath<afn>
// CHECK: %[[DEN:.*]] = arith.addf %[[E]]
// CHECK: %[[SILU:.*]] = arith.divf %[[GF]], %[[DEN]]
// CHECK: %[[SB:.*]] = arith.truncf %[[SILU]]
// CHECK: %[[SF:.*]] = arith.extf %[[SB]]
// CHECK: %[[M:.*]] = arith.mulf %[[SF]], %[[UF]]
// CHECK: %[[MB:.*]] = arith.truncf %[[M]]
// CHECK: %[[R:.*]] = tile.load %[[X]]
// CHECK-DAG: arith.extf %[[R]]
// CHECK-DAG: arith.extf %[[MB]]
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[OUT:.*]] = arith.truncf %[[SUM]]
// CHECK: tile.store %[[OUT]], %[[Y]]
