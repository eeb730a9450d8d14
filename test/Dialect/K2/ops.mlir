// RUN: k2-opt %s | k2-opt | FileCheck %s
// RUN: k2-opt %s --mlir-print-op-generic | k2-opt | FileCheck %s
// RUN: k2-opt %s --emit-bytecode | k2-opt | FileCheck %s
// Every computing op keeps its operands, attributes and types through the pretty, the generic and the bytecode form.

!fp8 = !k2.quantized<[160, 256], f8E4M3FN, block = [128, 128], scale = f32>

// CHECK-LABEL: func.func @norm
func.func @norm(%x: tensor<?x256xbf16>, %w: tensor<256xf32>) -> tensor<?x256xbf16> {
  // CHECK: k2.rms_norm %{{.*}}, %{{.*}} eps 9.9999999999999995E-7 weight_type bf16 : tensor<?x256xbf16>, tensor<256xf32>
  %0 = k2.rms_norm %x, %w eps 1.0e-06 weight_type bf16 : tensor<?x256xbf16>, tensor<256xf32>
  // CHECK: k2.residual_add %{{.*}}, %{{.*}} : tensor<?x256xbf16>
  %1 = k2.residual_add %x, %0 : tensor<?x256xbf16>
  return %1 : tensor<?x256xbf16>
}

