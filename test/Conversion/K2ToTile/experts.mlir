// RUN: k2-opt %s --convert-k2-to-tile --canonicalize --cse | FileCheck %s
// Router with groups and a bias for the choice only, dispatch, work list, grouped linears over it (with and without gathering rows, bf16 and
// quantised) and the combine in slot order.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @r per layer layers [0, 2] : tensor<6x128xbf16> parts [#k2.part<"r", rows = 6, at = 0>]
  k2.param @b per layer layers [0, 2] : tensor<6xf32> parts [#k2.part<"b", rows = 6, at = 0>]
  k2.param @e per expert layers [1, 2] : tensor<6x40x128xbf16> parts [#k2.part<"e", rows = 40, at = 0>]
  k2.param @d per expert layers [1, 2] : !k2.quantized<[6, 128, 40], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"d", rows = 128, at = 0>]
  k2.block @moe(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %logits = k2.kernel "logits" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x6xf32> {
      %w = k2.weight @r : tensor<6x128xbf16>
      %y = k2.linear %x, %w : tensor<?x128xbf16>, tensor<6x128xbf16> -> tensor<?x6xf32>
      k2.yield %y : tensor<?x6xf32>
    }
    %ids, %weights = k2.kernel "router" config <orientation = tokens_m, tile = [4, 2], split = 1, decomposition = tiles, prologue = none> -> tensor<?x2xi32>, tensor<?x2xf32> {
      %b = k2.weight @b : tensor<6xf32>
      %i, %w = k2.router %logits, %b {top_k = 2, n_group = 3, topk_group = 2, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5 : f64}
          : (tensor<?x6xf32>, tensor<6xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
      k2.yield %i, %w : tensor<?x2xi32>, tensor<?x2xf32>
    }
    %r0 = k2.kernel "dispatch" config <orientation = tokens_m, tile = [1, 1024], split = 1, decomposition = tiles, prologue = none> -> !k2.routing<6, 2> {
      %r = k2.dispatch %ids : tensor<?x2xi32> -> !k2.routing<6, 2>
      k2.yield %r : !k2.routing<6, 2>
    }
    %r1 = k2.kernel "expert_work" config <orientation = tokens_m, tile = [1, 8], split = 1, decomposition = tiles, prologue = none> -> !k2.routing<6, 2> {
      %r = k2.expert_work %r0 : !k2.routing<6, 2>
      k2.yield %r : !k2.routing<6, 2>
    }
    %m = k2.kernel "gather" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = work_list, prologue = none> -> tensor<?x40xbf16> {
      %w = k2.weight @e : tensor<6x40x128xbf16>
      %g = k2.expert_linear %x, %w, %r1 gather : (tensor<?x128xbf16>, tensor<6x40x128xbf16>, !k2.routing<6, 2>) -> tensor<?x40xbf16>
      %u = k2.expert_linear %x, %w, %r1 gather : (tensor<?x128xbf16>, tensor<6x40x128xbf16>, !k2.routing<6, 2>) -> tensor<?x40xbf16>
      %s = k2.swiglu %g, %u : tensor<?x40xbf16>
      k2.yield %s : tensor<?x40xbf16>
    }
    %rows = k2.kernel "down" config <orientation = tokens_m, tile = [64, 64, 128], split = 1, decomposition = work_list, prologue = transform> -> tensor<?x128xbf16> {
      %w = k2.weight @d : !k2.quantized<[6, 128, 40], f8E4M3FN, block = [128, 128], scale = f32>
      %y = k2.expert_linear %m, %w, %r1 : (tensor<?x40xbf16>, !k2.quantized<[6, 128, 40], f8E4M3FN, block = [128, 128], scale = f32>, !k2.routing<6, 2>) -> tensor<?x128xbf16>
      k2.yield %y : tensor<?x128xbf16>
    }
    %y = k2.kernel "combine" config <orientation = tokens_m, tile = [1, 128], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %c = k2.combine %rows, %weights, %r1 : tensor<?x128xbf16>, tensor<?x2xf32>, !k2.routing<6, 2> -> tensor<?x128xbf16>
      %s = k2.residual_add %c, %x : tensor<?x128xbf16>
      %z = k2.residual_add %x, %s : tensor<?x128xbf16>
      k2.yield %z : tensor<?x128xbf16>
    }
    k2.return %y : tensor<?x128xbf16>
  }
}

