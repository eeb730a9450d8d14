// RUN: k2-opt %s --convert-tile-to-nvvm --k2c-nvvm-to-llvm --k2c-emit-ptx -o /dev/null | FileCheck %s
// The backend neither widens accesses (a fourth element after three could lie outside the view) nor splits vectors.

#all = #tile.linear<reg = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = []>
#row = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [0, 256]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = []>

// 15 elements in every thread, scalars because rows of 5 are not aligned; the 16th does not exist.
// CHECK: .visible .entry all(
// CHECK-NOT: ld.global.v
// CHECK-COUNT-15: ld.global.b32
// CHECK-NOT: ld.global
// CHECK: ret;
tile.kernel @all(%x: memref<3x5xf32>, %y: memref<3x5xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %v = tile.load %x[%c0, %c0] : memref<3x5xf32> -> tensor<3x5xf32, #all>
  %d = arith.addf %v, %v : tensor<3x5xf32, #all>
  tile.store %d, %y[%c0, %c0] : tensor<3x5xf32, #all>, memref<3x5xf32>
  tile.return
}

// Each thread's elements are used one by one in a shuffled order.
// CHECK: .visible .entry row(
// CHECK-COUNT-4: ld.global.v4.b32
// CHECK-NOT: ld.global.b32
// CHECK: ret;
tile.kernel @row(%x: memref<1x512xf32>, %y: memref<1x512xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %v = tile.load %x[%c0, %c0] : memref<1x512xf32> -> tensor<1x512xf32, #row>
  %b = arith.truncf %v : tensor<1x512xf32, #row> to tensor<1x512xbf16, #row>
  tile.store %b, %y[%c0, %c0] : tensor<1x512xbf16, #row>, memref<1x512xbf16>
  tile.return
}
