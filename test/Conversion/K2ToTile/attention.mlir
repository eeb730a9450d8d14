// RUN: k2-opt %s --convert-k2-to-tile --canonicalize --cse | FileCheck %s
// Products per head through views with the head outside; attention over pages with an online softmax in base 2: rows without a key are guarded,
// keys past the tile's last visible one are not read.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @kv per layer layers [0, 2] : tensor<256x64xbf16> parts [#k2.part<"kv", rows = 256, at = 0>]
  k2.param @kv8 per layer layers [0, 2] : !k2.quantized<[256, 64], f8E4M3FN, block = [128, 128], scale = f32> parts [#k2.part<"kv8", rows = 256, at = 0>]
  k2.param @q per layer layers [0, 2] : tensor<136x128xbf16> parts [#k2.part<"q", rows = 136, at = 0>]
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %q = k2.kernel "q" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x136xbf16> {
      %w = k2.weight @q : tensor<136x128xbf16>
      %y = k2.linear %x, %w : tensor<?x128xbf16>, tensor<136x128xbf16> -> tensor<?x136xbf16>
      k2.yield %y : tensor<?x136xbf16>
    }
    %ql = k2.kernel "absorb_query" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %w = k2.weight @kv : tensor<256x64xbf16>
      %y = k2.absorb_query %q, %w {heads = 2, nope = 64, rope = 4, value = 64} : (tensor<?x136xbf16>, tensor<256x64xbf16>) -> tensor<?x128xbf16>
      k2.yield %y : tensor<?x128xbf16>
    }
    %ql8 = k2.kernel "absorb_query_quantized" config <orientation = tokens_m, tile = [64, 64, 128], split = 1, decomposition = tiles, prologue = transform> -> tensor<?x128xbf16> {
      %w = k2.weight @kv8 : !k2.quantized<[256, 64], f8E4M3FN, block = [128, 128], scale = f32>
      %y = k2.absorb_query %q, %w {heads = 2, nope = 64, rope = 4, value = 64} : (tensor<?x136xbf16>, !k2.quantized<[256, 64], f8E4M3FN, block = [128, 128], scale = f32>) -> tensor<?x128xbf16>
      k2.yield %y : tensor<?x128xbf16>
    }
    %ol = k2.kernel "attention" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = work_list, prologue = none> -> tensor<?x128xbf16> {
      %y = k2.mla_attention_absorbed %ql, %q, %cache, %batch {heads = 2, nope = 64, rope = 4, scale = 0.125 : f64}
          : (tensor<?x128xbf16>, tensor<?x136xbf16>, !k2.cache<64, 4>, !k2.batch) -> tensor<?x128xbf16>
      k2.yield %y : tensor<?x128xbf16>
    }
    %o = k2.kernel "absorb_output" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = tiles, prologue = none> -> tensor<?x128xbf16> {
      %w = k2.weight @kv : tensor<256x64xbf16>
      %y = k2.absorb_output %ol, %w {heads = 2, nope = 64, value = 64} : (tensor<?x128xbf16>, tensor<256x64xbf16>) -> tensor<?x128xbf16>
      k2.yield %y : tensor<?x128xbf16>
    }
    k2.return %x : tensor<?x128xbf16>
  }
}

// CHECK-LABEL: tile.kernel @absorb_query(
// Only the plain columns of a head, and its first 64 rows of kv_b.
// CHECK-SAME: %[[Q:.*]]: memref<2x?x64xbf16, strided<[68, 136, 1]>>, %[[W:.*]]: memref<2x64x64xbf16, strided<[8192, 64, 1]>>, %[[Y:.*]]: memref<2x?x64xbf16, strided<[64, 128, 1]>>)
// CHECK-SAME: plan.grid = [#plan.expr<1>, #plan.expr<ceildiv(T, 64)>, #plan.expr<2>]
// CHECK: %[[H:.*]] = tile.cta_id z
// CHECK: %[[A:.*]] = tile.load %[[Q]][%[[H]],
// CHECK: %[[B:.*]] = tile.load %[[W]][%[[H]],
// CHECK: tile.dot %[[A]], %[[B]], %{{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
// CHECK: tile.store %{{.*}}, %[[Y]][%[[H]],

