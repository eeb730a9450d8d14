// RUN: k2-opt %s --pass-pipeline="builtin.module(k2.model(k2-form-kernels))" | FileCheck %s
// RUN: k2-opt %s --pass-pipeline="builtin.module(k2.model(k2-form-kernels))" --remarks-filter=k2-form-kernels --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// The fusions that cost nothing: residual with norm, gate and up with swiglu, the last linear with the residual; weights and slices are read inside.
// Names come from block and weight and are unique.

// REMARK: remark: [Missed] Kernel {{.*}}"k2.residual_add and k2.rms_norm do not share a kernel: {{.*}} reads a result before the last of them"

#config = #k2.config<model_type = "kimi_k2", hidden_size = 128, num_hidden_layers = 2, num_attention_heads = 2, q_lora_rank = 96,
    kv_lora_rank = 64, qk_nope_head_dim = 64, qk_rope_head_dim = 4, v_head_dim = 64, intermediate_size = 208, moe_intermediate_size = 40,
    n_routed_experts = 6, num_experts_per_tok = 3, n_shared_experts = 1, n_group = 1, topk_group = 1, scoring = sigmoid, selection_bias = true,
    norm_topk_prob = true, routed_scaling_factor = 2.827 : f64, first_k_dense_replace = 1, moe_layer_freq = 1, vocab_size = 500,
    max_position_embeddings = 4096, rms_norm_eps = 1.0e-06 : f64, latent_norm_eps = 1.0e-06 : f64, softmax_scale = 0.125 : f64,
    rope_theta = 5.0e+04 : f64, rope_multiplier = 1.0 : f64, inv_freq = [1.0, 5.000000e-01]>

