// RUN: k2-opt %s --convert-tile-to-nvvm --split-input-file --verify-diagnostics
// What the conversion requires and refuses.

tile.kernel @layout(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 1} {
  // expected-error @below {{expected every tile to have a layout, but got 'tensor<1x128xf32>'}}
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x128xf32>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
tile.kernel @warps(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected layouts over the kernel's 4 warps, but got}}
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x128xf32, #l>
  tile.return
}

// -----

tile.kernel @offset(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 1} {
  // expected-error @below {{expected an offset (run tile-allocate-shared)}}
  %b = tile.alloc_shared : !tile.buffer<1x64x128xf32>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
tile.kernel @exp(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x128xf32, #l>
  // expected-error @below {{expected exp2 in place of math.exp, which has no PTX instruction}}
  %e = math.exp %v : tensor<1x128xf32, #l>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
tile.kernel @exp2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x128xf32, #l>
  // expected-error @below {{expected fastmath<afn> on math.exp2, which has only an approximate PTX instruction}}
  %e = math.exp2 %v : tensor<1x128xf32, #l>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
#wrong = #tile.linear<reg = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = []>
tile.kernel @reduce(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<2x128xf32, #tile.linear<reg = [[0, 1], [0, 2], [1, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>>
  // expected-error @below {{expected the result in the input's layout without axis 0, but got}}
  %r = tile.reduce add axis 0 %v : tensor<2x128xf32, #tile.linear<reg = [[0, 1], [0, 2], [1, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>> -> tensor<1x128xf32, #tile.linear<reg = [[0, 2], [0, 1]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
#other = #tile.linear<reg = [[0, 32], [0, 64]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>
tile.kernel @broadcast(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x128xf32, #l>
  // expected-error @below {{expected layouts that keep every element in its thread, but got}}
  %b = tile.broadcast %v : tensor<1x128xf32, #l> -> tensor<1x128xf32, #other>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
#half = #tile.linear<reg = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
tile.kernel @slice(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x128xf32, #l>
  // expected-error @below {{but dim 1 is not}}
  %s = tile.slice %v [0, 64] : tensor<1x128xf32, #l> -> tensor<1x64xf32, #half>
  tile.return
}

// -----

#l = #tile.linear<reg = [[3], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
tile.kernel @scan(%x: memref<128xi32>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i] : memref<128xi32> -> tensor<128xi32, #l>
  // expected-error @below {{expected a layout in which every bit of axis 0 is one register, lane or warp bit, but got}}
  %s = tile.scan add axis 0 inclusive %v : tensor<128xi32, #l>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
tile.kernel @constant() attributes {num_warps = 1} {
  // expected-error @below {{expected a constant tile with one value in all elements}}
  %s = arith.constant dense<[[0.0, 1.0]]> : tensor<1x2xf32, #tile.linear<reg = [[0, 1]], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = []>>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
tile.kernel @tanh(%x: f32) attributes {num_warps = 1} {
  // expected-error @below {{expected a math op with a PTX instruction, but got math.tanh}}
  %e = math.tanh %x : f32
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
tile.kernel @extf(%x: memref<?x128xf8E4M3FN>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i, %i] : memref<?x128xf8E4M3FN> -> tensor<1x128xf8E4M3FN, #l>
  // expected-error @below {{expected 8-bit floats to be widened by tile.convert, but got arith.extf}}
  %e = arith.extf %v : tensor<1x128xf8E4M3FN, #l> to tensor<1x128xf32, #l>
  tile.return
}

// -----

#a = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [0, 256], [0, 512], [0, 1024]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 0]], warp = [[16, 0]]>
#b = #tile.linear<reg = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[0, 64], [0, 128], [0, 256], [0, 512], [0, 0]], warp = [[0, 1024]]>
// expected-error @below {{expected at most 232448 bytes of shared memory, but got 262144 (262144 of them scratch)}}
tile.kernel @scratch(%s: f32) attributes {num_warps = 2} {
  %v = tile.splat %s : f32 -> tensor<32x2048xf32, #a>
  %e = tile.convert_layout %v : tensor<32x2048xf32, #a> -> tensor<32x2048xf32, #b>
  tile.return
}
