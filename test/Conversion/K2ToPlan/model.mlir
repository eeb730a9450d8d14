// RUN: k2-opt %s --convert-k2-to-plan="target=sm_90a config-hash=00ff" --plan-verify-complete | FileCheck %s
// A model of one dense and one MoE layer: the stream stays in `x`, other values have buffers of their kernels, quantised weights have two params, the cache is
// indexed by layer, `require` precedes the first kernel of experts, equal kernels share code, and the result passes plan-verify-complete.

#config = #k2.config<model_type = "kimi_k2", hidden_size = 100, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 0,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 256, moe_intermediate_size = 64,
    n_routed_experts = 8, num_experts_per_tok = 2, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.5 : f64, inv_freq = [1.0, 5.000000e-01]>

// CHECK-LABEL: plan.program @micro
// CHECK-SAME: model = {config_sha256 = "00ff", hidden_size = 100 : i64, {{.*}}moe_layers = array<i64: 1, 2>
// CHECK-SAME: page_size = 64 : i64
// CHECK-SAME: rope = {inv_freq = array<f32: 1.000000e+00, 5.000000e-01>, scale = 1.500000e+00 : f64}
// CHECK-SAME: options = {activations = "bf16", batch_invariant = false, numerics = "fused", schedule = "auto"}
// CHECK-SAME: target = "sm_90a"

// CHECK: plan.param @embed : bf16 [500, 100] stride 104 model layers [] parts [#plan.part<"model.embed_tokens.weight" rows 500 at 0>]
// CHECK: plan.param @dense.q : f8E4M3FN [384, 100] stride 112 layer layers [0, 1] parts [#plan.part<"l.{layer}.a" rows 200 at 0>, #plan.part<"l.{layer}.b" rows 128 at 256>]
// CHECK: plan.param @dense.q.scale : f32 [3, 1] stride 4 layer layers [0, 1] parts [#plan.part<"l.{layer}.a_scale_inv" rows 2 at 0>, #plan.part<"l.{layer}.b_scale_inv" rows 1 at 2>]
// CHECK: plan.param @moe.experts.up : bf16 [64, 100] stride 104 expert layers [1, 2]
// CHECK: plan.kernel @dense_q code "dense_q" block 128 args [#plan.kernel_arg<pointer "in0" read>, #plan.kernel_arg<i32 "in0.d0" read>, #plan.kernel_arg<pointer "dense.q" read>, #plan.kernel_arg<pointer "dense.q.scale" read>, #plan.kernel_arg<pointer "out0" write>, #plan.kernel_arg<i32 "out0.d0" write>] ops ["k2.linear"]
// CHECK: plan.kernel @dense_add code "dense_add"
// CHECK: plan.kernel @moe_router code "moe_router"
// CHECK: plan.kernel @moe_up code "moe_up"
// CHECK: plan.kernel @moe_add code "dense_add"

// CHECK-DAG: plan.buffer @block_table : i32 [B, ceildiv(S, 64)] input
// CHECK-DAG: plan.buffer @slot_of : i32 [8] input
// CHECK-DAG: plan.buffer @latent_cache : bf16 [num_hidden_layers, P, 64, 68] stride 72 persistent
// CHECK-DAG: plan.buffer @x : bf16 [T, 100] stride 104 step
// CHECK-DAG: plan.worklist @query_tiles rows 64 rows_per_token 2
// CHECK-DAG: plan.buffer @dense_q.out : bf16 [T, 384] stride 384 step
// CHECK-DAG: plan.buffer @router_ids : i32 [T, 2] stride 4 step
// CHECK-DAG: plan.buffer @expert_start : i32 [9] step
// CHECK-DAG: plan.buffer @moe_up.out : bf16 [T * 2, 64] stride 64 step

