// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// Vector widths, masks and the zero fill of block accesses.

#row = #tile.linear<reg = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = []>

// 16-byte accesses, the odd factor in registers (768 = 3 * 256); only the row needs a mask and one branch serves all vectors.
// CHECK-LABEL: llvm.func @aligned(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[ROWS:.*]]: i32)
tile.kernel @aligned(%x: memref<?x768xbf16>) attributes {num_warps = 1} {
  %t = tile.cta_id x
  %c0 = arith.constant 0 : i32
  // CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[T]], %[[ROWS]]
  // CHECK: %[[V:.*]]:3 = scf.if %[[INSIDE]] -> (vector<8xbf16>, vector<8xbf16>, vector<8xbf16>)
  // CHECK-COUNT-3: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
  // CHECK: } else {
  // CHECK: scf.yield %[[Z:[a-z0-9_]+]], %[[Z]], %[[Z]]
  %v = tile.load %x[%t, %c0] : memref<?x768xbf16> -> tensor<1x768xbf16, #row>
  // CHECK: scf.if %[[INSIDE]] {
  // CHECK-COUNT-3: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
  tile.store %v, %x[%t, %c0] : tensor<1x768xbf16, #row>, memref<?x768xbf16>
  tile.return
}

// -----

#row = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [0, 256]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = []>

// 500 columns in a tile of 512: 500 = 4 * 125, so no vector of 4 is cut, and each has its own mask. The pitch of 504 elements has 16-byte rows.
// CHECK-LABEL: llvm.func @tail(
tile.kernel @tail(%x: memref<8x500xbf16, strided<[504, 1]>>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  // CHECK: arith.cmpi ult, %{{.*}}, %c500_i32
  // CHECK: scf.if %{{.*}} -> (vector<4xbf16>)
  // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xbf16>
  %v = tile.load %x[%c0, %c0] : memref<8x500xbf16, strided<[504, 1]>> -> tensor<1x512xbf16, #row>
  tile.store %v, %x[%c0, %c0] : tensor<1x512xbf16, #row>, memref<8x500xbf16, strided<[504, 1]>>
  tile.return
}

// -----

#row = #tile.linear<reg = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = []>

// An odd extent leaves scalars; so does a bound of which nothing is known.
// CHECK-LABEL: llvm.func @odd(
tile.kernel @odd(%x: memref<8x255xf32, strided<[256, 1]>>, %n: i32) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  // CHECK-NOT: llvm.load
  %v = tile.load %x[%c0, %c0] : memref<8x255xf32, strided<[256, 1]>> -> tensor<1x256xf32, #row>
  // CHECK: %[[POSITIVE:.*]] = arith.maxsi %{{.*}}, %c0_i32
  // CHECK: %[[LIMIT:.*]] = arith.minsi %[[POSITIVE]], %c255_i32
  // CHECK: arith.cmpi ult, %{{.*}}, %[[LIMIT]]
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32
  tile.store %v, %x[%c0, %c0] bounds [%n, %n] : tensor<1x256xf32, #row>, memref<8x255xf32, strided<[256, 1]>>
  tile.return
}

// -----

#panel = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [4, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = []>

// Inside a loop the column is a multiple of 64 below 512: no mask for the columns, 16 bytes each. The row is masked per register.
// CHECK-LABEL: llvm.func @loop(
// CHECK-SAME: %[[ROWS:arg[0-9]+]]: i32, %[[FIRST:arg[0-9]+]]: i32,
tile.kernel @loop(%x: memref<?x512xbf16>, %row: i32, %y: memref<8x64xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  // CHECK: scf.for
  scf.for %k = %c0 to %c8 step %c1 : i32 {
    %column = arith.muli %k, %c64 : i32
    // CHECK-NOT: arith.cmpi ult, %{{.*}}, %c512
    // CHECK: %[[LOW:.*]] = arith.addi %[[FIRST]], %{{.*}}
    // CHECK: arith.cmpi ult, %[[LOW]], %[[ROWS]]
    // CHECK: arith.cmpi ult, %{{.*}}, %[[ROWS]]
    // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
    %v = tile.load %x[%row, %column] : memref<?x512xbf16> -> tensor<8x64xbf16, #panel>
    // CHECK-NOT: scf.if
    // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>
    tile.store %v, %y[%c0, %c0] : tensor<8x64xbf16, #panel>, memref<8x64xbf16>
  }
  tile.return
}

// -----

#copies = #tile.linear<reg = [[0, 1], [0, 0]], lane = [[0, 2], [0, 4], [0, 0], [0, 0], [0, 8]], warp = [[0, 0], [0, 16]]>

// Copies in registers, lanes (bits 2 and 3) and warps (bit 0) are not stored.
// CHECK-LABEL: llvm.func @owners(
tile.kernel @owners(%y: memref<1x32xf32>, %s: f32) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : i32
  %v = tile.splat %s : f32 -> tensor<1x32xf32, #copies>
  // CHECK-DAG: %[[LANE:.*]] = arith.andi %{{.*}}, %c12_i32
  // CHECK-DAG: %[[LANE0:.*]] = arith.cmpi eq, %[[LANE]], %c0_i32
  // CHECK-DAG: %[[WARP:.*]] = arith.andi %{{.*}}, %c1_i32
  // CHECK-DAG: %[[WARP0:.*]] = arith.cmpi eq, %[[WARP]], %c0_i32
  // CHECK: %[[OWNER:.*]] = arith.andi %[[LANE0]], %[[WARP0]]
  // CHECK: scf.if %[[OWNER]] {
  // CHECK-NEXT: %[[PAIR:.*]] = vector.broadcast
  // CHECK-NEXT: llvm.store %[[PAIR]], %{{.*}} {alignment = 8 : i64} : vector<2xf32>
  // CHECK-NEXT: }
  tile.store %v, %y[%c0, %c0] : tensor<1x32xf32, #copies>, memref<1x32xf32>
  tile.return
}

// -----

#bytes = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[0, 16], [0, 32], [0, 64], [1, 0], [2, 0]], warp = []>

// 8-bit floats are held as i8; the expert is a leading, checked dim and its stride an i64.
// CHECK-LABEL: llvm.func @experts(
tile.kernel @experts(%w: memref<384x2048x7168xf8E4M3FN>, %e: i32, %n: i32) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  // CHECK-DAG: arith.constant 14680064 : i64
  // CHECK-DAG: arith.cmpi ult, %{{.*}}, %c384_i32
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<16xi8>
  %v = tile.load %w[%e, %n, %c0] : memref<384x2048x7168xf8E4M3FN> -> tensor<4x128xf8E4M3FN, #bytes>
  tile.store %v, %w[%e, %n, %c0] : tensor<4x128xf8E4M3FN, #bytes>, memref<384x2048x7168xf8E4M3FN>
  tile.return
}

// -----

#pages = #tile.linear<reg = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = []>

// A tile of whole experts spans more than an i32: the thread's share is i64.
// CHECK-LABEL: llvm.func @far(
tile.kernel @far(%x: memref<4x16xi32, strided<[1073741824, 1]>>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  // CHECK: %[[ROW:.*]] = arith.extui %{{.*}} : i32 to i64
  // CHECK: arith.muli %[[ROW]], %c1073741824_i64
  // CHECK: llvm.load
  %v = tile.load %x[%c0, %c0] : memref<4x16xi32, strided<[1073741824, 1]>> -> tensor<4x16xi32, #pages>
  tile.store %v, %x[%c0, %c0] : tensor<4x16xi32, #pages>, memref<4x16xi32, strided<[1073741824, 1]>>
  tile.return
}