// CHECK-LABEL: tile.kernel @absorb_query_quantized(
// CHECK: %[[H:.*]] = tile.cta_id z
// CHECK: tile.load %{{.*}} -> tensor<128x64xf8E4M3FN>
// CHECK: tile.convert
// The scale's row is the head's first row over 128.
// CHECK: %[[ROW:.*]] = arith.muli %[[H]], %c128
// CHECK: %[[BLOCK:.*]] = arith.divui %[[ROW]], %c128
// CHECK: tile.load_scalar %{{.*}}[%[[BLOCK]], %{{.*}}] : memref<2x1xf32, strided<[4, 1]>>

// CHECK-LABEL: tile.kernel @attention(
// CHECK-SAME: %[[QL:.*]]: memref<?x64xbf16>, %[[Q:.*]]: memref<?x68xbf16>, %[[C:.*]]: memref<?x64x64xbf16, strided<[4608, 72, 1]>>, %[[CR:.*]]: memref<?x64x68xbf16, strided<[4608, 72, 1]>>,
// CHECK-SAME: %[[TABLE:.*]]: memref<?xi32>, %[[ITEMS:.*]]: memref<?xi32>, %[[STARTS:.*]]: memref<?xi32>, %[[PAST:.*]]: memref<?xi32>, %[[PAGES:.*]]: i32, %[[Y:.*]]: memref<?x64xbf16>)
// CHECK-SAME: plan.args = [#plan.arg<read input 0 [T * 2]>, #plan.arg<read input 1 [T * 2]>, #plan.arg<read array "latent_cache" [P]>, #plan.arg<read array "latent_cache" [P]>,
// CHECK-SAME: #plan.arg<read array "block_table" [B * ceildiv(S, 64)]>, #plan.arg<read array "query_tiles" [W_query_tiles * 2]>, #plan.arg<read array "seq_start" [B + 1]>,
// CHECK-SAME: #plan.arg<read array "past_len" [B]>, #plan.arg<scalar ceildiv(S, 64)>, #plan.arg<write result 0 [T * 2]>]
// CHECK-SAME: plan.grid = [#plan.expr<W_query_tiles>, #plan.expr<1>, #plan.expr<1>]
// CHECK-SAME: plan.worklists = [#plan.worklist<"query_tiles" rows 64 rows_per_token 2>]
// 0.125 * log2(e)
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<0.180336878> : tensor<64x64xf32>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0xFF800000> : tensor<64x64xf32>
// CHECK-DAG: %[[NONE1:.*]] = arith.constant dense<0xFF800000> : tensor<64x1xf32>
// CHECK: %[[SEQ:.*]] = tile.load_scalar %[[ITEMS]]
// CHECK: %[[ROW:.*]] = tile.load_scalar %[[ITEMS]]
// CHECK: tile.load_scalar %[[STARTS]][%[[SEQ]]]
// CHECK: tile.load_scalar %[[PAST]][%[[SEQ]]]
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[M:.*]] = %[[NONE1]], %[[L:.*]] = %{{.*}})
// CHECK: %[[PAGE:.*]] = tile.load_scalar %[[TABLE]]
// CHECK: %[[KEYS:.*]] = arith.subi
// CHECK: %[[A:.*]] = tile.load %[[QL]][%[[ROW]], %{{.*}}] bounds[%[[END]]]
// CHECK: %[[B:.*]] = tile.load %[[C]][%[[PAGE]], %{{.*}}, %{{.*}}] bounds[%[[KEYS]]]
// CHECK: %[[S0:.*]] = tile.dot %[[A]], %[[B]], %{{.*}} {b_transposed}
// CHECK: tile.load %[[Q]][%[[ROW]], %{{.*}}] bounds[%[[END]]] : memref<?x68xbf16> -> tensor<64x16xbf16>
// CHECK: tile.load %[[CR]][%[[PAGE]], %{{.*}}, %{{.*}}] bounds[%[[KEYS]]]
// CHECK: %[[S1:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[S0]] {b_transposed}
// CHECK: %[[S2:.*]] = arith.mulf %[[S1]], %[[SCALE]]
// CHECK: %[[VISIBLE:.*]] = arith.cmpi sle
// CHECK: %[[S3:.*]] = arith.select %[[VISIBLE]], %[[S2]], %[[NONE]]
// CHECK: %[[ROWMAX:.*]] = tile.reduce maximum axis 1 %[[S3]]
// CHECK: %[[MN:.*]] = arith.maximumf %[[M]], %[[ROWMAX]]
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[MN]], %[[NONE1]]
// CHECK: %[[REF:.*]] = arith.select %[[EMPTY]]
// CHECK: %[[P:.*]] = math.exp2
// CHECK: %[[ALPHA:.*]] = math.exp2
// CHECK: arith.mulf %[[L]], %[[ALPHA]]
// CHECK: tile.reduce add axis 1 %[[P]]
// CHECK: %[[V:.*]] = tile.load %[[C]][%[[PAGE]], %{{.*}}, %{{.*}}] bounds[%[[KEYS]]]
// CHECK: %[[OD:.*]] = arith.mulf %[[O]]
// CHECK: %[[PB:.*]] = arith.truncf %[[P]]
// CHECK: tile.dot %[[PB]], %[[V]], %[[OD]] :
// CHECK: arith.cmpf ogt
// CHECK: tile.store %{{.*}}, %[[Y]][%[[ROW]], %{{.*}}] bounds[%[[END]]]

