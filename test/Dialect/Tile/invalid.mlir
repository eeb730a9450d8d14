// RUN: k2-opt %s --split-input-file --verify-diagnostics
// Rules of kernels and ops; a kernel is named after the rule of Spec.md that it breaks.

// expected-error @below {{expected num_warps to be a power of two from 1 to 32, but got 3}}
tile.kernel @kernel_c2() attributes {num_warps = 3} {
  tile.return
}

// -----

// expected-error @below {{expected static strides (only the first dim may be dynamic unless strides are given), but argument 0 is 'memref<4x?xf32>'}}
tile.kernel @kernel_c4(%x: memref<4x?xf32>) attributes {num_warps = 1} {
  tile.return
}

// -----

// expected-error @below {{expected views with unit stride in the last dim and offset 0, but argument 0 is 'memref<4x8xf32, strided<[16, 2]>>'}}
tile.kernel @kernel_c3(%x: memref<4x8xf32, strided<[16, 2]>>) attributes {num_warps = 1} {
  tile.return
}

// -----

// expected-error @below {{expected arguments that are views, i32 or f32, but argument 1 is 'i64'}}
tile.kernel @kernel_c5(%x: i32, %y: i64) attributes {num_warps = 1} {
  tile.return
}

// -----

// expected-error @below {{expected one entry of args per argument (1), but got 2}}
tile.kernel @kernel_c6(%x: i32) attributes {num_warps = 1, args = [1, 2]} {
  tile.return
}

// -----

// expected-error @below {{expected grid to have 3 extents, but got 1}}
tile.kernel @kernel_c7(%x: i32) attributes {num_warps = 1, grid = [1]} {
  tile.return
}

// -----

tile.kernel @view_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected the view's element type 'f32', but got 'bf16'}}
  %0 = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x128xbf16>
  tile.return
}

// -----

tile.kernel @view_c3(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected 2 indices for a view of rank 2, but got 1}}
  %0 = tile.load %x[%i] : memref<?x128xf32> -> tensor<1x128xf32>
  tile.return
}

// -----

tile.kernel @tile_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected a tile of rank 1 to the view's rank 2, but got rank 3}}
  %0 = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x1x128xf32>
  tile.return
}

// -----

tile.kernel @tile_c2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected at most one bound per tile dim (1), but got 2}}
  %0 = tile.load %x[%i, %i] bounds [%i, %i] : memref<?x128xf32> -> tensor<128xf32>
  tile.return
}

// -----

tile.kernel @view_c3(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %r = arith.constant dense<0> : tensor<64xi32>
  // expected-error @below {{expected 1 indices for a view of rank 2 with row indices, but got 2}}
  %0 = tile.gather %x[%i, %i] rows %r : memref<?x128xf32>, tensor<64xi32> -> tensor<64x128xf32>
  tile.return
}

// -----

tile.kernel @rows_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %r = arith.constant dense<0> : tensor<64xi32>
  // expected-error @below {{expected row indices of shape 32, the tile's first extent, but got 64}}
  %0 = tile.gather %x[%i] rows %r : memref<?x128xf32>, tensor<64xi32> -> tensor<32x128xf32>
  tile.return
}

// -----

tile.kernel @rows_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %r = arith.constant dense<0> : tensor<32x1xi32>
  %t = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<32x128xf32>
  // expected-error @below {{expected row indices of shape 32, the tile's first extent, but got 32x1}}
  tile.scatter %t, %x[%i] rows %r : tensor<32x128xf32>, memref<?x128xf32>, tensor<32x1xi32>
  tile.return
}

// -----

tile.kernel @view_c3(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected 2 indices for a view of rank 2, but got 3}}
  %0 = tile.load_scalar %x[%i, %i, %i] : memref<?x128xf32> -> f32
  tile.return
}

// -----

tile.kernel @view_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected the view's element type 'f32', but got 'i32'}}
  tile.store_scalar %i, %x[%i, %i] : i32, memref<?x128xf32>
  tile.return
}

