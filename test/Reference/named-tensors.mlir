// RUN: python3 %S/Inputs/tensors.py make %t.in.safetensors
// RUN: k2-interpret %s --entry=attention --input=%t.in.safetensors --output=%t.attention.safetensors
// RUN: python3 %S/Inputs/tensors.py show %t.attention.safetensors | FileCheck %s --check-prefix=ATTENTION
// RUN: k2-interpret %s --entry=routed --input=%t.in.safetensors --output=%t.routed.safetensors
// RUN: python3 %S/Inputs/tensors.py show %t.routed.safetensors | FileCheck %s --check-prefix=ROUTED
// RUN: k2-interpret %s --entry=quantized --input=%t.in.safetensors --output=%t.quantized.safetensors
// RUN: python3 %S/Inputs/tensors.py show %t.quantized.safetensors | FileCheck %s --check-prefix=QUANTIZED
// Functions take batches, caches, routings and quantized weights as the named tensors that Run.h documents, and give their results so.

// One token at position 1 of a sequence whose row 0 is cached. Scores: the query (0 | 0) makes all keys equal, so the result is the mean of the two
// latents (1, 3), times kv_b's value row 2 of the one head: 4. The cache's result has the new row in place.
// ATTENTION: cache F32 [2, 2, 3] 9 9 9 9 9 9 1 0 0 3 0 0
// ATTENTION: out F32 [1, 1] 4
func.func @attention(%latent: tensor<?x1xbf16> {k2.name = "latent"}, %key: tensor<?x2xbf16> {k2.name = "key"}, %query: tensor<?x3xbf16> {k2.name = "query"},
                     %batch: !k2.batch {k2.name = "batch"}, %cache: !k2.cache<1, 2> {k2.name = "pages"}, %kv_b: tensor<2x1xbf16> {k2.name = "kv_b"})
    -> (tensor<?x1xbf16> {k2.name = "out"}, !k2.cache<1, 2> {k2.name = "cache"}) {
  %0 = k2.append %latent, %key, %batch, %cache : tensor<?x1xbf16>, tensor<?x2xbf16>, !k2.cache<1, 2>
  %1 = k2.mla_attention %query, %0, %batch, %kv_b {heads = 1, nope = 1, rope = 2, value = 1, scale = 1.0}
      : (tensor<?x3xbf16>, !k2.cache<1, 2>, !k2.batch, tensor<2x1xbf16>) -> tensor<?x1xbf16>
  return %1, %0 : tensor<?x1xbf16>, !k2.cache<1, 2>
}

// ROUTED: result0 F32 [4, 1] 10 100 20 200
// ROUTED: result1.expert_count I32 [2] 2 2
// ROUTED: result1.expert_start I32 [3] 0 2 4
// ROUTED: result1.row_of I32 [2, 2] 2 0 1 3
// ROUTED: result1.token_of_row I32 [4] 0 1 0 1
func.func @routed(%x: tensor<?x1xbf16> {k2.name = "x"}, %w: tensor<2x1x1xbf16> {k2.name = "w"}, %routing: !k2.routing<2, 2> {k2.name = "routing"})
    -> (tensor<?x1xbf16>, !k2.routing<2, 2>) {
  %0 = k2.expert_linear %x, %w, %routing gather : (tensor<?x1xbf16>, tensor<2x1x1xbf16>, !k2.routing<2, 2>) -> tensor<?x1xbf16>
  return %0, %routing : tensor<?x1xbf16>, !k2.routing<2, 2>
}

// QUANTIZED: result0 F32 [1, 3] 30 30 3000
func.func @quantized(%x: tensor<?x2xbf16> {k2.name = "pair"}, %w: !k2.quantized<[3, 2], f8E4M3FN, block = [2, 1], scale = f32> {k2.name = "q"}) -> tensor<?x3xbf16> {
  %0 = k2.linear %x, %w : tensor<?x2xbf16>, !k2.quantized<[3, 2], f8E4M3FN, block = [2, 1], scale = f32> -> tensor<?x3xbf16>
  return %0 : tensor<?x3xbf16>
}
