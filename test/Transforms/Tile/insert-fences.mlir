// RUN: k2-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-insert-fences))" --split-input-file | FileCheck %s
// One barrier between the write of a buffer and its reads, and between a read and the next write, around loops, too.

#l = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = []>
!b = !tile.buffer<2x64x64xbf16, #tile.shared<swizzle = 128>>
!t = tensor<64x64xbf16, #l>

// CHECK-LABEL: tile.kernel @straight
tile.kernel @straight(%x: memref<64x64xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %a = tile.alloc_shared : !b
  %c = tile.alloc_shared : !b
  // CHECK: tile.copy_async
  // CHECK-NEXT: tile.copy_async
  // CHECK-NEXT: tile.commit_group
  // CHECK-NEXT: tile.wait_group 0
  tile.copy_async %x[%c0, %c0] to %a[%c0] : memref<64x64xbf16> to !b
  tile.copy_async %x[%c0, %c0] to %c[%c0] : memref<64x64xbf16> to !b
  tile.commit_group
  tile.wait_group 0
  // One barrier serves both buffers.
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load_shared
  // CHECK-NEXT: tile.load_shared
  %l0 = tile.load_shared %a[%c0] : !b -> !t
  %l1 = tile.load_shared %c[%c0] : !b -> !t
  // Overwriting what was read needs another.
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.store_shared
  tile.store_shared %l0, %c[%c0] : !t, !b
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load_shared
  %l2 = tile.load_shared %c[%c0] : !b -> !t
  // CHECK-NEXT: tile.return
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = []>
!b = !tile.buffer<2x64x64xbf16, #tile.shared<swizzle = 128>>
!t = tensor<64x64xbf16, #l>

// A pipelined loop needs one barrier per iteration: it covers the data that arrived and the slot that the next copy overwrites. It stands before the branch.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%x: memref<64x64xbf16>, %n: i32, %s: i32) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tile.alloc_shared : !b
  // CHECK: tile.copy_async
  tile.copy_async %x[%c0, %c0] to %a[%c0] : memref<64x64xbf16> to !b
  tile.commit_group
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK-NEXT: tile.wait_group 0
    // CHECK-NEXT: arith.cmpi
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: scf.if
    tile.wait_group 0
    %in = arith.cmpi slt, %i, %n : i32
    scf.if %in {
      // CHECK-NEXT: tile.copy_async
      tile.copy_async %x[%c0, %i] to %a[%s] : memref<64x64xbf16> to !b
    }
    tile.commit_group
    // CHECK: tile.commit_group
    // CHECK-NEXT: tile.load_shared
    // CHECK-NOT: tile.barrier
    %t = tile.load_shared %a[%c0] : !b -> !t
  }
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = []>
!b = !tile.buffer<2x64x64xbf16, #tile.shared<swizzle = 128>>
!t = tensor<64x64xbf16, #l>

// The reads of one dot stay together: the barrier for the second goes before the first.
// CHECK-LABEL: tile.kernel @together
tile.kernel @together(%x: memref<64x64xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %a = tile.alloc_shared : !b
  %c = tile.alloc_shared : !b
  tile.copy_async %x[%c0, %c0] to %c[%c0] : memref<64x64xbf16> to !b
  tile.commit_group
  // CHECK: tile.wait_group 0
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load_shared
  // CHECK-NEXT: tile.load_shared
  // CHECK-NEXT: tile.return
  tile.wait_group 0
  %l0 = tile.load_shared %a[%c0] : !b -> !t
  %l1 = tile.load_shared %c[%c0] : !b -> !t
  tile.return
}