// -----

tile.kernel @dim_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected a dim below the view's rank 2, but got 2}}
  %0 = tile.dim %x, 2 : memref<?x128xf32>
  tile.return
}

// -----

tile.kernel @dot_c4(%a: memref<?x64xbf16>, %b: memref<?x64xbf16>, %i: i32) attributes {num_warps = 4} {
  %p = tile.load %a[%i, %i] : memref<?x64xbf16> -> tensor<64x64xbf16>
  %q = tile.load %b[%i, %i] : memref<?x64xbf16> -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected b of shape 128x64, but got 64x64}}
  %0 = tile.dot %p, %q, %z {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x128xf32>
  tile.return
}

// -----

tile.kernel @dot_c4(%a: memref<?x64xbf16>, %b: memref<?x64xbf16>, %i: i32) attributes {num_warps = 4} {
  %p = tile.load %a[%i, %i] : memref<?x64xbf16> -> tensor<64x64xbf16>
  %q = tile.load %b[%i, %i] : memref<?x64xbf16> -> tensor<128x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected b of shape 64x128, but got 128x64}}
  %0 = tile.dot %p, %q, %z : tensor<64x64xbf16>, tensor<128x64xbf16>, tensor<64x128xf32>
  tile.return
}

// -----

tile.kernel @dot_c3(%a: memref<?x64xbf16>, %b: memref<?x64xbf16>, %i: i32) attributes {num_warps = 4} {
  %p = tile.load %a[%i, %i] : memref<?x64xbf16> -> tensor<64x64xbf16>
  %q = tile.load %b[%i, %i] : memref<?x64xbf16> -> tensor<128x64xbf16>
  %z = arith.constant dense<0.0> : tensor<32x128xf32>
  // expected-error @below {{expected an accumulator of 64 rows as a, but got 32}}
  %0 = tile.dot %p, %q, %z {b_transposed} : tensor<64x64xbf16>, tensor<128x64xbf16>, tensor<32x128xf32>
  tile.return
}

// -----

tile.kernel @dot_c1(%a: memref<?x64xbf16>, %b: memref<?x64xbf16>, %i: i32) attributes {num_warps = 4} {
  %p = tile.load %a[%i, %i] : memref<?x64xbf16> -> tensor<64x64xbf16>
  %q = tile.load %b[%i, %i] : memref<?x64xbf16> -> tensor<64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{expected operands of rank 2, but got ranks 2, 1, 2}}
  %0 = tile.dot %p, %q, %z {b_transposed} : tensor<64x64xbf16>, tensor<64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @dot_c2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %p = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{expected bf16 operands, but got 'f32' and 'f32'}}
  %0 = tile.dot %p, %p, %p : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @reduce_c3(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected a result of shape 64x1, but got 64x2}}
  %0 = tile.reduce add axis 1 %f : tensor<64x128xf32> -> tensor<64x2xf32>
  tile.return
}

// -----

tile.kernel @axis_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected an axis below the rank 2, but got 2}}
  %0 = tile.reduce add axis 2 %f : tensor<64x128xf32> -> tensor<64x1xf32>
  tile.return
}

// -----

tile.kernel @reduce_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %h = arith.constant dense<0.0> : tensor<64x128xbf16>
  // expected-error @below {{expected elements of type f32 or i32, but got 'bf16'}}
  %0 = tile.reduce add axis 1 %h : tensor<64x128xbf16> -> tensor<64x1xbf16>
  tile.return
}

// -----

tile.kernel @reduce_c2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected a result of element type 'f32', but got 'i32'}}
  %0 = tile.reduce add axis 1 %f : tensor<64x128xf32> -> tensor<64x1xi32>
  tile.return
}

// -----

tile.kernel @reduce_c3(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected a result of shape 1x128, but got 64x1}}
  %0, %1 = tile.argmax axis 0 %f : tensor<64x128xf32> -> tensor<64x1xf32>, tensor<64x1xi32>
  tile.return
}

// -----

