// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse | FileCheck %s
// The kernel ABI: per view an aligned global pointer and an i32 per dynamic extent, scalars as themselves, one gpu.module per kernel.

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @first [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] attributes {tile.shared_bytes = 0 : i64}
// CHECK: llvm.func @first(%[[X:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[X0:.*]]: i32, %[[X1:.*]]: i32, %[[N:.*]]: i32, %[[S:.*]]: f32, %[[Y:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64})
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>
tile.kernel @first(%x: memref<?x?x8xi32, strided<[64, 8, 1]>>, %n: i32, %s: f32, %y: memref<4xi32>) attributes {num_warps = 8} {
  %c0 = arith.constant 0 : i32
  %d = tile.dim %x, 1 : memref<?x?x8xi32, strided<[64, 8, 1]>>
  // CHECK: %[[BX:.*]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK: %[[BY:.*]] = nvvm.read.ptx.sreg.ctaid.y
  // CHECK: %[[BZ:.*]] = nvvm.read.ptx.sreg.ctaid.z
  %bx = tile.cta_id x
  %by = tile.cta_id y
  %bz = tile.cta_id z
  // CHECK: %[[A:.*]] = arith.addi %[[X1]], %[[BX]]
  %a = arith.addi %d, %bx : i32
  // CHECK: %[[B:.*]] = arith.addi %[[BY]], %[[BZ]]
  %b = arith.addi %by, %bz : i32
  // CHECK: %[[R:.*]] = arith.muli %[[A]], %[[B]]
  %r = arith.muli %a, %b : i32
  // One thread stores.
  // CHECK: %[[ID:.*]] = nvvm.read.ptx.sreg.tid.x range <i32, 0, 256>
  // CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[ID]], %c0_i32
  // CHECK: scf.if %[[ONE]] {
  // CHECK-NEXT: llvm.store %[[R]], %[[Y]]
  tile.store_scalar %r, %y[%c0] : i32, memref<4xi32>
  // CHECK: llvm.return
  tile.return
}

// CHECK: gpu.module @second
// CHECK: llvm.func @second(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[I:.*]]: i32)
tile.kernel @second(%x: memref<512x4096xi32, strided<[4096, 1]>>, %i: i32) attributes {num_warps = 1} {
  // Offsets of scalars are i64 from the row up.
  // CHECK: %[[WIDE:.*]] = arith.extsi %[[I]] : i32 to i64
  // CHECK: %[[ROW:.*]] = arith.muli %[[WIDE]], %c4096_i64
  // CHECK: %[[OFFSET:.*]] = arith.addi %[[ROW]], %[[WIDE]]
  // CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  // CHECK: llvm.load %[[P]] : !llvm.ptr<1> -> i32
  %v = tile.load_scalar %x[%i, %i] : memref<512x4096xi32, strided<[4096, 1]>> -> i32
  tile.store_scalar %v, %x[%i, %i] : i32, memref<512x4096xi32, strided<[4096, 1]>>
  tile.return
}
