// RUN: k2-opt %s --split-input-file --verify-diagnostics
// Rules of layouts and buffers; a function is named after the rule of Spec.md that it breaks.

// expected-error @below {{expected bases of at least one coordinate}}
func.func private @linear_c1(tensor<1xf32, #tile.linear<reg = [], lane = [], warp = []>>)

// -----

// expected-error @below {{expected 5 lane bases, but got 4}}
func.func private @linear_c2(tensor<16xf32, #tile.linear<reg = [], lane = [[1], [2], [4], [8]], warp = []>>)

// -----

// expected-error @below {{expected at most 60 bases, but got 61}}
func.func private @linear_c3(tensor<1xf32, #tile.linear<reg = [[0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]], lane = [[0], [0], [0], [0], [0]], warp = []>>)

// -----

// expected-error @below {{expected coordinates of at least 0, but got -1}}
func.func private @linear_c4(tensor<32xf32, #tile.linear<reg = [], lane = [[1], [2], [4], [8], [-1]], warp = []>>)

// -----

// expected-error @below {{expected a layout of rank 2 to match the tile, but got rank 1}}
func.func private @linear_c5(tensor<1x32xf32, #tile.linear<reg = [], lane = [[1], [2], [4], [8], [16]], warp = []>>)

// -----

// expected-error @below {{expected a statically shaped tile with a layout}}
func.func private @linear_c6(tensor<?xf32, #tile.linear<reg = [], lane = [[1], [2], [4], [8], [16]], warp = []>>)

// -----

// expected-error @below {{tile too large for a layout}}
func.func private @linear_c7(tensor<4294967296x4294967296xf32, #tile.linear<reg = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>>)

// -----

// expected-error @below {{expected every basis inside the 2-power part 32 of dim 0, but got 32}}
func.func private @linear_c8(tensor<96xf32, #tile.linear<reg = [], lane = [[1], [2], [4], [8], [32]], warp = []>>)

// -----

// expected-error @below {{layout is not surjective: row bit 4 is nowhere}}
func.func private @linear_c9(tensor<32x1xf32, #tile.linear<reg = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 0]], warp = []>>)

// -----

// expected-error @below {{expected swizzle 0, 32, 64 or 128, but got 48}}
func.func private @shared_c1(!tile.buffer<1x64x64xbf16, #tile.shared<swizzle = 48>>)

// -----

// expected-error @below {{expected a span that is a power of two of at least 16 bytes, but got 24}}
func.func private @shared_c2(!tile.buffer<1x64x64xbf16, #tile.shared<span = 24>>)

// -----

// expected-error @below {{expected a swizzled span to be the swizzle, 128, but got 64}}
func.func private @shared_c3(!tile.buffer<1x64x64xbf16, #tile.shared<swizzle = 128, span = 64>>)

// -----

// expected-error @below {{expected masks only without a swizzle}}
func.func private @shared_c4(!tile.buffer<1x64x64xbf16, #tile.shared<swizzle = 128, masks = [1]>>)

// -----

// expected-error @below {{expected masks below the chunks of a span, 8, but got 8}}
func.func private @shared_c5(!tile.buffer<1x64x64xbf16, #tile.shared<span = 128, masks = [8]>>)

// -----

// expected-error @below {{expected a layout that fits a stage, but got}}
func.func private @buffer_c4(!tile.buffer<1x24x256xbf16, #tile.shared<swizzle = 128>>)
