// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// Shape ops rename registers; coordinates come from the layout.

#row = #tile.linear<reg = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = []>
#sum = #tile.linear<reg = [], lane = [[0, 0], [0, 0], [0, 0], [1, 0], [2, 0]], warp = []>
#cube = #tile.linear<reg = [[0, 0, 1]], lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [1, 0, 0], [2, 0, 0]], warp = []>
#flip = #tile.linear<reg = [[1, 0]], lane = [[2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], warp = []>

// 4x48 = 3 repeats of 16 columns: registers 2r, 2r+1 are columns 16r + 2l, 16r + 2l + 1.
// CHECK-LABEL: llvm.func @iota
tile.kernel @iota(%y: memref<4x48xi32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  // CHECK: %[[ID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[LANE:.*]] = arith.andi %[[ID]], %c31_i32
  // CHECK: %[[L:.*]] = arith.andi %[[LANE]], %c7_i32
  // CHECK: %[[C0:.*]] = arith.shli %[[L]], %c1_i32
  // CHECK: %[[C1:.*]] = arith.addi %[[C0]], %c1_i32
  // CHECK: %[[C2:.*]] = arith.addi %[[C0]], %c16_i32
  // CHECK: %[[C3:.*]] = arith.addi %[[C0]], %c17_i32
  // CHECK: %[[C4:.*]] = arith.addi %[[C0]], %c32_i32
  // CHECK: %[[C5:.*]] = arith.addi %[[C0]], %c33_i32
  // CHECK: vector.from_elements %[[C0]], %[[C1]] : vector<2xi32>
  // CHECK: vector.from_elements %[[C2]], %[[C3]] : vector<2xi32>
  // CHECK: vector.from_elements %[[C4]], %[[C5]] : vector<2xi32>
  %i = tile.iota axis 1 : tensor<4x48xi32, #row>
  tile.store %i, %y[%c0, %c0] : tensor<4x48xi32, #row>, memref<4x48xi32>
  tile.return
}

// -----

#row = #tile.linear<reg = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = []>
#sum = #tile.linear<reg = [], lane = [[0, 0], [0, 0], [0, 0], [1, 0], [2, 0]], warp = []>
#cube = #tile.linear<reg = [[0, 0, 1]], lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [1, 0, 0], [2, 0, 0]], warp = []>
#flip = #tile.linear<reg = [[1, 0]], lane = [[2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], warp = []>

// Broadcast, reshape, transpose and slice leave every element in its thread.
// CHECK-LABEL: llvm.func @renames(
// CHECK-SAME: %[[S:[a-z0-9]+]]: f32
tile.kernel @renames(%s: f32, %x: memref<4x1xf32>, %y: memref<4x48xf32>, %z: memref<4x6x8xf32>, %w: memref<48x4xf32>, %v: memref<4x16xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  // CHECK: %[[X:.*]] = llvm.load
  %t = tile.load %x[%c0, %c0] : memref<4x1xf32> -> tensor<4x1xf32, #sum>
  %b = tile.broadcast %t : tensor<4x1xf32, #sum> -> tensor<4x48xf32, #row>
  // CHECK: %[[XX:.*]] = vector.broadcast %[[X]] : f32 to vector<2xf32>
  // CHECK-COUNT-3: llvm.store %[[XX]],
  tile.store %b, %y[%c0, %c0] : tensor<4x48xf32, #row>, memref<4x48xf32>
  %l = tile.load %y[%c0, %c0] : memref<4x48xf32> -> tensor<4x48xf32, #row>
  // CHECK: %[[A:.*]] = llvm.load %{{.*}} -> vector<2xf32>
  // CHECK: %[[B:.*]] = llvm.load %{{.*}} -> vector<2xf32>
  // CHECK: %[[C:.*]] = llvm.load %{{.*}} -> vector<2xf32>
  %r = tile.reshape %l : tensor<4x48xf32, #row> -> tensor<4x6x8xf32, #cube>
  // CHECK: llvm.store %[[A]],
  // CHECK: llvm.store %[[B]],
  // CHECK: llvm.store %[[C]],
  tile.store %r, %z[%c0, %c0, %c0] : tensor<4x6x8xf32, #cube>, memref<4x6x8xf32>
  // Columns 32 to 47 are the last repeat.
  %p = tile.slice %l [0, 32] : tensor<4x48xf32, #row> -> tensor<4x16xf32, #row>
  // CHECK: llvm.store %[[C]],
  tile.store %p, %v[%c0, %c0] : tensor<4x16xf32, #row>, memref<4x16xf32>
  %f = tile.transpose %l [1, 0] : tensor<4x48xf32, #row> -> tensor<48x4xf32, #flip>
  // CHECK-NOT: nvvm.shfl
  // CHECK-NOT: nvvm.barrier0
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32
  tile.store %f, %w[%c0, %c0] : tensor<48x4xf32, #flip>, memref<48x4xf32>
  tile.return
}
