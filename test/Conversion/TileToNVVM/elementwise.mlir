// RUN: k2-opt %s --convert-tile-to-nvvm | FileCheck %s
// arith, math and scf keep their ops on one vector per thread; flags and rounding points stay.

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>

// CHECK-LABEL: llvm.func @elementwise(
tile.kernel @elementwise(%x: memref<?x384xbf16>, %n: i32) attributes {num_warps = 1} {
  %t = tile.cta_id x
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: arith.constant dense<1.000000e+00> : vector<12xf32>
  %one = arith.constant dense<1.0> : tensor<1x384xf32, #l>
  // CHECK: %[[V:.*]] = vector.from_elements {{.*}} : vector<12xbf16>
  %v = tile.load %x[%t, %c0] : memref<?x384xbf16> -> tensor<1x384xbf16, #l>
  // CHECK: %[[B:.*]] = arith.mulf %[[V]], %[[V]] : vector<12xbf16>
  %b = arith.mulf %v, %v : tensor<1x384xbf16, #l>
  // CHECK: %[[F:.*]] = arith.extf %[[B]] : vector<12xbf16> to vector<12xf32>
  %f = arith.extf %b : tensor<1x384xbf16, #l> to tensor<1x384xf32, #l>
  // CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[F]]) -> (vector<12xf32>)  : i32 {
  %loop = scf.for %i = %c0 to %n step %c1 iter_args(%a = %f) -> (tensor<1x384xf32, #l>) : i32 {
    // CHECK: %[[E:.*]] = math.exp2 %[[A]] fastmath<afn> : vector<12xf32>
    %e = math.exp2 %a fastmath<afn> : tensor<1x384xf32, #l>
    // CHECK: %[[C:.*]] = arith.cmpf olt, %[[E]], %{{.*}} : vector<12xf32>
    %c = arith.cmpf olt, %e, %one : tensor<1x384xf32, #l>
    // CHECK: %[[S:.*]] = arith.select %[[C]], %[[E]], %[[A]] : vector<12xi1>, vector<12xf32>
    %s = arith.select %c, %e, %a : tensor<1x384xi1, #l>, tensor<1x384xf32, #l>
    // CHECK: scf.yield %[[S]] : vector<12xf32>
    scf.yield %s : tensor<1x384xf32, #l>
  }
  %some = arith.cmpi sgt, %n, %c0 : i32
  // CHECK: %[[IF:.*]] = scf.if %{{.*}} -> (vector<12xf32>) {
  %if = scf.if %some -> (tensor<1x384xf32, #l>) {
    // CHECK: arith.divf %[[LOOP]], %[[F]] : vector<12xf32>
    %d = arith.divf %loop, %f : tensor<1x384xf32, #l>
    scf.yield %d : tensor<1x384xf32, #l>
  } else {
    scf.yield %loop : tensor<1x384xf32, #l>
  }
  // CHECK: arith.truncf %[[IF]] : vector<12xf32> to vector<12xbf16>
  %r = arith.truncf %if : tensor<1x384xf32, #l> to tensor<1x384xbf16, #l>
  tile.store %r, %x[%t, %c0] : tensor<1x384xbf16, #l>, memref<?x384xbf16>
  tile.return
}
