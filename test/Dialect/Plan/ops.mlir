// RUN: k2-opt %s | FileCheck %s
// RUN: k2-opt %s | k2-opt | FileCheck %s
// RUN: k2-opt %s --mlir-print-op-generic | k2-opt | FileCheck %s
// RUN: k2-opt %s --emit-bytecode | k2-opt | FileCheck %s
// Every op and attribute reads back as it was printed, in text, generic form and bytecode.

// CHECK: plan.program @micro attributes {model = {hidden_size = 128 : i64}, options = {}, target = "sm_90a"}
plan.program @micro attributes {model = {hidden_size = 128 : i64}, options = {}, target = "sm_90a"} {
  // CHECK: plan.param @embed : bf16 [500, 128] stride 128 model layers [] parts [#plan.part<"model.embed_tokens.weight" rows 500 at 0>]
  plan.param @embed : bf16 [500, 128] stride 128 model layers [] parts [#plan.part<"model.embed_tokens.weight" rows 500 at 0>]
  // CHECK: plan.param @dense.norm : f32 [128] stride 128 layer layers [0, 2]
  plan.param @dense.norm : f32 [128] stride 128 layer layers [0, 2] parts [#plan.part<"model.layers.{layer}.norm.weight" rows 128 at 0>]
  // CHECK: plan.buffer @token_ids : i32 [T] input
  plan.buffer @token_ids : i32 [T] input
  // CHECK: plan.buffer @x : bf16 [T, 128] stride 128 step
  plan.buffer @x : bf16 [T, 128] stride 128 step
  // CHECK: plan.buffer @y : bf16 [T, 128] stride 128 step
  plan.buffer @y : bf16 [T, 128] stride 128 step
  // CHECK: plan.buffer @router_ids : i32 [T, 8] stride 8 step
  plan.buffer @router_ids : i32 [T, 8] stride 8 step
  // CHECK: plan.buffer @latent_cache : bf16 [num_hidden_layers, P, 64, 96] stride 96 persistent
  plan.buffer @latent_cache : bf16 [num_hidden_layers, P, 64, 96] stride 96 persistent
  // CHECK: plan.worklist @query_tiles rows 64 rows_per_token 2
  plan.worklist @query_tiles rows 64 rows_per_token 2
  // CHECK: plan.kernel @embed_tokens code "embed" block 128 args [#plan.kernel_arg<pointer "ids" read>, #plan.kernel_arg<i32 "ids.d0" read>, #plan.kernel_arg<pointer "y" write>] ops ["k2.embed"]
  plan.kernel @embed_tokens code "embed" block 128 args [#plan.kernel_arg<pointer "ids" read>, #plan.kernel_arg<i32 "ids.d0" read>, #plan.kernel_arg<pointer "y" write>] ops ["k2.embed"]
  // CHECK: plan.entry @model
  plan.entry @model {
    // CHECK: plan.make_worklist @query_tiles
    plan.make_worklist @query_tiles
    // CHECK: plan.launch @embed_tokens grid [T, 1, 1] args [#plan.bind<buffer @token_ids>, #plan.bind<i32 T>, #plan.bind<buffer @x>]
    plan.launch @embed_tokens grid [T, 1, 1] args [#plan.bind<buffer @token_ids>, #plan.bind<i32 T>, #plan.bind<buffer @x>]
    // CHECK: plan.trace "x" layer 0 of @x
    plan.trace "x" layer 0 of @x
    // CHECK: plan.layers "dense" from 0 to 2
    plan.layers "dense" from 0 to 2 {
      // CHECK: plan.launch @k grid [ceildiv(T, 64), min(T * 8, 384) + floordiv(T * 8, 64), 1] args [#plan.bind<buffer @latent_cache [layer]>, #plan.bind<param @dense.norm>]
      plan.launch @k grid [ceildiv(T, 64), min(T * 8, 384) + floordiv(T * 8, 64), 1] args [#plan.bind<buffer @latent_cache [layer]>, #plan.bind<param @dense.norm>]
      // CHECK: plan.require layer layer ids @router_ids
      plan.require layer layer ids @router_ids
      // CHECK: plan.trace "x" layer layer + 1 of @x
      plan.trace "x" layer layer + 1 of @x
    }
    // CHECK: plan.when and(le(T, 16), lt(B, S))
    plan.when and(le(T, 16), lt(B, S)) {
      // CHECK: plan.zero @y
      plan.zero @y
    // CHECK: } else {
    } else {
      // CHECK: plan.copy @x to @y
      plan.copy @x to @y
    }
  }
}