k2.model @m attributes {config = #config} {
  k2.param @dense.o_proj per layer layers [0, 2] : tensor<128x128xbf16> parts [#k2.part<"o", rows = 128, at = 0>]
  k2.param @dense.post_attention_layernorm per layer layers [0, 2] : tensor<128xf32> parts [#k2.part<"n", rows = 128, at = 0>]
  k2.param @dense.gate_proj per layer layers [0, 2] : tensor<208x128xbf16> parts [#k2.part<"g", rows = 208, at = 0>]
  k2.param @dense.up_proj per layer layers [0, 2] : tensor<208x128xbf16> parts [#k2.part<"u", rows = 208, at = 0>]
  k2.param @dense.down_proj per layer layers [0, 2] : tensor<128x208xbf16> parts [#k2.part<"d", rows = 128, at = 0>]
  k2.param @moe.gate per layer layers [1, 2] : tensor<6x128xbf16> parts [#k2.part<"r", rows = 6, at = 0>]
  k2.param @moe.experts.down_proj per expert layers [1, 2] : tensor<6x128x128xbf16> parts [#k2.part<"e", rows = 128, at = 0>]
  // CHECK-LABEL: k2.block @dense
  // CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x128xbf16>
  k2.block @dense(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // CHECK-NOT: k2.weight
    // CHECK: %[[O:.*]] = k2.kernel "dense_o_proj" -> tensor<?x128xbf16> {
    // CHECK-NEXT: %[[WO:.*]] = k2.weight @dense.o_proj
    // CHECK-NEXT: %[[L:.*]] = k2.linear %[[X]], %[[WO]]
    // CHECK-NEXT: k2.yield %[[L]]
    %wo = k2.weight @dense.o_proj : tensor<128x128xbf16>
    %o = k2.linear %x, %wo : tensor<?x128xbf16>, tensor<128x128xbf16> -> tensor<?x128xbf16>
    // CHECK: %[[H:.*]]:2 = k2.kernel "dense_post_attention_layernorm" -> tensor<?x128xbf16>, tensor<?x128xbf16> {
    // CHECK: %[[S:.*]] = k2.residual_add %[[X]], %[[O]]
    // CHECK: %[[N:.*]] = k2.rms_norm %[[S]]
    // CHECK: k2.yield %[[S]], %[[N]]
    %x1 = k2.residual_add %x, %o : tensor<?x128xbf16>
    %wn = k2.weight @dense.post_attention_layernorm : tensor<128xf32>
    %h = k2.rms_norm %x1, %wn eps 1.0e-06 weight_type bf16 : tensor<?x128xbf16>, tensor<128xf32>
    // CHECK: %[[M:.*]] = k2.kernel "dense_gate_up" -> tensor<?x208xbf16> {
    // CHECK: %[[G:.*]] = k2.linear %[[H]]#1
    // CHECK: %[[U:.*]] = k2.linear %[[H]]#1
    // CHECK: k2.swiglu %[[G]], %[[U]]
    %wg = k2.weight @dense.gate_proj : tensor<208x128xbf16>
    %g = k2.linear %h, %wg : tensor<?x128xbf16>, tensor<208x128xbf16> -> tensor<?x208xbf16>
    %wu = k2.weight @dense.up_proj : tensor<208x128xbf16>
    %u = k2.linear %h, %wu : tensor<?x128xbf16>, tensor<208x128xbf16> -> tensor<?x208xbf16>
    %m = k2.swiglu %g, %u : tensor<?x208xbf16>
    // CHECK: k2.kernel "dense_down" -> tensor<?x128xbf16> {
    // CHECK: %[[D:.*]] = k2.linear %[[M]]
    // CHECK: k2.residual_add %[[H]]#0, %[[D]]
    %wd = k2.weight @dense.down_proj : tensor<128x208xbf16>
    %d = k2.linear %m, %wd : tensor<?x208xbf16>, tensor<128x208xbf16> -> tensor<?x128xbf16>
    %y = k2.residual_add %x1, %d : tensor<?x128xbf16>
    k2.return %y : tensor<?x128xbf16>
  }

  // A work list follows the dispatch; combine takes both additions.
  // CHECK-LABEL: k2.block @moe
  // CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x128xbf16>
  k2.block @moe(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // CHECK: k2.kernel "moe_router_logits"
    %wr = k2.weight @moe.gate : tensor<6x128xbf16>
    %logits = k2.linear %x, %wr : tensor<?x128xbf16>, tensor<6x128xbf16> -> tensor<?x6xf32>
    // CHECK: k2.kernel "moe_router"
    %ids, %weights = k2.router %logits {top_k = 3, n_group = 1, topk_group = 1, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 1.0 : f64}
        : (tensor<?x6xf32>) -> (tensor<?x3xi32>, tensor<?x3xf32>)
    // CHECK: %[[R:.*]] = k2.kernel "moe_dispatch"
    // CHECK: %[[E:.*]] = k2.kernel "moe_expert_work"
    // CHECK: k2.expert_work %[[R]]
    %routing = k2.dispatch %ids : tensor<?x3xi32> -> !k2.routing<6, 3>
    // CHECK: %[[ROWS:.*]] = k2.kernel "moe_experts_down"
    // CHECK: k2.expert_linear %[[X]], %{{.*}}, %[[E]] gather
    %we = k2.weight @moe.experts.down_proj : tensor<6x128x128xbf16>
    %rows = k2.expert_linear %x, %we, %routing gather : (tensor<?x128xbf16>, tensor<6x128x128xbf16>, !k2.routing<6, 3>) -> tensor<?x128xbf16>
    // CHECK: k2.kernel "moe_combine"
    // CHECK: %[[C:.*]] = k2.combine %[[ROWS]]
    // CHECK: %[[A:.*]] = k2.residual_add %[[C]], %[[X]]
    // CHECK: k2.residual_add %[[X]], %[[A]]
    // CHECK-NOT: k2.kernel
    // CHECK: k2.return
    %routed = k2.combine %rows, %weights, %routing : tensor<?x128xbf16>, tensor<?x3xf32>, !k2.routing<6, 3> -> tensor<?x128xbf16>
    %mlp = k2.residual_add %routed, %x : tensor<?x128xbf16>
    %y = k2.residual_add %x, %mlp : tensor<?x128xbf16>
    k2.return %y : tensor<?x128xbf16>
  }

  // Equal names are numbered; the key's norm and rope are part of append; a slice is copied to each of its readers.
  // CHECK-LABEL: k2.block @other
  k2.param @norm per model : tensor<64xf32> parts [#k2.part<"norm", rows = 64, at = 0>]
  k2.block @other(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    %w = k2.weight @norm : tensor<64xf32>
    %c = k2.slice %x offset 0 size 64 : tensor<?x128xbf16> -> tensor<?x64xbf16>
    %k = k2.slice %x offset 64 size 4 : tensor<?x128xbf16> -> tensor<?x4xbf16>
    // CHECK: k2.kernel "other_norm" -> tensor<?x64xbf16> {
    // CHECK: k2.slice %{{.*}} offset 0 size 64
    %n1 = k2.rms_norm %c, %w eps 1.0e-06 weight_type bf16 : tensor<?x64xbf16>, tensor<64xf32>
    // CHECK: k2.kernel "other_norm_2" -> tensor<?x64xbf16> {
    %n2 = k2.rms_norm %n1, %w eps 1.0e-06 weight_type bf16 : tensor<?x64xbf16>, tensor<64xf32>
    // CHECK: k2.kernel "other_q_rope"
    %q = k2.rope %n2, %cos, %sin {heads = 1, nope = 60, rope = 4} : tensor<?x64xbf16>, tensor<?x2xf32>
    // CHECK: k2.kernel "other_kv_append"
    // CHECK-DAG: k2.slice %{{.*}} offset 0 size 64
    // CHECK-DAG: k2.slice %{{.*}} offset 64 size 4
    // CHECK-DAG: k2.rms_norm
    // CHECK-DAG: k2.rope
    // CHECK: k2.append
    %cn = k2.rms_norm %c, %w eps 1.0e-06 weight_type bf16 : tensor<?x64xbf16>, tensor<64xf32>
    %kr = k2.rope %k, %cos, %sin {heads = 1, nope = 0, rope = 4} : tensor<?x4xbf16>, tensor<?x2xf32>
    %cache1 = k2.append %cn, %kr, %batch, %cache : tensor<?x64xbf16>, tensor<?x4xbf16>, !k2.cache<64, 4>
    k2.return %x : tensor<?x128xbf16>
  }

  // The sum is read before the norm could run: they stay apart.
  // CHECK-LABEL: k2.block @between
  k2.block @between(%x: tensor<?x128xbf16>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>, %batch: !k2.batch, %cache: !k2.cache<64, 4>) -> tensor<?x128xbf16> {
    // CHECK: %[[A:.*]] = k2.kernel "between_residual_add"
    %s = k2.residual_add %x, %x : tensor<?x128xbf16>
    // CHECK: k2.kernel "between_dense_o"
    // CHECK: k2.kernel "between_dense_post_attention_layernorm"
    %wo = k2.weight @dense.o_proj : tensor<128x128xbf16>
    %o = k2.linear %s, %wo : tensor<?x128xbf16>, tensor<128x128xbf16> -> tensor<?x128xbf16>
    %wn = k2.weight @dense.post_attention_layernorm : tensor<128xf32>
    %h = k2.rms_norm %s, %wn eps 1.0e-06 weight_type bf16 : tensor<?x128xbf16>, tensor<128xf32>
    k2.return %h : tensor<?x128xbf16>
  }
}