k2.model @micro attributes {config = #config} {
  k2.param @embed per model : tensor<500x100xbf16> parts [#k2.part<"model.embed_tokens.weight", rows = 500, at = 0>]
  k2.param @dense.q per layer layers [0, 1] : !k2.quantized<[384, 100], f8E4M3FN, block = [128, 128], scale = f32>
      parts [#k2.part<"l.{layer}.a", rows = 200, at = 0>, #k2.part<"l.{layer}.b", rows = 128, at = 256>]
  k2.param @moe.gate per layer layers [1, 2] : tensor<8x100xbf16> parts [#k2.part<"l.{layer}.gate", rows = 8, at = 0>]
  k2.param @moe.experts.up per expert layers [1, 2] : tensor<8x64x100xbf16> parts [#k2.part<"l.{layer}.e.{expert}", rows = 64, at = 0>]

  k2.block @dense(%x: tensor<?x100xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>)
      -> tensor<?x100xbf16> {
    %q = k2.kernel "dense_q" -> tensor<?x384xbf16> {
      %w = k2.weight @dense.q : !k2.quantized<[384, 100], f8E4M3FN, block = [128, 128], scale = f32>
      %0 = k2.linear %x, %w : tensor<?x100xbf16>, !k2.quantized<[384, 100], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x384xbf16>
      k2.yield %0 : tensor<?x384xbf16>
    }
    %h = k2.kernel "dense_attention" -> tensor<?x100xbf16> {
      %0 = k2.slice %q offset 0 size 100 : tensor<?x384xbf16> -> tensor<?x100xbf16>
      k2.yield %0 : tensor<?x100xbf16>
    }
    %y = k2.kernel "dense_add" -> tensor<?x100xbf16> {
      %0 = k2.residual_add %h, %h : tensor<?x100xbf16>
      k2.yield %0 : tensor<?x100xbf16>
    }
    k2.return %y : tensor<?x100xbf16>
  }

  k2.block @moe(%x: tensor<?x100xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>)
      -> tensor<?x100xbf16> {
    %logits = k2.kernel "moe_gate" -> tensor<?x8xf32> {
      %w = k2.weight @moe.gate : tensor<8x100xbf16>
      %0 = k2.linear %x, %w : tensor<?x100xbf16>, tensor<8x100xbf16> -> tensor<?x8xf32>
      k2.yield %0 : tensor<?x8xf32>
    }
    %ids, %weights, %routing = k2.kernel "moe_router" -> tensor<?x2xi32>, tensor<?x2xf32>, !k2.routing<8, 2> {
      %0, %1 = k2.router %logits {top_k = 2, n_group = 1, topk_group = 1, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5 : f64}
          : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
      %2 = k2.dispatch %0 : tensor<?x2xi32> -> !k2.routing<8, 2>
      k2.yield %0, %1, %2 : tensor<?x2xi32>, tensor<?x2xf32>, !k2.routing<8, 2>
    }
    %up = k2.kernel "moe_up" -> tensor<?x64xbf16> {
      %w = k2.weight @moe.experts.up : tensor<8x64x100xbf16>
      %0 = k2.expert_linear %x, %w, %routing gather : (tensor<?x100xbf16>, tensor<8x64x100xbf16>, !k2.routing<8, 2>) -> tensor<?x64xbf16>
      k2.yield %0 : tensor<?x64xbf16>
    }
    %y = k2.kernel "moe_add" -> tensor<?x100xbf16> {
      %0 = k2.residual_add %x, %x : tensor<?x100xbf16>
      k2.yield %0 : tensor<?x100xbf16>
    }
    k2.return %y : tensor<?x100xbf16>
  }

  // CHECK: plan.entry @stack {
  // CHECK-NEXT: plan.make_worklist @query_tiles
  // CHECK-NEXT: plan.trace "x" layer 0 of @x
  // CHECK-NEXT: plan.layers "dense" from 0 to 1 {
  // CHECK-NEXT: plan.launch @dense_q grid [6, ceildiv(T, 64), 1] args [#plan.bind<buffer @x>, #plan.bind<i32 T>, #plan.bind<param @dense.q>, #plan.bind<param @dense.q.scale>, #plan.bind<buffer @dense_q.out>, #plan.bind<i32 T>]
  // CHECK-NEXT: plan.launch @dense_attention grid [W_query_tiles, 1, 1] args [#plan.bind<buffer @dense_q.out>, #plan.bind<i32 T>, #plan.bind<buffer @latent_cache [layer]>, #plan.bind<i32 P>, #plan.bind<buffer @query_tiles>, #plan.bind<i32 W_query_tiles>, #plan.bind<buffer @dense_attention.out>, #plan.bind<i32 T>]
  // CHECK-NEXT: plan.launch @dense_add grid [T, 1, 1] args [#plan.bind<buffer @dense_attention.out>, #plan.bind<i32 T>, #plan.bind<buffer @x>, #plan.bind<i32 T>]
  // CHECK-NEXT: plan.trace "x" layer layer + 1 of @x
  // CHECK-NEXT: }
  // CHECK-NEXT: plan.layers "moe" from 1 to 2 {
  // CHECK-NEXT: plan.launch @moe_gate grid [T, 1, 1] args [#plan.bind<buffer @x>, #plan.bind<i32 T>, #plan.bind<param @moe.gate>, #plan.bind<buffer @moe_gate.out>, #plan.bind<i32 T>]
  // CHECK-NEXT: plan.launch @moe_router grid [T, 1, 1]
  // CHECK-NEXT: plan.trace "router.ids" layer layer of @router_ids
  // CHECK-NEXT: plan.trace "router.weights" layer layer of @router_weights
  // CHECK-NEXT: plan.require layer layer ids @router_ids
  // CHECK-NEXT: plan.launch @moe_up grid [1, 8, 1] args [#plan.bind<buffer @x>, #plan.bind<i32 T>, #plan.bind<param @moe.experts.up>, #plan.bind<buffer @slot_of>, #plan.bind<buffer @expert_start>, #plan.bind<buffer @moe_up.out>, #plan.bind<i32 T * 2>, #plan.bind<i32 T * 2>]
  // The kernel reads the old stream, so that it may not write over it.
  // CHECK-NEXT: plan.launch @moe_add grid [T, 1, 1] args [#plan.bind<buffer @x>, #plan.bind<i32 T>, #plan.bind<buffer @moe_add.out>, #plan.bind<i32 T>]
  // CHECK-NEXT: plan.copy @moe_add.out to @x
  // CHECK-NEXT: plan.trace "x" layer layer + 1 of @x
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  k2.entry @stack(%x0: tensor<?x100xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x100xbf16> {
    %0 = k2.layers @dense from 0 to 1 (%x0, %cos, %sin, %batch)
        : (tensor<?x100xbf16>, tensor<?x2xf32>, tensor<?x2xf32>, !k2.batch) -> tensor<?x100xbf16>
    %1 = k2.layers @moe from 1 to 2 (%0, %cos, %sin, %batch)
        : (tensor<?x100xbf16>, tensor<?x2xf32>, tensor<?x2xf32>, !k2.batch) -> tensor<?x100xbf16>
    k2.return %1 : tensor<?x100xbf16>
  }

  // CHECK-NEXT: plan.entry @model {
  // CHECK: plan.launch @embed grid [T, 1, 1] args [#plan.bind<buffer @token_ids>, #plan.bind<i32 T>, #plan.bind<param @embed>, #plan.bind<buffer @x>, #plan.bind<i32 T>]
  // CHECK-NEXT: plan.trace "x" layer 0 of @x
  // CHECK-NEXT: plan.layers "dense" from 0 to 1 {
  // CHECK: plan.launch @logits grid [T, 1, 1] args [#plan.bind<buffer @x>, #plan.bind<i32 T>, #plan.bind<param @embed>, #plan.bind<buffer @logits>, #plan.bind<i32 T>]
  // CHECK-NEXT: }
  // What follows the layers is an entry, too.
  // CHECK-NEXT: plan.entry @head {
  // CHECK-NEXT: plan.launch @logits grid [T, 1, 1] args [#plan.bind<buffer @x>, #plan.bind<i32 T>, #plan.bind<param @embed>, #plan.bind<buffer @logits>, #plan.bind<i32 T>]
  // CHECK-NEXT: }
  k2.entry @model(%ids: tensor<?xi32>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch) -> tensor<?x500xf32> {
    %x = k2.kernel "embed" -> tensor<?x100xbf16> {
      %w = k2.weight @embed : tensor<500x100xbf16>
      %0 = k2.embed %ids, %w : tensor<?xi32>, tensor<500x100xbf16> -> tensor<?x100xbf16>
      k2.yield %0 : tensor<?x100xbf16>
    }
    %0 = k2.layers @dense from 0 to 1 (%x, %cos, %sin, %batch)
        : (tensor<?x100xbf16>, tensor<?x2xf32>, tensor<?x2xf32>, !k2.batch) -> tensor<?x100xbf16>
    %1 = k2.kernel "logits" -> tensor<?x500xf32> {
      %w = k2.weight @embed : tensor<500x100xbf16>
      %2 = k2.linear %0, %w : tensor<?x100xbf16>, tensor<500x100xbf16> -> tensor<?x500xf32>
      k2.yield %2 : tensor<?x500xf32>
    }
    k2.return %1 : tensor<?x500xf32>
  }
}

// CHECK: tile.kernel @dense_q(
// CHECK: tile.kernel @dense_add(
// CHECK-NOT: tile.kernel @moe_add(
tile.kernel @dense_q(%x: memref<?x100xbf16, strided<[104, 1]>>, %w: memref<384x100xf8E4M3FN, strided<[112, 1]>>, %s: memref<3x1xf32, strided<[4, 1]>>,
                     %y: memref<?x384xbf16>) attributes {num_warps = 4,
    plan.grid = [#plan.expr<6>, #plan.expr<ceildiv(T, 64)>, #plan.expr<1>],
    plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read param "dense.q">, #plan.arg<read scale "dense.q">, #plan.arg<write result 0 [T]>]} { tile.return }
tile.kernel @dense_attention(%q: memref<?x384xbf16>, %cache: memref<?x64x68xbf16, strided<[4608, 72, 1]>>, %tiles: memref<?x2xi32>,
                             %y: memref<?x100xbf16, strided<[104, 1]>>) attributes {num_warps = 4,
    plan.grid = [#plan.expr<W_query_tiles>, #plan.expr<1>, #plan.expr<1>],
    plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read array "latent_cache" [P]>, #plan.arg<read array "query_tiles" [W_query_tiles]>,
                 #plan.arg<write result 0 [T]>],
    plan.worklists = [#plan.worklist<"query_tiles" rows 64 rows_per_token 2>]} { tile.return }
tile.kernel @dense_add(%x: memref<?x100xbf16, strided<[104, 1]>>, %y: memref<?x100xbf16, strided<[104, 1]>>) attributes {num_warps = 4,
    plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>],
    plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<write result 0 [T]>]} { tile.return }
tile.kernel @moe_add(%x: memref<?x100xbf16, strided<[104, 1]>>, %y: memref<?x100xbf16, strided<[104, 1]>>) attributes {num_warps = 4,
    plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>],
    plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<write result 0 [T]>]} { tile.return }
tile.kernel @moe_router(%ids: memref<?x2xi32, strided<[4, 1]>>, %weights: memref<?x2xf32, strided<[4, 1]>>, %start: memref<9xi32>) attributes {num_warps = 4,
    plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>],
    plan.args = [#plan.arg<write result 0 [T]>, #plan.arg<write result 1 [T]>, #plan.arg<write array "expert_start">]} { tile.return }
tile.kernel @moe_gate(%x: memref<?x100xbf16, strided<[104, 1]>>, %w: memref<8x100xbf16, strided<[104, 1]>>, %y: memref<?x8xf32>) attributes {num_warps = 4,
    plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>],
    plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read param "moe.gate">, #plan.arg<write result 0 [T]>]} { tile.return }
tile.kernel @moe_up(%x: memref<?x100xbf16, strided<[104, 1]>>, %w: memref<8x64x100xbf16, strided<[6656, 104, 1]>>, %slot: memref<8xi32>,
                    %start: memref<9xi32>, %y: memref<?x64xbf16>, %rows: i32) attributes {num_warps = 4,
    plan.grid = [#plan.expr<1>, #plan.expr<8>, #plan.expr<1>],
    plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read param "moe.experts.up">, #plan.arg<read array "slot_of">, #plan.arg<read array "expert_start">,
                 #plan.arg<write result 0 [T * 2]>, #plan.arg<scalar T * 2>]} { tile.return }
tile.kernel @embed(%ids: memref<?xi32>, %w: memref<500x100xbf16, strided<[104, 1]>>, %y: memref<?x100xbf16, strided<[104, 1]>>) attributes {num_warps = 4,
    plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>],
    plan.args = [#plan.arg<read array "token_ids" [T]>, #plan.arg<read param "embed">, #plan.arg<write result 0 [T]>]} { tile.return }
tile.kernel @logits(%x: memref<?x100xbf16, strided<[104, 1]>>, %w: memref<500x100xbf16, strided<[104, 1]>>, %y: memref<?x500xf32>) attributes {num_warps = 4,
    plan.grid = [#plan.expr<T>, #plan.expr<1>, #plan.expr<1>],
    plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read param "embed">, #plan.arg<write result 0 [T]>]} { tile.return }
