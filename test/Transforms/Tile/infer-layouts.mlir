// RUN: k2-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-infer-layouts,canonicalize,cse))" --split-input-file | FileCheck %s
// RUN: k2-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-infer-layouts))" --split-input-file --remarks-filter=tile-infer-layouts --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Layouts follow from the accumulators of dots, then from memory accesses; conversions stand only where two meet.

// One 16x8x16 instruction on one warp: the fragments of the ISA.
// CHECK-DAG: #[[C:linear.*]] = #tile.linear<reg = {{\[}}[0, 1], [8, 0]], lane = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[A:linear.*]] = #tile.linear<reg = {{\[}}[0, 1], [8, 0], [0, 8]], lane = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[B:linear.*]] = #tile.linear<reg = {{\[}}[1, 0], [8, 0]], lane = {{\[}}[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-LABEL: tile.kernel @fragments
// CHECK-NOT: tile.convert_layout
// CHECK: tile.dot {{.*}} : tensor<16x16xbf16, #[[A]]>, tensor<16x8xbf16, #[[B]]>, tensor<16x8xf32, #[[C]]>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @fragments(%x: memref<16x16xbf16>, %w: memref<16x8xbf16>, %y: memref<16x8xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = tile.load %x[%c0, %c0] : memref<16x16xbf16> -> tensor<16x16xbf16>
  %b = tile.load %w[%c0, %c0] : memref<16x8xbf16> -> tensor<16x8xbf16>
  %d = tile.dot %a, %b, %zero : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  tile.store %d, %y[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
  tile.return
}

// -----

