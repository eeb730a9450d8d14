// RUN: k2-opt %s --canonicalize | FileCheck %s
// A static extent folds to a constant, a dynamic one stays.

// CHECK-LABEL: tile.kernel @dims
tile.kernel @dims(%x: memref<?x64xf32>, %out: memref<4xi32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  // CHECK-DAG: %[[STATIC:.*]] = arith.constant 64 : i32
  // CHECK-DAG: %[[DYNAMIC:.*]] = tile.dim %{{.*}}, 0
  %d = tile.dim %x, 0 : memref<?x64xf32>
  %s = tile.dim %x, 1 : memref<?x64xf32>
  // CHECK: tile.store_scalar %[[DYNAMIC]]
  tile.store_scalar %d, %out[%c0] : i32, memref<4xi32>
  // CHECK: tile.store_scalar %[[STATIC]]
  tile.store_scalar %s, %out[%c0] : i32, memref<4xi32>
  tile.return
}
