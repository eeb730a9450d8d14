// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// Shared buffers: offsets of the map as pointer arithmetic, the widest vectors, boxes, stages.

#rows = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [4, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = []>
!b = !tile.buffer<2x8x64xbf16, #tile.shared<swizzle = 128>>

// Eight lanes a row of 128 bytes, 16-byte vectors; the row number is XORed into the chunk number, so the address is base + (lane part ^ constant).
// Row 4 is offset 512 XOR 64: its bits meet the lanes' (chunk bits), those above become the immediate.
// CHECK-LABEL: gpu.module @rows
// CHECK-SAME: tile.shared_bytes = 2048
tile.kernel @rows(%x: memref<8x64xbf16>, %y: memref<8x64xbf16>, %s: i32) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
    // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
  // CHECK-DAG: %[[C1024:.*]] = arith.constant 1024 : i32
  // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %b = tile.alloc_shared {offset = 0 : i64} : !b
  %t = tile.load %x[%c0, %c0] : memref<8x64xbf16> -> tensor<8x64xbf16, #rows>
  // CHECK: %[[STAGE:.*]] = arith.muli %{{.*}}, %[[C1024]]
  // CHECK: %[[AT:.*]] = llvm.getelementptr %[[BASE]][%[[STAGE]]]
  // CHECK: %[[ROW0:.*]] = llvm.getelementptr %[[AT]][%[[LANES:.*]]] : (!llvm.ptr<3>, i32)
  // CHECK: llvm.store %{{.*}}, %[[ROW0]] {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
  // CHECK: %[[X:.*]] = arith.xori %[[LANES]], %[[C64]]
  // CHECK: %[[CHUNK:.*]] = llvm.getelementptr %[[AT]][%[[X]]]
  // CHECK: %[[ROW4:.*]] = llvm.getelementptr %[[CHUNK]][512]
  // CHECK: llvm.store %{{.*}}, %[[ROW4]] {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
  tile.store_shared %t, %b[%s] : tensor<8x64xbf16, #rows>, !b
  // CHECK: nvvm.barrier
  tile.barrier
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  %r = tile.load_shared %b[%s] : !b -> tensor<8x64xbf16, #rows>
  tile.store %r, %y[%c0, %c0] : tensor<8x64xbf16, #rows>, memref<8x64xbf16>
  tile.return
}

// -----

#box = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [4, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = []>
!b = !tile.buffer<1x8x192xbf16, #tile.shared<swizzle = 128>>

// The third panel of three starts at 2 * 8 * 128 bytes.
// CHECK-LABEL: gpu.module @panel
tile.kernel @panel(%y: memref<8x64xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
    %b = tile.alloc_shared {offset = 0 : i64} : !b
  // CHECK: llvm.getelementptr %{{.*}}[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: llvm.getelementptr %{{.*}}[2560] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %r = tile.load_shared %b[%c0] offsets [0, 128] : !b -> tensor<8x64xbf16, #box>
  tile.store %r, %y[%c0, %c0] : tensor<8x64xbf16, #box>, memref<8x64xbf16>
  tile.return
}

// -----

#copies = #tile.linear<reg = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [0, 0]], warp = []>
!b = !tile.buffer<1x8x16xbf16, #tile.shared<swizzle = 32>>

// Lanes that hold copies do not store.
// CHECK-LABEL: gpu.module @owners
tile.kernel @owners(%xf: f32) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %x = arith.truncf %xf : f32 to bf16
    %b = tile.alloc_shared {offset = 0 : i64} : !b
  %t = tile.splat %x : bf16 -> tensor<8x16xbf16, #copies>
  // CHECK: %[[COPY:.*]] = arith.andi %{{.*}}, %c16_i32
  // CHECK: %[[OWNER:.*]] = arith.cmpi eq, %[[COPY]], %c0_i32
  // CHECK: scf.if %[[OWNER]] {
  // CHECK: llvm.store {{.*}} : vector<8xbf16>, !llvm.ptr<3>
  // CHECK-NEXT: }
  tile.store_shared %t, %b[%c0] : tensor<8x16xbf16, #copies>, !b
  tile.return
}
