// RUN: k2-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-pipeline-loops))" --split-input-file --verify-diagnostics --remarks-filter=tile-pipeline-loops --remark-format=emitRemark | FileCheck %s
// What the row strides and indices guarantee decides the pieces; a remark says when it is less than 16 bytes.

// CHECK-LABEL: tile.kernel @eight
// CHECK: tile.copy_async {{.*}} {vector_bytes = 8 : i32}
tile.kernel @eight(%x: memref<?x100xbf16>, %y: memref<64x64xf32>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @below {{copied in pieces of 8 bytes: its rows are not known to be aligned to 16}}
  %a = tile.load %x[%c0, %c0] : memref<?x100xbf16> -> tensor<64x64xbf16>
  %d = tile.dot %a, %a, %zero {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// -----

// An index that is no known multiple counts as much as a stride.
// CHECK-LABEL: tile.kernel @index
// CHECK-NOT: tile.copy_async
tile.kernel @index(%x: memref<?x128xbf16>, %y: memref<64x64xf32>, %k: i32) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @below {{the dot reads this tile from global memory: its rows are only known to be aligned to 2 bytes}}
  %a = tile.load %x[%c0, %k] : memref<?x128xbf16> -> tensor<64x64xbf16>
  %d = tile.dot %a, %a, %zero {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// -----

// head * 192 + 128 is a multiple of 64.
// CHECK-LABEL: tile.kernel @head
// CHECK: tile.copy_async
// CHECK-NOT: vector_bytes
tile.kernel @head(%x: memref<?x12288xbf16>, %y: memref<64x64xf32>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %c192 = arith.constant 192 : i32
  %h = tile.cta_id x
  %hc = arith.muli %h, %c192 : i32
  %k = arith.addi %hc, %c128 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %x[%c0, %k] : memref<?x12288xbf16> -> tensor<64x64xbf16>
  %d = tile.dot %a, %a, %zero {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}