// Two dots in a chain: rows are split over four warps, the next two repeat S and share the columns of O. P is S's accumulator as it stands, the row
// statistics are its slice, and nothing moves.
// CHECK-DAG: #[[S:linear.*]] = #tile.linear<{{.*}} warp = {{\[}}[16, 0], [32, 0], [0, 0]]>
// CHECK-DAG: #[[O:linear.*]] = #tile.linear<{{.*}} warp = {{\[}}[16, 0], [32, 0], [0, 64]]>
// CHECK-DAG: #[[R:linear.*]] = #tile.linear<reg = {{\[}}[8, 0]], lane = {{\[}}[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = {{\[}}[16, 0], [32, 0], [0, 0]]>
// CHECK-LABEL: tile.kernel @chain
// CHECK-NOT: tile.convert_layout
// CHECK: tile.dot {{.*}}, tensor<64x64xf32, #[[S]]>
// CHECK: tile.reduce maximum axis 1 {{.*}} -> tensor<64x1xf32, #[[R]]>
// CHECK: tile.dot {{.*}} : tensor<64x64xbf16, #[[S]]>, {{.*}}, tensor<64x128xf32, #[[O]]>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @chain(%q: memref<64x64xbf16>, %k: memref<64x64xbf16>, %v: memref<64x128xbf16>, %y: memref<64x128xf32>) attributes {num_warps = 8} {
  %c0 = arith.constant 0 : i32
  %zs = arith.constant dense<0.0> : tensor<64x64xf32>
  %zo = arith.constant dense<0.0> : tensor<64x128xf32>
  %a = tile.load %q[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
  %b = tile.load %k[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
  %c = tile.load %v[%c0, %c0] : memref<64x128xbf16> -> tensor<64x128xbf16>
  %s = tile.dot %a, %b, %zs {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %m = tile.reduce maximum axis 1 %s : tensor<64x64xf32> -> tensor<64x1xf32>
  %mb = tile.broadcast %m : tensor<64x1xf32> -> tensor<64x64xf32>
  %e = arith.subf %s, %mb : tensor<64x64xf32>
  %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xbf16>
  %o = tile.dot %p, %c, %zo : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
  %mo = tile.broadcast %m : tensor<64x1xf32> -> tensor<64x128xf32>
  %r = arith.mulf %o, %mo : tensor<64x128xf32>
  tile.store %r, %y[%c0, %c0] : tensor<64x128xf32>, memref<64x128xf32>
  tile.return
}

// -----

// A row of 7168 on four warps: 8 bf16 per vector, seven repeats; the f32 weight follows, the sum and the groups of 128 derive from it.
// CHECK-DAG: #[[ROW:linear.*]] = #tile.linear<reg = {{\[}}[0, 1], [0, 2], [0, 4]], lane = {{\[}}[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = {{\[}}[0, 256], [0, 512]]>
// CHECK-LABEL: tile.kernel @row
// CHECK-NOT: tile.convert_layout
// CHECK: tile.load {{.*}} -> tensor<1x7168xbf16, #[[ROW]]>
// CHECK: tile.load {{.*}} -> tensor<1x7168xf32, #[[ROW]]>
// CHECK: tile.reshape {{.*}} : tensor<1x7168xf32, #[[ROW]]> -> tensor<1x56x128xf32
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @row(%x: memref<1x7168xbf16>, %w: memref<1x7168xf32>, %y: memref<1x7168xf32>, %z: memref<1x56x1xf32>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : i32
  %a = tile.load %x[%c0, %c0] : memref<1x7168xbf16> -> tensor<1x7168xbf16>
  %b = tile.load %w[%c0, %c0] : memref<1x7168xf32> -> tensor<1x7168xf32>
  %f = arith.extf %a : tensor<1x7168xbf16> to tensor<1x7168xf32>
  %p = arith.mulf %f, %b : tensor<1x7168xf32>
  %s = tile.reduce add axis 1 %p : tensor<1x7168xf32> -> tensor<1x1xf32>
  %sb = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x7168xf32>
  %r = arith.mulf %p, %sb : tensor<1x7168xf32>
  tile.store %r, %y[%c0, %c0] : tensor<1x7168xf32>, memref<1x7168xf32>
  %g = tile.reshape %r : tensor<1x7168xf32> -> tensor<1x56x128xf32>
  %t = tile.reduce maximum axis 2 %g : tensor<1x56x128xf32> -> tensor<1x56x1xf32>
  tile.store %t, %z[%c0, %c0, %c0] : tensor<1x56x1xf32>, memref<1x56x1xf32>
  tile.return
}

// -----

// Loop-carried tiles, branches and a shared zero keep one layout each; a column vector that meets an accumulator is loaded as its slice.
// CHECK-DAG: #[[C:linear.*]] = #tile.linear<reg = {{\[}}[0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], {{.*}} warp = {{\[}}[32, 0], [0, 32]]>
// CHECK-DAG: #[[V:linear.*]] = #tile.linear<reg = {{\[}}[8, 0], [16, 0]], lane = {{\[}}[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = {{\[}}[32, 0], [0, 0]]>
// CHECK-LABEL: tile.kernel @loop
// CHECK-NOT: tile.convert_layout
// CHECK: tile.load %{{.*}} : memref<64x1xf32> -> tensor<64x1xf32, #[[V]]>
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32, #[[C]]>)
// CHECK: scf.if {{.*}} -> (tensor<64x64xf32, #[[C]]>)
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @loop(%x: memref<64x64xbf16>, %s: memref<64x1xf32>, %y: memref<64x64xf32>, %n: i32) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %v = tile.load %s[%c0, %c0] : memref<64x1xf32> -> tensor<64x1xf32>
  %acc = scf.for %k = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32>) : i32 {
    %a = tile.load %x[%k, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %b = tile.load %x[%c0, %k] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %a, %b, %zero {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %vb = tile.broadcast %v : tensor<64x1xf32> -> tensor<64x64xf32>
    %p = arith.mulf %d, %vb : tensor<64x64xf32>
    %even = arith.cmpi eq, %k, %c0 : i32
    %q = scf.if %even -> tensor<64x64xf32> {
      scf.yield %p : tensor<64x64xf32>
    } else {
      %e = arith.addf %c, %p : tensor<64x64xf32>
      scf.yield %e : tensor<64x64xf32>
    }
    scf.yield %q : tensor<64x64xf32>
  }
  tile.store %acc, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// -----

// The fused row of 2112 is cut without moving anything; a box that cuts lanes needs its input elsewhere.
// REMARK: remark: [Missed] ConvertLayout {{.*}}Function=slices | {{.*}}tile.convert_layout
// CHECK-LABEL: tile.kernel @slices
// CHECK: %[[ROW:.*]] = tile.load
// CHECK: tile.slice %[[ROW]] [0, 1536] : {{.*}} -> tensor<4x512xbf16
// CHECK: %[[MOVED:.*]] = tile.convert_layout %[[ROW]]
// CHECK: tile.slice %[[MOVED]] [0, 16] : {{.*}} -> tensor<4x16xbf16
tile.kernel @slices(%x: memref<4x2112xbf16>, %y: memref<4x512xbf16>, %z: memref<4x16xbf16>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %t = tile.load %x[%c0, %c0] : memref<4x2112xbf16> -> tensor<4x2112xbf16>
  %a = tile.slice %t [0, 1536] : tensor<4x2112xbf16> -> tensor<4x512xbf16>
  tile.store %a, %y[%c0, %c0] : tensor<4x512xbf16>, memref<4x512xbf16>
  %b = tile.slice %t [0, 16] : tensor<4x2112xbf16> -> tensor<4x16xbf16>
  tile.store %b, %z[%c0, %c0] : tensor<4x16xbf16>, memref<4x16xbf16>
  tile.return
}