tile.kernel @scan_c2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %n = arith.constant dense<0> : tensor<64x128xi32>
  // expected-error @below {{expected the last axis 1, but got 0}}
  %0 = tile.scan add axis 0 inclusive %n : tensor<64x128xi32>
  tile.return
}

// -----

tile.kernel @scan_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %n = arith.constant dense<0> : tensor<64x128xi32>
  // expected-error @below {{expected kind add, but got maximum}}
  %0 = tile.scan maximum axis 1 inclusive %n : tensor<64x128xi32>
  tile.return
}

// -----

tile.kernel @convert_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected f8E4M3FN to bf16, but got 'f32' to 'bf16'}}
  %0 = tile.convert %f : tensor<64x128xf32> -> tensor<64x128xbf16>
  tile.return
}

// -----

tile.kernel @broadcast_c2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<32x1xf32>
  // expected-error @below {{expected extent 1 or 64 in dim 0 of the input, but got 32}}
  %0 = tile.broadcast %f : tensor<32x1xf32> -> tensor<64x128xf32>
  tile.return
}

// -----

tile.kernel @broadcast_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected a result of rank 2, but got 3}}
  %0 = tile.broadcast %f : tensor<64x128xf32> -> tensor<1x64x128xf32>
  tile.return
}

// -----

tile.kernel @reshape_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected 8192 elements, but got 4096}}
  %0 = tile.reshape %f : tensor<64x128xf32> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @reshape_c2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<12288xf32>
  // expected-error @below {{expected every odd factor to stay the outermost part of a dim, but got 12288 to 64x192}}
  %0 = tile.reshape %f : tensor<12288xf32> -> tensor<64x192xf32>
  tile.return
}

// -----

tile.kernel @transpose_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected a permutation of 2 dims, but got [1, 1]}}
  %0 = tile.transpose %f [1, 1] : tensor<64x128xf32> -> tensor<128x64xf32>
  tile.return
}

// -----

tile.kernel @transpose_c3(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected extent 128 in dim 0, but got 64}}
  %0 = tile.transpose %f [1, 0] : tensor<64x128xf32> -> tensor<64x128xf32>
  tile.return
}

// -----

tile.kernel @slice_c2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected the box to lie inside extent 128 of dim 1, but it is 64..192}}
  %0 = tile.slice %f [0, 64] : tensor<64x128xf32> -> tensor<64x128xf32>
  tile.return
}

// -----

tile.kernel @slice_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected 2 offsets and extents, but got 1 and 2}}
  %0 = tile.slice %f [0] : tensor<64x128xf32> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @extract_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected a tile of one element, but got 'tensor<64x128xf32>'}}
  %0 = tile.extract %f : tensor<64x128xf32> -> f32
  tile.return
}

// -----

tile.kernel @element_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected a result of element type 'i32', but got 'f32'}}
  %0 = tile.splat %i : i32 -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @axis_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  // expected-error @below {{expected an axis below the rank 1, but got 1}}
  %0 = tile.iota axis 1 : tensor<4xi32>
  tile.return
}

// -----

tile.kernel @load_shared_c2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %b = tile.alloc_shared : !tile.buffer<2x64x128xf32>
  // expected-error @below {{expected the shape of a stage 64x128, but got 64x64}}
  %0 = tile.load_shared %b[%i] : !tile.buffer<2x64x128xf32> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @load_shared_c4(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %b = tile.alloc_shared : !tile.buffer<2x64x128xf32>
  // expected-error @below {{expected the box to lie inside extent 128 of dim 1, but it is 96..160}}
  %0 = tile.load_shared %b[%i] offsets [0, 96] : !tile.buffer<2x64x128xf32> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @load_shared_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %b = tile.alloc_shared : !tile.buffer<2x64x128xf32>
  // expected-error @below {{expected the buffer's element type 'f32', but got 'bf16'}}
  %0 = tile.load_shared %b[%i] : !tile.buffer<2x64x128xf32> -> tensor<64x128xbf16>
  tile.return
}