// CHECK-LABEL: func.func @rope
func.func @rope(%x: tensor<?x384xbf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>) -> tensor<?x384xbf16> {
  // CHECK: k2.rope %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64, nope = 128 : i64, rope = 64 : i64} : tensor<?x384xbf16>, tensor<?x32xf32>
  %0 = k2.rope %x, %cos, %sin {heads = 2, nope = 128, rope = 64} : tensor<?x384xbf16>, tensor<?x32xf32>
  return %0 : tensor<?x384xbf16>
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<?x256xbf16>, %w: !fp8, %v: tensor<8x256xbf16>) -> (tensor<?x32xbf16>, tensor<?x8xf32>) {
  // CHECK: k2.linear %{{.*}}, %{{.*}} : tensor<?x256xbf16>, !k2.quantized<[160, 256], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x160xbf16>
  %0 = k2.linear %x, %w : tensor<?x256xbf16>, !fp8 -> tensor<?x160xbf16>
  // CHECK: k2.slice %{{.*}} offset 128 size 32 : tensor<?x160xbf16> -> tensor<?x32xbf16>
  %1 = k2.slice %0 offset 128 size 32 : tensor<?x160xbf16> -> tensor<?x32xbf16>
  // CHECK: k2.swiglu %{{.*}}, %{{.*}} : tensor<?x32xbf16>
  %2 = k2.swiglu %1, %1 : tensor<?x32xbf16>
  // CHECK: k2.linear %{{.*}}, %{{.*}} : tensor<?x256xbf16>, tensor<8x256xbf16> -> tensor<?x8xf32>
  %3 = k2.linear %x, %v : tensor<?x256xbf16>, tensor<8x256xbf16> -> tensor<?x8xf32>
  return %2, %3 : tensor<?x32xbf16>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<?x384xbf16>, %c: tensor<?x128xbf16>, %k: tensor<?x64xbf16>, %batch: !k2.batch, %cache: !k2.cache<128, 64>,
                     %kv_b: tensor<512x128xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>) {
  // CHECK: k2.append %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x128xbf16>, tensor<?x64xbf16>, !k2.cache<128, 64>
  %0 = k2.append %c, %k, %batch, %cache : tensor<?x128xbf16>, tensor<?x64xbf16>, !k2.cache<128, 64>
  // CHECK: k2.mla_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64, nope = 128 : i64, rope = 64 : i64, scale = 1.250000e-01 : f64, value = 128 : i64}
  // CHECK-SAME: : (tensor<?x384xbf16>, !k2.cache<128, 64>, !k2.batch, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  %1 = k2.mla_attention %q, %0, %batch, %kv_b {heads = 2, nope = 128, rope = 64, value = 128, scale = 0.125}
      : (tensor<?x384xbf16>, !k2.cache<128, 64>, !k2.batch, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  // CHECK: k2.absorb_query %{{.*}}, %{{.*}} {heads = 2 : i64, nope = 128 : i64, rope = 64 : i64, value = 128 : i64}
  %2 = k2.absorb_query %q, %kv_b {heads = 2, nope = 128, rope = 64, value = 128} : (tensor<?x384xbf16>, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  // CHECK: k2.mla_attention_absorbed %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64, nope = 128 : i64, rope = 64 : i64, scale = 1.250000e-01 : f64}
  %3 = k2.mla_attention_absorbed %2, %q, %0, %batch {heads = 2, nope = 128, rope = 64, scale = 0.125}
      : (tensor<?x256xbf16>, tensor<?x384xbf16>, !k2.cache<128, 64>, !k2.batch) -> tensor<?x256xbf16>
  // CHECK: k2.absorb_output %{{.*}}, %{{.*}} {heads = 2 : i64, nope = 128 : i64, value = 128 : i64}
  %4 = k2.absorb_output %3, %kv_b {heads = 2, nope = 128, value = 128} : (tensor<?x256xbf16>, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  return %1, %4 : tensor<?x256xbf16>, tensor<?x256xbf16>
}

// CHECK-LABEL: func.func @moe
func.func @moe(%h: tensor<?x256xbf16>, %logits: tensor<?x16xf32>, %bias: tensor<16xf32>, %up: tensor<16x64x256xbf16>,
               %down: !k2.quantized<[16, 256, 64], f8E4M3FN, block = [128, 128], scale = f32>) -> tensor<?x256xbf16> {
  // CHECK: %[[IDS:.*]], %[[WEIGHTS:.*]] = k2.router %{{.*}}, %{{.*}} {n_group = 4 : i64, normalize = true, scaling = 2.500000e+00 : f64, scoring = #k2.scoring<sigmoid>, top_k = 4 : i64, topk_group = 2 : i64}
  // CHECK-SAME: : (tensor<?x16xf32>, tensor<16xf32>) -> (tensor<?x4xi32>, tensor<?x4xf32>)
  %ids, %weights = k2.router %logits, %bias
      {top_k = 4, n_group = 4, topk_group = 2, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5}
      : (tensor<?x16xf32>, tensor<16xf32>) -> (tensor<?x4xi32>, tensor<?x4xf32>)
  // CHECK: k2.router %{{[a-z0-9]*}} {n_group = 1
  %i, %w = k2.router %logits {top_k = 4, n_group = 1, topk_group = 1, scoring = #k2.scoring<softmax>, normalize = false, scaling = 1.0}
      : (tensor<?x16xf32>) -> (tensor<?x4xi32>, tensor<?x4xf32>)
  // CHECK: k2.dispatch %[[IDS]] : tensor<?x4xi32> -> !k2.routing<16, 4>
  %routing = k2.dispatch %ids : tensor<?x4xi32> -> !k2.routing<16, 4>
  // CHECK: k2.expert_linear %{{.*}}, %{{.*}}, %{{.*}} gather : (tensor<?x256xbf16>, tensor<16x64x256xbf16>, !k2.routing<16, 4>) -> tensor<?x64xbf16>
  %0 = k2.expert_linear %h, %up, %routing gather : (tensor<?x256xbf16>, tensor<16x64x256xbf16>, !k2.routing<16, 4>) -> tensor<?x64xbf16>
  // CHECK: k2.expert_linear %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : (
  %1 = k2.expert_linear %0, %down, %routing
      : (tensor<?x64xbf16>, !k2.quantized<[16, 256, 64], f8E4M3FN, block = [128, 128], scale = f32>, !k2.routing<16, 4>) -> tensor<?x256xbf16>
  // CHECK: k2.combine %{{.*}}, %[[WEIGHTS]], %{{.*}} : tensor<?x256xbf16>, tensor<?x4xf32>, !k2.routing<16, 4> -> tensor<?x256xbf16>
  %2 = k2.combine %1, %weights, %routing : tensor<?x256xbf16>, tensor<?x4xf32>, !k2.routing<16, 4> -> tensor<?x256xbf16>
  return %2 : tensor<?x256xbf16>
}

// CHECK-LABEL: func.func @kernel
func.func @kernel(%ids: tensor<?xi32>, %table: tensor<512x256xbf16>, %w: tensor<256xf32>) -> tensor<?x256xbf16> {
  // CHECK: k2.kernel "embed_norm" config <orientation = tokens_n, tile = [64, 16, 64], split = 2, decomposition = split_k, prologue = transform> -> tensor<?x256xbf16> {
  %0 = k2.kernel "embed_norm" config <orientation = tokens_n, tile = [64, 16, 64], split = 2, decomposition = split_k, prologue = transform>
      -> tensor<?x256xbf16> {
    // CHECK: k2.embed %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<512x256xbf16> -> tensor<?x256xbf16>
    %1 = k2.embed %ids, %table : tensor<?xi32>, tensor<512x256xbf16> -> tensor<?x256xbf16>
    %2 = k2.rms_norm %1, %w eps 1.0e-05 weight_type f32 : tensor<?x256xbf16>, tensor<256xf32>
    // CHECK: k2.yield %{{.*}} : tensor<?x256xbf16>
    k2.yield %2 : tensor<?x256xbf16>
  }
  // CHECK: k2.kernel "nothing" {
  k2.kernel "nothing" {
    k2.yield
  }
  return %0 : tensor<?x256xbf16>
}
