// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse | FileCheck %s
// Row indices come from registers: i64 row offsets, one mask per distinct row, also for negative rows (the comparison is unsigned).

#tile = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [4, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = []>
#rows = #tile.linear<reg = [[4]], lane = [[0], [0], [0], [1], [2]], warp = []>

// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME: %[[X:arg[0-9]+]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[EXTENT:arg[0-9]+]]: i32, %[[IDS:arg[0-9]+]]: !llvm.ptr<1>
tile.kernel @rows(%x: memref<?x7168xbf16>, %ids: memref<8xi32>, %cache: memref<?x64x576xbf16>, %page: i32) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  // CHECK: %[[R0:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  // CHECK: %[[R1:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  %i = tile.load %ids[%c0] : memref<8xi32> -> tensor<8xi32, #rows>
  // CHECK: %[[IN0:.*]] = arith.cmpi ult, %[[R0]], %[[EXTENT]]
  // CHECK: %[[IN1:.*]] = arith.cmpi ult, %[[R1]], %[[EXTENT]]
  // CHECK: %[[W0:.*]] = arith.extsi %[[R0]] : i32 to i64
  // CHECK: %[[O0:.*]] = arith.muli %[[W0]], %c7168_i64
  // CHECK: llvm.getelementptr %{{.*}}[%[[O0]]]
  // CHECK: scf.if %[[IN0]] -> (vector<8xbf16>) {
  // CHECK-NEXT: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
  // CHECK: scf.if %[[IN1]] -> (vector<8xbf16>) {
  %g = tile.gather %x[%c64] rows %i : memref<?x7168xbf16>, tensor<8xi32, #rows> -> tensor<8x64xbf16, #tile>
  // The page is a checked leading dim, the row dim has 64 rows.
  // CHECK: %[[PAGE:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
  // CHECK: %[[ROW:.*]] = arith.cmpi ult, %[[R0]], %c64_i32
  // CHECK: %[[BOTH:.*]] = arith.andi %[[PAGE]], %[[ROW]]
  // CHECK: scf.if %[[BOTH]] {
  // CHECK-NEXT: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>
  tile.scatter %g, %cache[%page, %c0] rows %i : tensor<8x64xbf16, #tile>, memref<?x64x576xbf16>, tensor<8xi32, #rows>
  tile.return
}
