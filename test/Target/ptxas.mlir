// REQUIRES: ptxas
// RUN: rm -rf %t && k2-opt %s --convert-tile-to-nvvm --k2c-nvvm-to-llvm --k2c-emit-ptx=folder=%t -o /dev/null
// RUN: ptxas -v -arch=sm_90a %t/every_family.ptx -o %t/every_family.cubin 2>&1 | FileCheck %s
// The assembler accepts every row family, with .loc lines, without spills and without a stack.

// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

#tile = #tile.linear<reg = [[0, 1], [0, 2], [0, 4], [16, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#rows = #tile.linear<reg = [[16]], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]]>
#list = #tile.linear<reg = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>
#row = #tile.linear<reg = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[0, 64], [0, 0]]>
#one = #tile.linear<reg = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
#other = #tile.linear<reg = [[0, 1], [0, 2], [16, 0], [8, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0], [4, 0]]>

tile.kernel @every_family(%x: memref<?x576xbf16>, %ids: memref<?xi32>, %y: memref<?x64x576xbf16>, %count: memref<384xi32>, %z: memref<?x384xf32>)
    attributes {num_warps = 4} {
  %t = tile.cta_id x
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %i = tile.load %ids[%c0] : memref<?xi32> -> tensor<32xi32, #rows>
  %g = tile.gather %x[%c64] rows %i : memref<?x576xbf16>, tensor<32xi32, #rows> -> tensor<32x64xbf16, #tile>
  tile.scatter %g, %y[%t, %c0] rows %i : tensor<32x64xbf16, #tile>, memref<?x64x576xbf16>, tensor<32xi32, #rows>
  %n = tile.load %count[%c0] : memref<384xi32> -> tensor<512xi32, #list>
  %p = tile.scan add axis 0 exclusive %n : tensor<512xi32, #list>
  tile.store %p, %count[%c0] : tensor<512xi32, #list>, memref<384xi32>
  %l = tile.load %z[%t, %c0] : memref<?x384xf32> -> tensor<1x384xf32, #row>
  %v, %ix = tile.argmax axis 1 %l : tensor<1x384xf32, #row> -> tensor<1x1xf32, #one>, tensor<1x1xi32, #one>
  %vs = tile.extract %v : tensor<1x1xf32, #one> -> f32
  %it = tile.iota axis 1 : tensor<1x384xi32, #row>
  %b = tile.broadcast %ix : tensor<1x1xi32, #one> -> tensor<1x384xi32, #row>
  %eq = arith.cmpi eq, %it, %b : tensor<1x384xi32, #row>
  %sp = tile.splat %vs : f32 -> tensor<1x384xf32, #row>
  %sel = arith.select %eq, %sp, %l : tensor<1x384xi1, #row>, tensor<1x384xf32, #row>
  tile.store %sel, %z[%t, %c0] : tensor<1x384xf32, #row>, memref<?x384xf32>
  %ff = arith.extf %g : tensor<32x64xbf16, #tile> to tensor<32x64xf32, #tile>
  %cv = tile.convert_layout %ff : tensor<32x64xf32, #tile> -> tensor<32x64xf32, #other>
  %ft = arith.truncf %cv : tensor<32x64xf32, #other> to tensor<32x64xbf16, #other>
  %d = tile.load_scalar %count[%c64] : memref<384xi32> -> i32
  tile.store_scalar %d, %count[%c0] : i32, memref<384xi32>
  tile.store %ft, %y[%d, %c0, %c64] bounds [%d] : tensor<32x64xbf16, #other>, memref<?x64x576xbf16>
  tile.return
}
