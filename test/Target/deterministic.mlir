// RUN: k2-opt %s --convert-tile-to-nvvm --k2c-nvvm-to-llvm --k2c-emit-ptx -o /dev/null > %t.first
// RUN: k2-opt %s --convert-tile-to-nvvm --k2c-nvvm-to-llvm --k2c-emit-ptx -o /dev/null > %t.second
// RUN: cmp %t.first %t.second
// RUN: FileCheck %s < %t.first
// Two runs give the same bytes, and a module with two kernels gives two PTX modules.

#rows = #tile.linear<reg = [[2], [4]], lane = [[0], [0], [0], [0], [1]], warp = []>
#tile = #tile.linear<reg = [[0, 1], [0, 2], [2, 0], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = []>

// CHECK: .visible .entry gather_rows(
tile.kernel @gather_rows(%x: memref<?x64xf32>, %y: memref<8x64xf32>, %ids: memref<8xi32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %i = tile.load %ids[%c0] : memref<8xi32> -> tensor<8xi32, #rows>
  %g = tile.gather %x[%c0] rows %i : memref<?x64xf32>, tensor<8xi32, #rows> -> tensor<8x64xf32, #tile>
  tile.store %g, %y[%c0, %c0] : tensor<8x64xf32, #tile>, memref<8x64xf32>
  tile.return
}
// CHECK: .visible .entry scatter_rows(
tile.kernel @scatter_rows(%x: memref<?x64xf32>, %y: memref<8x64xf32>, %ids: memref<8xi32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %i = tile.load %ids[%c0] : memref<8xi32> -> tensor<8xi32, #rows>
  %g = tile.load %y[%c0, %c0] : memref<8x64xf32> -> tensor<8x64xf32, #tile>
  tile.scatter %g, %x[%c0] rows %i : tensor<8x64xf32, #tile>, memref<?x64xf32>, tensor<8xi32, #rows>
  tile.return
}
