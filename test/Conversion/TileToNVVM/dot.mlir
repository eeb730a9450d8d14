// RUN: k2-opt %s --convert-tile-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// tile.dot: which registers each mma.sync takes follows from the layouts; operands that only dots read are fetched from shared memory per k-step.

#a = #tile.linear<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<reg = [[1, 0], [8, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #tile.linear<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

// Operands in registers: words are pairs of neighbours, two column tiles.
// CHECK-LABEL: gpu.module @registers
tile.kernel @registers(%xf: f32, %y: memref<16x16xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %x = arith.truncf %xf : f32 to bf16
    // CHECK: %[[X:.*]] = vector.broadcast %{{.*}} : bf16 to vector<2xbf16>
  %a = tile.splat %x : bf16 -> tensor<16x16xbf16, #a>
  %b = tile.splat %x : bf16 -> tensor<16x16xbf16, #b>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #c>
  // CHECK: %[[D:.*]] = nvvm.mma.sync A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
  // CHECK: %[[E:.*]] = nvvm.mma.sync
  // CHECK-NOT: nvvm.mma.sync
  %d = tile.dot %a, %b, %zero : tensor<16x16xbf16, #a>, tensor<16x16xbf16, #b>, tensor<16x16xf32, #c>
  tile.store %d, %y[%c0, %c0] : tensor<16x16xf32, #c>, memref<16x16xf32>
  tile.return
}

// -----

#a = #tile.linear<reg = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#bt = #tile.linear<reg = [[0, 1], [0, 8], [0, 16], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#c = #tile.linear<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
!a = !tile.buffer<1x16x32xbf16, #tile.shared<swizzle = 64>>

// From shared memory: one x4 brings the A fragment of a k-step, one x4 the B fragments of two column tiles; k-steps do not overlap.
// CHECK-LABEL: gpu.module @shared
tile.kernel @shared(%y: memref<16x16xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
    %x = tile.alloc_shared {offset = 0 : i64} : !a
  %w = tile.alloc_shared {offset = 1024 : i64} : !a
  %a = tile.load_shared %x[%c0] : !a -> tensor<16x32xbf16, #a>
  %b = tile.load_shared %w[%c0] : !a -> tensor<16x32xbf16, #bt>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #c>
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK: nvvm.ldmatrix %{{.*}} {{.*}}num = 4 : i32
  // CHECK-COUNT-2: nvvm.mma.sync
  // CHECK-COUNT-2: nvvm.ldmatrix
  // CHECK-COUNT-2: nvvm.mma.sync
  // CHECK-NOT: nvvm.ldmatrix
  %d = tile.dot %a, %b, %zero {b_transposed} : tensor<16x32xbf16, #a>, tensor<16x32xbf16, #bt>, tensor<16x16xf32, #c>
  tile.store %d, %y[%c0, %c0] : tensor<16x16xf32, #c>, memref<16x16xf32>
  tile.return
}

// -----

#a = #tile.linear<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<reg = [[1, 0], [8, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #tile.linear<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
!v = !tile.buffer<1x16x16xbf16, #tile.shared<swizzle = 32>>

// B stored by rows of k: ldmatrix.trans. P stays in registers.
// CHECK-LABEL: gpu.module @trans
tile.kernel @trans(%xf: f32, %y: memref<16x16xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %x = arith.truncf %xf : f32 to bf16
    %w = tile.alloc_shared {offset = 0 : i64} : !v
  %a = tile.splat %x : bf16 -> tensor<16x16xbf16, #a>
  %b = tile.load_shared %w[%c0] : !v -> tensor<16x16xbf16, #b>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #c>
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK-COUNT-2: nvvm.mma.sync
  %d = tile.dot %a, %b, %zero : tensor<16x16xbf16, #a>, tensor<16x16xbf16, #b>, tensor<16x16xf32, #c>
  tile.store %d, %y[%c0, %c0] : tensor<16x16xf32, #c>, memref<16x16xf32>
  tile.return
}

// -----

#a = #tile.linear<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#bt = #tile.linear<reg = [[0, 1], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#c = #tile.linear<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
!w = !tile.buffer<1x8x16xf8E4M3FN, #tile.shared<swizzle = 0>>

// e4m3 bytes: pairs of k by plain 2-byte loads, widened right before the instruction.
// CHECK-LABEL: gpu.module @bytes
tile.kernel @bytes(%xf: f32, %y: memref<16x8xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %x = arith.truncf %xf : f32 to bf16
    %s = tile.alloc_shared {offset = 0 : i64} : !w
  %a = tile.splat %x : bf16 -> tensor<16x16xbf16, #a>
  %b8 = tile.load_shared %s[%c0] : !w -> tensor<8x16xf8E4M3FN, #bt>
  %b = tile.convert %b8 : tensor<8x16xf8E4M3FN, #bt> -> tensor<8x16xbf16, #bt>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  // CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> vector<2xi8>
  // CHECK: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>{{ ?}}(f8E4M3FN) -> vector<2xf16>
  // CHECK: arith.extf %{{.*}} : vector<2xf16> to vector<2xf32>
  // CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
  // CHECK: nvvm.convert.f8x2.to.f16x2
  // CHECK: nvvm.mma.sync
  %d = tile.dot %a, %b, %zero {b_transposed} : tensor<16x16xbf16, #a>, tensor<8x16xbf16, #bt>, tensor<16x8xf32, #c>
  tile.store %d, %y[%c0, %c0] : tensor<16x8xf32, #c>, memref<16x8xf32>
  tile.return
}

// -----

#a = #tile.linear<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#bt = #tile.linear<reg = [[0, 1], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#c = #tile.linear<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
!w = !tile.buffer<1x8x16xbf16, #tile.shared<swizzle = 32>>

// A barrier between the read and the dot: the read stays where it is and holds the whole operand.
// CHECK-LABEL: gpu.module @barrier
tile.kernel @barrier(%xf: f32, %y: memref<16x8xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %x = arith.truncf %xf : f32 to bf16
    %s = tile.alloc_shared {offset = 0 : i64} : !w
  %a = tile.splat %x : bf16 -> tensor<16x16xbf16, #a>
  // CHECK: nvvm.ldmatrix
  // CHECK: nvvm.barrier
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: nvvm.mma.sync
  %b = tile.load_shared %s[%c0] : !w -> tensor<8x16xbf16, #bt>
  tile.barrier
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %d = tile.dot %a, %b, %zero {b_transposed} : tensor<16x16xbf16, #a>, tensor<8x16xbf16, #bt>, tensor<16x8xf32, #c>
  tile.store %d, %y[%c0, %c0] : tensor<16x8xf32, #c>, memref<16x8xf32>
  tile.return
}
