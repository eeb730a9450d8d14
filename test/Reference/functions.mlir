// RUN: k2-interpret %s | FileCheck %s
// RUN: k2-interpret %s --type=f64 | FileCheck %s
// RUN: k2-interpret %s --rounding=bf16 | FileCheck %s
// Every function checks itself against values worked out by hand; all of them are exact in bf16, so roundings change nothing.

// CHECK: residual_add: passed
func.func @residual_add() {
  %a = arith.constant dense<[[1.0, 2.0], [-3.0, 0.5]]> : tensor<2x2xbf16>
  %b = arith.constant dense<[[0.5, -2.0], [3.0, 0.25]]> : tensor<2x2xbf16>
  %sum = k2.residual_add %a, %b : tensor<2x2xbf16>
  %want = arith.constant dense<[[1.5, 0.0], [0.0, 0.75]]> : tensor<2x2xbf16>
  check.expect_equal %sum, %want : tensor<2x2xbf16>
  return
}

// The mean square of (1, 7) is 25; eps 0.25 would show, so it is small.
// CHECK: rms_norm: passed
func.func @rms_norm() {
  %x = arith.constant dense<[[1.0, 7.0], [0.0, 0.0]]> : tensor<2x2xbf16>
  %w = arith.constant dense<[5.0, 2.5]> : tensor<2xf32>
  %y = k2.rms_norm %x, %w eps 1.0e-12 weight_type bf16 : tensor<2x2xbf16>, tensor<2xf32>
  %want = arith.constant dense<[[1.0, 3.5], [0.0, 0.0]]> : tensor<2x2xbf16>
  check.expect_close %y, %want max_abs 1.0e-02 : tensor<2x2xbf16>
  return
}

// CHECK: rope: passed
func.func @rope() {
  %x = arith.constant dense<[[7.0, 1.0, 2.0, 8.0, 3.0, 4.0]]> : tensor<1x6xbf16>
  %cos = arith.constant dense<0.0> : tensor<1x1xf32>
  %sin = arith.constant dense<1.0> : tensor<1x1xf32>
  %y = k2.rope %x, %cos, %sin {heads = 2, nope = 1, rope = 2} : tensor<1x6xbf16>, tensor<1x1xf32>
  %want = arith.constant dense<[[7.0, -2.0, 1.0, 8.0, -4.0, 3.0]]> : tensor<1x6xbf16>
  check.expect_equal %y, %want : tensor<1x6xbf16>
  return
}

// CHECK: linear_and_slice: passed
func.func @linear_and_slice() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xbf16>
  %w = arith.constant dense<[[1.0, 0.0, 1.0], [0.5, 0.5, 0.5], [-1.0, 2.0, 0.0]]> : tensor<3x3xbf16>
  %y = k2.linear %x, %w : tensor<1x3xbf16>, tensor<3x3xbf16> -> tensor<1x3xbf16>
  %part = k2.slice %y offset 1 size 2 : tensor<1x3xbf16> -> tensor<1x2xbf16>
  %want = arith.constant dense<[[3.0, 3.0]]> : tensor<1x2xbf16>
  check.expect_equal %part, %want : tensor<1x2xbf16>
  return
}

// Four experts in two groups of which one is kept: an expert of the other group never wins.
// CHECK: router: passed
func.func @router() {
  %logits = arith.constant dense<0.0> : tensor<1x4xf32>
  %bias = arith.constant dense<[0.9, -0.7, -0.2, -0.2]> : tensor<4xf32>
  %ids, %weights = k2.router %logits, %bias {top_k = 2, n_group = 2, topk_group = 1, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5}
      : (tensor<1x4xf32>, tensor<4xf32>) -> (tensor<1x2xi32>, tensor<1x2xf32>)
  %want_ids = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %want_weights = arith.constant dense<1.25> : tensor<1x2xf32>
  check.expect_equal %ids, %want_ids : tensor<1x2xi32>
  check.expect_equal %weights, %want_weights : tensor<1x2xf32>
  return
}

// Expert e multiplies by e + 1; rows come back in the order of slots.
// CHECK: experts: passed
func.func @experts() {
  %x = arith.constant dense<[[10.0], [100.0]]> : tensor<2x1xbf16>
  %w = arith.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xbf16>
  %ids = arith.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi32>
  %weights = arith.constant dense<[[0.5, 0.25], [2.0, 4.0]]> : tensor<2x2xf32>
  %routing = k2.dispatch %ids : tensor<2x2xi32> -> !k2.routing<2, 2>
  %rows = k2.expert_linear %x, %w, %routing gather : (tensor<2x1xbf16>, tensor<2x1x1xbf16>, !k2.routing<2, 2>) -> tensor<4x1xbf16>
  %y = k2.combine %rows, %weights, %routing : tensor<4x1xbf16>, tensor<2x2xf32>, !k2.routing<2, 2> -> tensor<2x1xbf16>
  %want = arith.constant dense<[[12.5], [1000.0]]> : tensor<2x1xbf16>
  check.expect_equal %y, %want : tensor<2x1xbf16>
  return
}

// CHECK: kernel_and_embed: passed
func.func @kernel_and_embed() {
  %ids = arith.constant dense<[2, 0]> : tensor<2xi32>
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xbf16>
  %y = k2.kernel "embed_twice" -> tensor<2x2xbf16> {
    %0 = k2.embed %ids, %table : tensor<2xi32>, tensor<3x2xbf16> -> tensor<2x2xbf16>
    %1 = k2.residual_add %0, %0 : tensor<2x2xbf16>
    k2.yield %1 : tensor<2x2xbf16>
  }
  %want = arith.constant dense<[[10.0, 12.0], [2.0, 4.0]]> : tensor<2x2xbf16>
  check.expect_equal %y, %want : tensor<2x2xbf16>
  return
}

// CHECK: no_tokens: passed
func.func @no_tokens() {
  %x = arith.constant dense<> : tensor<0x3xbf16>
  %w = arith.constant dense<1.0> : tensor<2x3xbf16>
  %y = k2.linear %x, %w : tensor<0x3xbf16>, tensor<2x3xbf16> -> tensor<0x2xbf16>
  %want = arith.constant dense<> : tensor<0x2xbf16>
  check.expect_equal %y, %want : tensor<0x2xbf16>
  return
}
