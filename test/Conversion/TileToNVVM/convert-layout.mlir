// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// A renaming costs nothing; everything else goes through scratch.

#a = #tile.linear<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<reg = [[8, 0], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

// CHECK-LABEL: gpu.module @rename
// CHECK-SAME: tile.shared_bytes = 0
// CHECK-NOT: nvvm.barrier0
tile.kernel @rename(%x: memref<16x8xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %t = tile.load %x[%c0, %c0] : memref<16x8xf32> -> tensor<16x8xf32, #a>
  %r = tile.convert_layout %t : tensor<16x8xf32, #a> -> tensor<16x8xf32, #b>
  tile.store %r, %x[%c0, %c0] : tensor<16x8xf32, #b>, memref<16x8xf32>
  tile.return
}

// -----

#a = #tile.linear<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#c = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>

// 16 * 8 * 4 bytes of scratch; 4 elements out, 4 in.
// CHECK-LABEL: gpu.module @shared
// CHECK-SAME: tile.shared_bytes = 512
tile.kernel @shared(%x: memref<16x8xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %t = tile.load %x[%c0, %c0] : memref<16x8xf32> -> tensor<16x8xf32, #a>
  // CHECK: nvvm.barrier0
  // CHECK-COUNT-4: llvm.store %{{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  %r = tile.convert_layout %t : tensor<16x8xf32, #a> -> tensor<16x8xf32, #c>
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  tile.store %r, %x[%c0, %c0] : tensor<16x8xf32, #c>, memref<16x8xf32>
  tile.return
}