// -----

tile.kernel @store_shared_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %b = tile.alloc_shared : !tile.buffer<2x64x128xf32>
  %f = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{expected a tile of 64x128x'f32', but got 'tensor<64x64xf32>'}}
  tile.store_shared %f, %b[%i] : tensor<64x64xf32>, !tile.buffer<2x64x128xf32>
  tile.return
}

// -----

tile.kernel @view_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %b = tile.alloc_shared : !tile.buffer<2x64x128xbf16>
  // expected-error @below {{expected the view's element type 'f32', but got 'bf16'}}
  tile.copy_async %x[%i, %i] to %b[%i] : memref<?x128xf32> to !tile.buffer<2x64x128xbf16>
  tile.return
}

// -----

tile.kernel @convert_layout_c1(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected the input's shape and element type, but got 'tensor<64x128xf32>' to 'tensor<64x64xf32>'}}
  %0 = tile.convert_layout %f : tensor<64x128xf32> -> tensor<64x64xf32>
  tile.return
}

// -----

// expected-error @below {{expected 1 to 8 stages, but got 9}}
tile.kernel @schedule_c1() attributes {num_warps = 1, schedule = #tile.schedule<stages = 9>} {
  tile.return
}

// -----

// expected-error @below {{expected warps_m to be 0 or a power of two, but got 3}}
tile.kernel @schedule_c2() attributes {num_warps = 1, schedule = #tile.schedule<warps_m = 3>} {
  tile.return
}

// -----

tile.kernel @buffer_c1() attributes {num_warps = 1} {
  // expected-error @below {{expected a stage dim and at least one tile dim, but got rank 1}}
  %0 = tile.alloc_shared : !tile.buffer<4xf32>
  tile.return
}

// -----

tile.kernel @buffer_c2() attributes {num_warps = 1} {
  // expected-error @below {{expected positive static extents, but got 0}}
  %0 = tile.alloc_shared : !tile.buffer<2x0xf32>
  tile.return
}

// -----

tile.kernel @buffer_c3() attributes {num_warps = 1} {
  // expected-error @below {{expected an element type of whole bytes, but got 'i1'}}
  %0 = tile.alloc_shared : !tile.buffer<2x8xi1>
  tile.return
}

// -----

// expected-error @below {{expected no results, but got 1}}
tile.kernel @kernel_c1() -> f32 attributes {num_warps = 1} {
  tile.return
}

// -----

tile.kernel @view_c2(%i: i32) attributes {num_warps = 4} {
  %x = builtin.unrealized_conversion_cast to memref<4x4xf32, strided<[8, 2]>>
  // expected-error @below {{expected a view with unit stride in its last dim, but got 'memref<4x4xf32, strided<[8, 2]>>'}}
  %0 = tile.load %x[%i, %i] : memref<4x4xf32, strided<[8, 2]>> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @convert_c2(%x: memref<?x128xf8E4M3FN>, %i: i32) attributes {num_warps = 4} {
  %q = tile.load %x[%i, %i] : memref<?x128xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
  // expected-error @below {{expected the input's shape and layout, but got 'tensor<64x64xbf16>'}}
  %0 = tile.convert %q : tensor<64x128xf8E4M3FN> -> tensor<64x64xbf16>
  tile.return
}

// -----

tile.kernel @transpose_c2(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %f = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{expected a result of rank 2, but got 3}}
  %0 = tile.transpose %f [1, 0] : tensor<64x128xf32> -> tensor<128x64x1xf32>
  tile.return
}

// -----

tile.kernel @load_shared_c3(%x: memref<?x128xf32>, %i: i32) attributes {num_warps = 4} {
  %b = tile.alloc_shared : !tile.buffer<2x64x128xf32>
  // expected-error @below {{expected 2 offsets and extents, but got 1 and 2}}
  %0 = tile.load_shared %b[%i] offsets [0] : !tile.buffer<2x64x128xf32> -> tensor<64x64xf32>
  tile.return
}
