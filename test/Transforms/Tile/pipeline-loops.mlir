// RUN: k2-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-pipeline-loops,canonicalize,cse))" --split-input-file | FileCheck %s
// RUN: k2-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-pipeline-loops))" --split-input-file --remarks-filter=tile-pipeline-loops --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Operands of dots go through shared buffers, two iterations ahead; every copy is guarded, committed and waited for.

// CHECK-LABEL: tile.kernel @gemm
tile.kernel @gemm(%x: memref<?x1024xbf16>, %w: memref<256x1024xbf16>, %y: memref<?x256xf32>, %K: i32) attributes {num_warps = 4} {
  // CHECK-DAG: %[[A:.*]] = tile.alloc_shared : <3x64x64xbf16, #tile.shared<swizzle = 128>>
  // CHECK-DAG: %[[B:.*]] = tile.alloc_shared : <3x64x64xbf16, #tile.shared<swizzle = 128>>
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %m = tile.cta_id x
  %r = arith.muli %m, %c64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // The prologue starts iterations 0 and 1 if they exist.
  // CHECK: %[[HAS0:.*]] = arith.cmpi sgt, %[[K:.*]], %[[C0]]
  // CHECK: scf.if %[[HAS0]] {
  // CHECK-NEXT: tile.copy_async %{{.*}}[%[[R:.*]], %[[C0]]] to %[[A]][%[[C0]]]
  // CHECK-NEXT: tile.copy_async %{{.*}}[%[[C0]], %[[C0]]] to %[[B]][%[[C0]]]
  // CHECK: tile.commit_group
  // CHECK: %[[HAS1:.*]] = arith.cmpi sgt, %[[K]], %[[C64]]
  // CHECK: scf.if %[[HAS1]] {
  // CHECK: tile.copy_async %{{.*}}[%[[R]], %[[C64]]] to %[[A]][%[[C1]]]
  // CHECK: tile.commit_group
  // CHECK: scf.for %[[IV:.*]] = %[[C0]] to %[[K]] step %[[C64]] iter_args(%{{.*}}, %[[STAGE:.*]] = %[[C0]])
  %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<64x64xf32>) : i32 {
    // CHECK: tile.wait_group 1
    // CHECK: %[[AHEAD:.*]] = arith.addi %[[IV]], %{{.*}}
    // CHECK: %[[SLOT:.*]] = arith.select %{{.*}}, %[[C2]], %{{.*}}
    // CHECK: %[[IN:.*]] = arith.cmpi slt, %[[AHEAD]], %[[K]]
    // CHECK: scf.if %[[IN]] {
    // CHECK: tile.copy_async %{{.*}}[%[[R]], %[[AHEAD]]] to %[[A]][%[[SLOT]]]
    // CHECK: tile.copy_async %{{.*}}[%[[C0]], %[[AHEAD]]] to %[[B]][%[[SLOT]]]
    // CHECK: tile.commit_group
    // CHECK-DAG: tile.load_shared %[[A]][%[[STAGE]]]
    // CHECK-DAG: tile.load_shared %[[B]][%[[STAGE]]]
    // CHECK: tile.dot
    // CHECK-NOT: tile.load %
    %a = tile.load %x[%r, %k] : memref<?x1024xbf16> -> tensor<64x64xbf16>
    %b = tile.load %w[%c0, %k] : memref<256x1024xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %a, %b, %c {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[%r, %c0] : tensor<64x64xf32>, memref<?x256xf32>
  tile.return
}

// -----

// An invariant operand is copied once and read again in the loop; a latent tile serves as B of one dot and, its first columns, of another. The page number
// is loaded ahead, too. Stages come from the schedule.
// CHECK-LABEL: tile.kernel @attention
tile.kernel @attention(%q: memref<64x80xbf16>, %cache: memref<?x64x80xbf16>, %table: memref<?xi32>, %y: memref<64x64xf32>, %n: i32)
    attributes {num_warps = 4, schedule = #tile.schedule<stages = 2>} {
  // CHECK: %[[Q:.*]] = tile.alloc_shared : <1x64x80xbf16, #tile.shared<swizzle = 32>>
  // CHECK: %[[C:.*]] = tile.alloc_shared : <2x64x80xbf16, #tile.shared<swizzle = 32>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tile.copy_async %{{.*}} to %[[Q]]
  // The loop's first wait covers it.
  // CHECK-NEXT: tile.commit_group
  // CHECK-NOT: tile.wait_group
  %a = tile.load %q[%c0, %c0] : memref<64x80xbf16> -> tensor<64x80xbf16>
  // CHECK: scf.if
  // CHECK: %[[PAGE:.*]] = tile.load_scalar
  // CHECK: tile.copy_async %{{.*}}[%[[PAGE]], %{{.*}}, %{{.*}}] to %[[C]]
  // CHECK: scf.for
  %o = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    // CHECK: tile.wait_group 0
    // CHECK: scf.if
    // CHECK: tile.load_scalar
    // CHECK: tile.copy_async
    %page = tile.load_scalar %table[%j] : memref<?xi32> -> i32
    %c = tile.load %cache[%page, %c0, %c0] : memref<?x64x80xbf16> -> tensor<64x80xbf16>
    // CHECK: tile.load_shared %[[Q]]
    // CHECK: tile.load_shared %[[C]][%[[S:.*]]] : {{.*}} -> tensor<64x80xbf16>
    %s = tile.dot %a, %c, %zero {b_transposed} : tensor<64x80xbf16>, tensor<64x80xbf16>, tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xbf16>
    // CHECK: tile.load_shared %[[C]][%[[S]]] offsets [0, 0] : {{.*}} -> tensor<64x64xbf16>
    %v = tile.slice %c [0, 0] : tensor<64x80xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %p, %v, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %o, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// -----

// e4m3 weights are staged as bytes and widened after the read; gathered rows keep their index tile.
// CHECK-LABEL: tile.kernel @expert
tile.kernel @expert(%x: memref<?x128xbf16>, %ids: memref<64xi32>, %w: memref<64x128xf8E4M3FN>, %y: memref<64x64xf32>) attributes {num_warps = 4} {
  // CHECK-DAG: tile.alloc_shared : <1x64x128xbf16, #tile.shared<swizzle = 128>>
  // CHECK-DAG: %[[W:.*]] = tile.alloc_shared : <1x64x128xf8E4M3FN, #tile.shared<swizzle = 128>>
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: %[[IDS:.*]] = tile.load
  %id = tile.load %ids[%c0] : memref<64xi32> -> tensor<64xi32>
  // CHECK: tile.copy_async %{{.*}}[%{{.*}}] rows %[[IDS]] : tensor<64xi32> to
  %a = tile.gather %x[%c0] rows %id : memref<?x128xbf16>, tensor<64xi32> -> tensor<64x128xbf16>
  // Both copies are under way before one is waited for.
  // CHECK-NEXT: tile.commit_group
  // CHECK-NEXT: tile.copy_async
  // CHECK-NEXT: tile.commit_group
  // CHECK-NEXT: tile.wait_group 0
  %b8 = tile.load %w[%c0, %c0] : memref<64x128xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
  // CHECK: %[[B8:.*]] = tile.load_shared %[[W]]
  // CHECK: tile.convert %[[B8]]
  %b = tile.convert %b8 : tensor<64x128xf8E4M3FN> -> tensor<64x128xbf16>
  %d = tile.dot %a, %b, %zero {b_transposed} : tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// -----

// A loop that stores, or whose indices are carried, waits for its copies where the loads stand.
// REMARK-DAG: remark: [Passed] Stages {{.*}}Function=gemm | {{.*}}3 stages of 16384 bytes in 1 loops
// REMARK-DAG: remark: [Missed] StagedLoad {{.*}}Function=in_place | {{.*}}the loop stores to global memory
// REMARK-DAG: remark: [Missed] StagedLoad {{.*}}Function=in_place | {{.*}}its place is not known an iteration ahead
// CHECK-LABEL: tile.kernel @in_place
tile.kernel @in_place(%x: memref<?x64xbf16>, %y: memref<?x64xbf16>, %n: i32) attributes {num_warps = 4} {
  // CHECK: tile.alloc_shared : <1x64x64xbf16
  // CHECK: tile.alloc_shared : <1x64x64xbf16
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c64 : i32 {
    // CHECK-NEXT: tile.copy_async
    // CHECK-NEXT: tile.commit_group
    // CHECK-NEXT: tile.wait_group 0
    %a = tile.load %x[%i, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %a, %a, %zero {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %r = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xbf16>
    tile.store %r, %y[%i, %c0] : tensor<64x64xbf16>, memref<?x64xbf16>
  }
  // CHECK: scf.for
  %last:2 = scf.for %i = %c0 to %n step %c64 iter_args(%row = %c0, %c = %zero) -> (i32, tensor<64x64xf32>) : i32 {
    // CHECK-NEXT: tile.copy_async
    // CHECK-NEXT: tile.commit_group
    // CHECK-NEXT: tile.wait_group 0
    %a = tile.load %x[%row, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %a, %a, %c {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %next = arith.addi %row, %c64 : i32
    scf.yield %next, %d : i32, tensor<64x64xf32>
  }
  %r = arith.truncf %last#1 : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %y[%c0, %c0] : tensor<64x64xbf16>, memref<?x64xbf16>
  tile.return
}
