// RUN: k2-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-verify-scheduled))" --split-input-file --verify-diagnostics
// Each rule of the scheduled level with its message.

tile.kernel @no_layout() attributes {num_warps = 1} {
  // expected-error @below {{expected every tile to have a layout, but got 'tensor<16x8xf32>'}}
  %t = arith.constant dense<1.0> : tensor<16x8xf32>
  tile.return
}

// -----

tile.kernel @warps() attributes {num_warps = 2} {
  // expected-error @below {{expected layouts over the kernel's 2 warps, but got 1}}
  %t = arith.constant dense<1.0> : tensor<32xf32, #tile.linear<reg = [], lane = [[1], [2], [4], [8], [16]], warp = []>>
  tile.return
}

// -----

#a = #tile.linear<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<reg = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [8, 0], [1, 0], [2, 0], [4, 0]], warp = []>
tile.kernel @dot() attributes {num_warps = 1} {
  %a = arith.constant dense<1.0> : tensor<16x16xbf16, #a>
  %b = arith.constant dense<1.0> : tensor<16x8xbf16, #b>
  %c = arith.constant dense<1.0> : tensor<16x8xf32, #c>
  // expected-error @below {{expected the layouts of mma.sync, but lane bit 0 of the accumulator is not the instruction's}}
  %d = tile.dot %a, %b, %c : tensor<16x16xbf16, #a>, tensor<16x8xbf16, #b>, tensor<16x8xf32, #c>
  tile.return
}

// -----

tile.kernel @offset() attributes {num_warps = 1} {
  // expected-error @below {{expected an offset from tile-allocate-shared}}
  %a = tile.alloc_shared : !tile.buffer<1x64x64xbf16, #tile.shared<swizzle = 128>>
  tile.return
}

// -----

tile.kernel @alignment() attributes {num_warps = 1} {
  // expected-error @below {{expected an offset in multiples of 1024, but got 512}}
  %a = tile.alloc_shared {offset = 512 : i64} : !tile.buffer<1x64x64xbf16, #tile.shared<swizzle = 128>>
  tile.return
}

// -----

tile.kernel @overlap() attributes {num_warps = 1} {
  %a = tile.alloc_shared {offset = 0 : i64} : !tile.buffer<1x64x64xbf16, #tile.shared<swizzle = 128>>
  // expected-error @below {{expected disjoint buffers, but bytes 4096 to 8192 belong to two}}
  %b = tile.alloc_shared {offset = 4096 : i64} : !tile.buffer<1x64x64xbf16, #tile.shared<swizzle = 128>>
  tile.return
}
