// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// cp.async: 16-byte pieces, one lane group per row, zero fill by the source size. 64-bit row arithmetic, immediates for the registers' rows.

!b = !tile.buffer<2x8x64xbf16, #tile.shared<swizzle = 128>>

// A dynamic number of rows masks rows; 1000 columns cut the tile at column 960: 64 - 24 elements are missing there.
// CHECK-LABEL: gpu.module @masked
tile.kernel @masked(%x: memref<?x1000xbf16>, %m: i32, %k: i32, %s: i32) attributes {num_warps = 1} {
  %b = tile.alloc_shared {offset = 0 : i64} : !b
  // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[C1000:.*]] = arith.constant 1000 : i32
  // CHECK: %[[LEFT:.*]] = arith.subi %[[C1000]], %[[COL:.*]] : i32
  // CHECK: %[[MOST:.*]] = arith.maxsi %[[LEFT]], %c0_i32
  // CHECK: %[[ELEMENTS:.*]] = arith.minsi %[[MOST]], %[[C8]]
  // CHECK: %[[BYTES:.*]] = arith.muli %[[ELEMENTS]], %[[C2]]
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[COL]], %[[C1000]]
  // CHECK: %[[SIZE:.*]] = arith.select %[[INSIDE]], %[[BYTES]], %c0_i32
  // CHECK: %[[THIS:.*]] = arith.select %{{.*}}, %[[SIZE]], %c0_i32
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[THIS]] : !llvm.ptr<3>, !llvm.ptr<1>, i32
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}}
  // CHECK-NOT: nvvm.cp.async.shared.global
  tile.copy_async %x[%m, %k] to %b[%s] : memref<?x1000xbf16> to !b
  // CHECK: nvvm.cp.async.commit.group
  tile.commit_group
  // CHECK: nvvm.cp.async.wait.group 1
  tile.wait_group 1
  tile.return
}

// -----

!b = !tile.buffer<1x8x64xbf16, #tile.shared<swizzle = 128>>

// A tile that lies inside its view has no mask at all; narrower pieces go through L1.
// CHECK-LABEL: gpu.module @inside
tile.kernel @inside(%x: memref<8x64xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %b = tile.alloc_shared {offset = 0 : i64} : !b
  // CHECK-NOT: arith.cmpi
  // CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  // CHECK-NOT: nvvm.cp.async.shared.global
  tile.copy_async %x[%c0, %c0] to %b[%c0] {vector_bytes = 8 : i32} : memref<8x64xbf16> to !b
  tile.return
}

// -----

#ids = #tile.linear<reg = [[4]], lane = [[0], [0], [0], [1], [2]], warp = []>
!b = !tile.buffer<1x8x64xbf16, #tile.shared<swizzle = 128>>

// Gathered rows: each piece's row number comes from the index tile; numbers below 0 fail the unsigned comparison and read nothing.
// CHECK-LABEL: gpu.module @gather
tile.kernel @gather(%x: memref<?x64xbf16>, %ids: memref<8xi32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %b = tile.alloc_shared {offset = 0 : i64} : !b
  %id = tile.load %ids[%c0] : memref<8xi32> -> tensor<8xi32, #ids>
  // CHECK: %[[FIRST:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
  // CHECK: %[[SECOND:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
  // CHECK: %[[ROW:.*]] = arith.extsi %[[FIRST]] : i32 to i64
  // CHECK: arith.muli %[[ROW]], %c64_i64
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[FIRST]], %{{.*}}
  // CHECK: %[[BYTES:.*]] = arith.select %[[IN]], %c16_i32, %c0_i32
  // CHECK: nvvm.cp.async.shared.global {{.*}}, %[[BYTES]]
  // CHECK: arith.extsi %[[SECOND]] : i32 to i64
  tile.copy_async %x[%c0] rows %id : tensor<8xi32, #ids> to %b[%c0] : memref<?x64xbf16> to !b
  tile.return
}