// CHECK-LABEL: tile.kernel @router(
// CHECK-SAME: %[[LOGITS:.*]]: memref<?x3x2xf32, strided<[8, 2, 1]>>, %[[BIAS:.*]]: memref<3x2xf32>, %[[IDS:.*]]: memref<?x2xi32, strided<[4, 1]>>, %[[WEIGHTS:.*]]: memref<?x2xf32, strided<[4, 1]>>)
// CHECK: %[[X:.*]] = tile.load %[[LOGITS]]{{.*}} -> tensor<4x2xf32>
// CHECK: math.exp2
// CHECK: %[[SIGMOID:.*]] = arith.divf
// CHECK: %[[SCORES:.*]] = arith.select %{{.*}}, %[[SIGMOID]]
// CHECK: %[[B:.*]] = tile.load %[[BIAS]]
// CHECK: %[[CHOICE:.*]] = arith.addf %[[SCORES]], %[[B]]
// The two best of every group, then the best two groups.
// CHECK: tile.argmax axis 1 %[[CHOICE]] : tensor<4x2xf32>
// CHECK: tile.reduce maximum axis 1
// CHECK-COUNT-2: tile.argmax axis 0 %{{.*}} : tensor<4x1xf32>
// Two experts by choice keep their scores; then the same two by score.
// CHECK: tile.argmax axis 1
// CHECK: arith.select %{{.*}}, %[[SCORES]]
// CHECK: tile.argmax axis 1
// CHECK: arith.select %{{.*}}, %[[SCORES]]
// CHECK: tile.argmax axis 1
// CHECK: tile.store %{{.*}}, %[[IDS]]{{.*}} : tensor<1x1xi32>
// CHECK: tile.argmax axis 1
// CHECK: tile.store %{{.*}}, %[[IDS]]{{.*}} : tensor<1x1xi32>
// CHECK: arith.divf
// CHECK: tile.store %{{.*}}, %[[WEIGHTS]]
// CHECK: arith.divf
// CHECK: tile.store %{{.*}}, %[[WEIGHTS]]

// CHECK-LABEL: tile.kernel @dispatch(
// The padded ids as one vector.
// CHECK-SAME: %[[IDS:.*]]: memref<?xi32>, %[[START:.*]]: memref<7xi32>, %[[COUNT:.*]]: memref<6xi32>, %[[TOKEN:.*]]: memref<?xi32>, %[[ROWOF:.*]]: memref<?xi32>)
// CHECK-SAME: plan.args = [#plan.arg<read input 0 [T * 4]>, #plan.arg<write array "expert_start">, #plan.arg<write array "expert_count">, #plan.arg<write array "token_of_row" [T * 2]>, #plan.arg<write array "row_of" [T * 2]>]
// CHECK-SAME: plan.grid = [#plan.expr<6>, #plan.expr<1>, #plan.expr<1>]
// CHECK: %[[E:.*]] = tile.cta_id x
// CHECK: %[[N:.*]] = tile.dim %[[IDS]], 0
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK: arith.cmpi ult
// CHECK: arith.cmpi eq
// CHECK: tile.store_scalar %{{.*}}, %[[START]][%[[E]]]
// CHECK: tile.store_scalar %{{.*}}, %[[COUNT]][%[[E]]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK: tile.scan add axis 0 exclusive
// CHECK: tile.scatter %{{.*}}, %[[TOKEN]][] rows
// CHECK: tile.scatter %{{.*}}, %[[ROWOF]][] rows

// CHECK-LABEL: tile.kernel @expert_work(
// CHECK-SAME: #plan.arg<write array "expert_work" [(min(T * 2, 6) + floordiv(T * 2, 64)) * 3]>, #plan.arg<write array "work_count">
// CHECK: tile.scan add axis 0 exclusive
// CHECK: tile.reduce maximum
// CHECK-COUNT-3: tile.scatter

// CHECK-LABEL: tile.kernel @gather(
// CHECK-SAME: plan.grid = [#plan.expr<1>, #plan.expr<min(T * 2, 6) + floordiv(T * 2, 64)>, #plan.expr<1>]
// CHECK: %[[ITEM:.*]] = tile.cta_id y
// CHECK: %[[COUNT:.*]] = tile.load_scalar
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[ITEM]], %[[COUNT]]
// CHECK: scf.if %[[HAS]] {
// CHECK: %[[SLOT:.*]] = tile.load_scalar %{{.*}} : memref<6xi32>
// CHECK: %[[TOKENS:.*]] = arith.select %{{.*}} : tensor<64xi1>, tensor<64xi32>
// CHECK: scf.for
// CHECK: %[[A:.*]] = tile.gather %{{.*}}[%{{.*}}] rows %[[TOKENS]]
// CHECK: tile.load %{{.*}}[%[[SLOT]], %{{.*}}, %{{.*}}] : memref<6x40x128xbf16>
// CHECK: tile.dot %[[A]]
// CHECK: tile.dot %[[A]]
// CHECK: tile.store %{{.*}} bounds[%{{.*}}]

// CHECK-LABEL: tile.kernel @down(
// Rows of 40 bytes are padded to 48, rows of one scale to 4.
// CHECK-SAME: memref<6x128x40xf8E4M3FN, strided<[6144, 48, 1]>>, %{{.*}}: memref<6x1x1xf32, strided<[4, 4, 1]>>
// CHECK-NOT: tile.gather
// CHECK: tile.load %{{.*}} bounds[%{{.*}}] : memref<?x40xbf16> -> tensor<64x128xbf16>
// CHECK: tile.convert

// CHECK-LABEL: tile.kernel @combine(
// CHECK: %[[T:.*]] = tile.cta_id x
// CHECK: scf.for %[[SLOT:.*]] = %c0{{.*}} to %c2{{.*}} step %c1{{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK: %[[ROW:.*]] = tile.load_scalar
// CHECK: %[[W:.*]] = tile.load_scalar %{{.*}}[%[[T]], %[[SLOT]]]
// CHECK: tile.load %{{.*}}[%[[ROW]], %{{.*}}]
// CHECK: arith.addf %[[SUM]]
// One rounding of the sum, one of each addition.
// CHECK: arith.truncf
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK: tile.store
