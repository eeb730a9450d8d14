// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// A renaming costs nothing, moves inside a warp are shuffles and selects, everything else goes through scratch.

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
#c = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [8, 0], [1, 0], [2, 0], [4, 0]], warp = []>

// Inside a warp: lane bit 0 and register bit 1 change places. Half of the words stay, two cross to lane ^ 1 ... and lanes choose by selects.
// CHECK-LABEL: gpu.module @shuffles
// CHECK-SAME: tile.shared_bytes = 0
tile.kernel @shuffles(%x: memref<16x8xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %t = tile.load %x[%c0, %c0] : memref<16x8xf32> -> tensor<16x8xf32, #a>
  // CHECK-COUNT-4: nvvm.shfl.sync {{bfly|idx}}
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: arith.select
  %r = tile.convert_layout %t : tensor<16x8xf32, #a> -> tensor<16x8xf32, #c>
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  tile.store %r, %x[%c0, %c0] : tensor<16x8xf32, #c>, memref<16x8xf32>
  tile.return
}

// -----

#a = #tile.linear<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8]]>
#d = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0]]>

// Between warps: 16 rows of 128 bytes of scratch (half used, without conflicts); pairs out, four elements at a time in.
// CHECK-LABEL: gpu.module @shared
// CHECK-SAME: tile.shared_bytes = 2048
tile.kernel @shared(%x: memref<16x16xf32>) attributes {num_warps = 2} {
  %c0 = arith.constant 0 : i32
  %t = tile.load %x[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #a>
  // CHECK: nvvm.barrier0
  // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  %r = tile.convert_layout %t : tensor<16x16xf32, #a> -> tensor<16x16xf32, #d>
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  tile.store %r, %x[%c0, %c0] : tensor<16x16xf32, #d>, memref<16x16xf32>
  tile.return
}