// The masked variant: rows of the mask are found by the rows' tokens, every key of the sequence is visited, scores stay in base e until their difference is taken.
// CHECK-LABEL: tile.kernel @attention_masked(
// CHECK-SAME: %[[M:[a-z0-9]*]]: memref<?x64xf32>,
// CHECK-SAME: #plan.arg<read array "mask" [T * ceildiv(S, 64)]>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<1.250000e-01> : tensor<64x64xf32>
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<1.44269502> : tensor<64x64xf32>
// CHECK: %[[TOKEN:.*]] = arith.divui %{{.*}} : tensor<64xi32>
// CHECK: %[[FIRST:.*]] = arith.muli %[[TOKEN]], %{{.*}} : tensor<64xi32>
// CHECK: scf.for %[[J:[a-z0-9]*]] =
// CHECK: %[[PLAIN:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: %[[ROWS:.*]] = arith.addi %[[FIRST]], %{{.*}} : tensor<64xi32>
// CHECK: %[[ADD:.*]] = tile.gather %[[M]][%{{.*}}] rows %[[ROWS]]
// CHECK: %[[SUM:.*]] = arith.addf %[[PLAIN]], %[[ADD]]
// CHECK: arith.select %{{.*}}, %[[SUM]],
// CHECK: %[[D:.*]] = arith.subf
// CHECK: %[[D2:.*]] = arith.mulf %[[D]], %[[LOG2E]]
// CHECK: math.exp2 %[[D2]]

// CHECK-LABEL: tile.kernel @absorb_output(
// CHECK-SAME: %{{.*}}: memref<2x?x64xbf16, strided<[64, 128, 1]>>, %[[W:.*]]: memref<2x128x64xbf16>, %{{.*}}: memref<2x?x64xbf16, strided<[64, 128, 1]>>)
// CHECK: %[[H:.*]] = tile.cta_id z
// The head's last rows: after its 64 plain ones.
// CHECK: %[[R:.*]] = arith.addi %{{.*}}, %c64
// CHECK: tile.load %[[W]][%[[H]], %[[R]], %{{.*}}]
// CHECK: tile.dot {{.*}} {b_transposed}
