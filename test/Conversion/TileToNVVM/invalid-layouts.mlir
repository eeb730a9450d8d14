// RUN: k2-opt %s --convert-tile-to-nvvm --split-input-file --verify-diagnostics
// Layouts that verify but that an op cannot be lowered with: results in other registers, rows in other threads, buffers without a map.

#l = #tile.linear<reg = [[0, 1], [0, 2], [1, 0], [2, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
#r = #tile.linear<reg = [[2, 0], [1, 0]], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = []>
tile.kernel @argmax(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<4x128xf32, #l>
  // expected-error @below {{expected both results in the input's layout without axis 1, but got}}
  %m, %a = tile.argmax axis 1 %v : tensor<4x128xf32, #l> -> tensor<4x1xf32, #r>, tensor<4x1xi32, #r>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = []>
#rows = #tile.linear<reg = [], lane = [[1], [0], [0], [0], [0]], warp = []>
tile.kernel @gather(%x: memref<?x64xf32>, %ids: memref<2xi32>, %i: i32) attributes {num_warps = 1} {
  %r = tile.load %ids[%i] : memref<2xi32> -> tensor<2xi32, #rows>
  // expected-error @below {{expected row indices in the tile's layout without its columns, but got}}
  %v = tile.gather %x[%i] rows %r : memref<?x64xf32>, tensor<2xi32, #rows> -> tensor<2x64xf32, #l>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>
#other = #tile.linear<reg = [[0, 4]], lane = [[0, 1], [0, 2], [0, 8], [0, 16], [0, 32]], warp = []>
#in = #tile.linear<reg = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
tile.kernel @slice(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x128xf32, #in>
  // expected-error @below {{expected the result's layout to be a renaming of}}
  %s = tile.slice %v [0, 64] : tensor<1x128xf32, #in> -> tensor<1x64xf32, #other>
  tile.return
}

// -----

!b = !tile.buffer<2x16x64xbf16>
tile.kernel @copy(%x: memref<?x64xbf16>, %i: i32) attributes {num_warps = 1} {
  %b = tile.alloc_shared {offset = 0 : i64} : !b
  // expected-error @below {{expected a matrix and a buffer with a map, but the buffer has no #tile.shared layout}}
  tile.copy_async %x[%i, %i] to %b[%i] : memref<?x64xbf16> to !b
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
!b = !tile.buffer<2x16x64xbf16>
tile.kernel @load(%i: i32) attributes {num_warps = 1} {
  %b = tile.alloc_shared {offset = 0 : i64} : !b
  // expected-error @below {{expected a box with a map, but the buffer has no #tile.shared layout}}
  %v = tile.load_shared %b[%i] : !b -> tensor<16x64xbf16, #l>
  tile.return
}

// -----

#l = #tile.linear<reg = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
!b = !tile.buffer<2x16x64xbf16>
tile.kernel @store(%i: i32, %x: memref<?x64xbf16>) attributes {num_warps = 1} {
  %b = tile.alloc_shared {offset = 0 : i64} : !b
  %v = tile.load %x[%i, %i] : memref<?x64xbf16> -> tensor<16x64xbf16, #l>
  // expected-error @below {{expected a matrix and a buffer with a map, but the buffer has no #tile.shared layout}}
  tile.store_shared %v, %b[%i] : tensor<16x64xbf16, #l>, !b
  tile.return
}
