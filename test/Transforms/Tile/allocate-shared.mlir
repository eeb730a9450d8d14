// RUN: k2-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-allocate-shared))" --split-input-file --verify-diagnostics | FileCheck %s
// Buffers follow each other at multiples of their swizzle's period; what does not fit is an error.

// CHECK-LABEL: tile.kernel @places
tile.kernel @places() attributes {num_warps = 1} {
  // CHECK: tile.alloc_shared {offset = 0 : i64} : <1x16x8xbf16
  %a = tile.alloc_shared : !tile.buffer<1x16x8xbf16, #tile.shared<swizzle = 0>>
  // 256 bytes so far; the 128-byte swizzle has a period of 1024.
  // CHECK: tile.alloc_shared {offset = 1024 : i64} : <3x64x64xbf16
  %b = tile.alloc_shared : !tile.buffer<3x64x64xbf16, #tile.shared<swizzle = 128>>
  // CHECK: tile.alloc_shared {offset = 25600 : i64}
  %c = tile.alloc_shared : !tile.buffer<1x64x64xbf16, #tile.shared<swizzle = 128>>
  tile.return
}

// -----

// expected-error @below {{expected shared buffers of at most 232448 bytes, but got 262144}}
tile.kernel @too_much() attributes {num_warps = 1} {
  %a = tile.alloc_shared : !tile.buffer<4x512x64xbf16, #tile.shared<swizzle = 128>>
  tile.return
}

// -----

tile.kernel @no_map() attributes {num_warps = 1} {
  // expected-error @below {{expected a buffer with a map, but it has no #tile.shared layout}}
  %a = tile.alloc_shared : !tile.buffer<1x24x128xbf16>
  tile.return
}
