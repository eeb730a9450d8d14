// RUN: k2-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile.kernel(tile-infer-layouts))"
// A box is cut out by registers, so that it has to start where registers can begin.

tile.kernel @slice(%x: memref<?x128xf32>, %y: memref<?x4xf32>, %i: i32) attributes {num_warps = 1} {
  %v = tile.load %x[%i, %i] : memref<?x128xf32> -> tensor<1x128xf32>
  // expected-error @below {{expected a box that starts at a multiple of its 2-power part, but got offsets 0, 2}}
  %s = tile.slice %v [0, 2] : tensor<1x128xf32> -> tensor<1x4xf32>
  tile.store %s, %y[%i, %i] : tensor<1x4xf32>, memref<?x4xf32>
  tile.return
}
