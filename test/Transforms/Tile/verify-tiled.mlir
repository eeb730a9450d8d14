// RUN: k2-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-verify-tiled))" --split-input-file --verify-diagnostics
// Each rule of the abstract level with its message; the first kernel breaks none.

tile.kernel @good(%x: memref<?x64xbf16>, %y: memref<?x64xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = tile.load %x[%c0, %c0] : memref<?x64xbf16> -> tensor<16x16xbf16>
  %d = tile.dot %a, %a, %zero {b_transposed} : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xf32>
  tile.store %d, %y[%c0, %c0] : tensor<16x16xf32>, memref<?x64xf32>
  tile.return
}

// -----

tile.kernel @m(%a: memref<8x16xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %t = tile.load %a[%c0, %c0] : memref<8x16xbf16> -> tensor<8x16xbf16>
  // expected-error @below {{expected m to be a multiple of 16 for mma.sync, but got 8}}
  %d = tile.dot %t, %t, %zero {b_transposed} : tensor<8x16xbf16>, tensor<8x16xbf16>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @n(%a: memref<16x16xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<16x4xf32>
  %t = tile.load %a[%c0, %c0] : memref<16x16xbf16> -> tensor<16x16xbf16>
  %b = tile.load %a[%c0, %c0] : memref<16x16xbf16> -> tensor<4x16xbf16>
  // expected-error @below {{expected n to be a multiple of 8 for mma.sync, but got 4}}
  %d = tile.dot %t, %b, %zero {b_transposed} : tensor<16x16xbf16>, tensor<4x16xbf16>, tensor<16x4xf32>
  tile.return
}

// -----

tile.kernel @k(%a: memref<16x16xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %t = tile.load %a[%c0, %c0] : memref<16x16xbf16> -> tensor<16x8xbf16>
  // expected-error @below {{expected k to be a multiple of 16 for mma.sync, but got 8}}
  %d = tile.dot %t, %t, %zero {b_transposed} : tensor<16x8xbf16>, tensor<16x8xbf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @cast(%a: memref<16x16xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %t = tile.load %a[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32>
  // expected-error @below {{expected a cast without fastmath flags, as it is a rounding point, but got contract}}
  %d = arith.truncf %t fastmath<contract> : tensor<16x16xf32> to tensor<16x16xbf16>
  tile.return
}

// -----

tile.kernel @constant() attributes {num_warps = 1} {
  // expected-error @below {{expected a constant tile to be a splat}}
  %t = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  tile.return
}

// -----

tile.kernel @scheduled() attributes {num_warps = 1} {
  // expected-error @below {{belongs to the scheduled level}}
  tile.barrier
  tile.return
}

// -----

tile.kernel @layout() attributes {num_warps = 1} {
  // expected-error @below {{expected no layout before tile-infer-layouts, but got 'tensor<32xf32, #tile.linear<reg = [], lane = [[1], [2], [4], [8], [16]], warp = []>>'}}
  %t = arith.constant dense<1.0> : tensor<32xf32, #tile.linear<reg = [], lane = [[1], [2], [4], [8], [16]], warp = []>>
  tile.return
}
