// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// Reductions: registers as a tree, lanes by shuffles with ascending masks, warps through scratch between two barriers.

#acc = #tile.linear<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#sum = #tile.linear<reg = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>

// The columns of a 16x16 mma accumulator: registers 0, 1, 4, 5 are row g, the others row g + 8; masks 1 and 2; no shared memory.
// CHECK-LABEL: gpu.module @columns
// CHECK-SAME: tile.shared_bytes = 0
tile.kernel @columns(%s: f32, %y: memref<16x1xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %i = tile.iota axis 1 : tensor<16x16xi32, #acc>
  %t = arith.sitofp %i : tensor<16x16xi32, #acc> to tensor<16x16xf32, #acc>
  // CHECK: %[[E:.*]]:8 = vector.to_elements
  // CHECK: %[[A:.*]] = arith.addf %[[E]]#0, %[[E]]#1
  // CHECK: %[[B:.*]] = arith.addf %[[E]]#4, %[[E]]#5
  // CHECK: %[[C:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK: %[[D:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[C]], %c1_i32, %c31_i32
  // CHECK: %[[F:.*]] = arith.addf %[[C]], %[[D]]
  // CHECK: %[[G:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[F]], %c2_i32, %c31_i32
  // CHECK: %[[LOW:.*]] = arith.addf %[[F]], %[[G]]
  // CHECK: arith.addf %[[E]]#2, %[[E]]#3
  // CHECK: arith.addf %[[E]]#6, %[[E]]#7
  // CHECK-NOT: nvvm.barrier0
  // CHECK: scf.if
  // CHECK-NEXT: llvm.store %[[LOW]]
  %r = tile.reduce add axis 1 %t : tensor<16x16xf32, #acc> -> tensor<16x1xf32, #sum>
  tile.store %r, %y[%c0, %c0] : tensor<16x1xf32, #sum>, memref<16x1xf32>
  tile.return
}

// -----

#row = #tile.linear<reg = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[0, 64], [0, 0]]>
#one = #tile.linear<reg = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>

// 384 = 3 * 128 columns on two warps, the other two hold copies: 6 registers in a tree, five masks, then two partials per row from scratch
// (4 warps * 32 lanes * 4 bytes).
// CHECK-LABEL: gpu.module @warps
// CHECK-SAME: tile.shared_bytes = 512
// CHECK: llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
tile.kernel @warps(%x: memref<?x384xf32>, %y: memref<1xf32>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : i32
  %t = tile.load %x[%c0, %c0] : memref<?x384xf32> -> tensor<1x384xf32, #row>
  // CHECK-COUNT-5: arith.maximumf
  // CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c1_i32
  // CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c2_i32
  // CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c4_i32
  // CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c8_i32
  // CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c16_i32
  // CHECK: nvvm.barrier0
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
  // CHECK-NEXT: nvvm.barrier0
  // CHECK: %[[P0:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK: %[[P1:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK: arith.maximumf %[[P0]], %[[P1]]
  // CHECK-NOT: llvm.load %{{.*}} : !llvm.ptr<3>
  %r = tile.reduce maximum axis 1 %t : tensor<1x384xf32, #row> -> tensor<1x1xf32, #one>
  %s = tile.extract %r : tensor<1x1xf32, #one> -> f32
  tile.store_scalar %s, %y[%c0] : f32, memref<1xf32>
  tile.return
}

// -----

#row = #tile.linear<reg = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 0], [0, 0]], warp = []>
#one = #tile.linear<reg = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = []>

// Argmax carries pairs: larger value, else equal value and lower index. NaN enters as -inf.
// CHECK-LABEL: llvm.func @argmax
tile.kernel @argmax(%x: memref<1x16xf32>, %y: memref<1xi32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %t = tile.load %x[%c0, %c0] : memref<1x16xf32> -> tensor<1x16xf32, #row>
  // CHECK: %[[A:.*]] = arith.maxnumf %{{.*}}, %cst
  // CHECK: %[[B:.*]] = arith.maxnumf %{{.*}}, %cst
  // CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[B]], %[[A]]
  // CHECK: %[[EQUAL:.*]] = arith.cmpf oeq, %[[B]], %[[A]]
  // CHECK: %[[LOWER:.*]] = arith.cmpi slt, %[[IB:.*]], %[[IA:.*]] : i32
  // CHECK: %[[TIE:.*]] = arith.andi %[[EQUAL]], %[[LOWER]]
  // CHECK: %[[TAKE:.*]] = arith.ori %[[ABOVE]], %[[TIE]]
  // CHECK: %[[V:.*]] = arith.select %[[TAKE]], %[[B]], %[[A]] : f32
  // CHECK: %[[I:.*]] = arith.select %[[TAKE]], %[[IB]], %[[IA]] : i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[V]], %c1_i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[I]], %c1_i32
  %v, %i = tile.argmax axis 1 %t : tensor<1x16xf32, #row> -> tensor<1x1xf32, #one>, tensor<1x1xi32, #one>
  %s = tile.extract %i : tensor<1x1xi32, #one> -> i32
  tile.store_scalar %s, %y[%c0] : i32, memref<1xi32>
  tile.return
}

// -----

#list = #tile.linear<reg = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]>

// A prefix sum over register, lane and warp bits, then over the repeats of 384 = 3 * 128. Each lane bit is one shuffle per register.
// CHECK-LABEL: gpu.module @scan
// CHECK-SAME: tile.shared_bytes = 1536
tile.kernel @scan(%x: memref<384xi32>) attributes {num_warps = 2} {
  %c0 = arith.constant 0 : i32
  %t = tile.load %x[%c0] : memref<384xi32> -> tensor<384xi32, #list>
  // CHECK-COUNT-30: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: nvvm.barrier0
  // CHECK-COUNT-6: llvm.store %{{.*}} : i32, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK-COUNT-6: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  %s = tile.scan add axis 0 exclusive %t : tensor<384xi32, #list>
  tile.store %s, %x[%c0] : tensor<384xi32, #list>, memref<384xi32>
  tile.return
}
