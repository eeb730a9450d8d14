// RUN: k2-opt %s | k2-opt | FileCheck %s
// RUN: k2-opt %s --mlir-print-op-generic | k2-opt | FileCheck %s
// RUN: k2-opt %s --emit-bytecode | k2-opt | FileCheck %s
// Every op of the dialect prints, parses and survives the generic and the bytecode form.

// CHECK-LABEL: tile.kernel @abstract(
// CHECK-SAME: memref<?x64x576xbf16>
// CHECK-SAME: f32) attributes {num_warps = 4 : i64, schedule = #tile.schedule<stages = 3, warps_m = 2>, source = ["k2.linear"]} {
tile.kernel @abstract(%x: memref<?x1024xbf16, strided<[1040, 1]>>, %cache: memref<?x64x576xbf16>, %ids: memref<?xi32>,
                      %w8: memref<384x2112x7168xf8E4M3FN>, %out: memref<?x128xf32>, %n: i32, %scale: f32)
    attributes {num_warps = 4, schedule = #tile.schedule<stages = 3, warps_m = 2>, source = ["k2.linear"]} {
  // CHECK: %[[T:.*]] = tile.cta_id x
  %t = tile.cta_id x
  // CHECK: tile.cta_id y
  %e = tile.cta_id y
  %c0 = arith.constant 0 : i32
  // CHECK: tile.dim %{{.*}}, 0 : memref<?x1024xbf16, strided<[1040, 1]>>
  %rows = tile.dim %x, 0 : memref<?x1024xbf16, strided<[1040, 1]>>
  // CHECK: tile.load %{{.*}}[%[[T]], %{{.*}}] bounds[%{{.*}}, %{{.*}}] : memref<?x1024xbf16, strided<[1040, 1]>> -> tensor<64x64xbf16>
  %a = tile.load %x[%t, %c0] bounds [%rows, %n] : memref<?x1024xbf16, strided<[1040, 1]>> -> tensor<64x64xbf16>
  // CHECK: tile.load %{{.*}}[%{{.*}}, %[[T]], %{{.*}}] : memref<384x2112x7168xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
  %q = tile.load %w8[%e, %t, %c0] : memref<384x2112x7168xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
  // CHECK: tile.convert %{{.*}} : tensor<128x64xf8E4M3FN> -> tensor<128x64xbf16>
  %b = tile.convert %q : tensor<128x64xf8E4M3FN> -> tensor<128x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x128xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {b_transposed} : tensor<64x64xbf16>, tensor<128x64xbf16>, tensor<64x128xf32>
  %d = tile.dot %a, %b, %z {b_transposed} : tensor<64x64xbf16>, tensor<128x64xbf16>, tensor<64x128xf32>
  // CHECK: tile.reduce maximum axis 1 %{{.*}} : tensor<64x128xf32> -> tensor<64x1xf32>
  %m = tile.reduce maximum axis 1 %d : tensor<64x128xf32> -> tensor<64x1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<64x1xf32> -> tensor<64x128xf32>
  %mb = tile.broadcast %m : tensor<64x1xf32> -> tensor<64x128xf32>
  // CHECK: %{{.*}}, %[[INDEX:.*]] = tile.argmax axis 1 %{{.*}} : tensor<64x128xf32> -> tensor<64x1xf32>, tensor<64x1xi32>
  %v, %i = tile.argmax axis 1 %mb : tensor<64x128xf32> -> tensor<64x1xf32>, tensor<64x1xi32>
  // CHECK: tile.reshape %[[INDEX]] : tensor<64x1xi32> -> tensor<64xi32>
  %r = tile.reshape %i : tensor<64x1xi32> -> tensor<64xi32>
  // CHECK: tile.scan add axis 0 exclusive %{{.*}} : tensor<64xi32>
  %s = tile.scan add axis 0 exclusive %r : tensor<64xi32>
  // CHECK: tile.gather %{{.*}}[%[[T]], %{{.*}}] rows %{{.*}} : memref<?x64x576xbf16>, tensor<64xi32> -> tensor<64x576xbf16>
  %g = tile.gather %cache[%t, %c0] rows %s : memref<?x64x576xbf16>, tensor<64xi32> -> tensor<64x576xbf16>
  // CHECK: tile.slice %{{.*}} [0, 512] : tensor<64x576xbf16> -> tensor<64x64xbf16>
  %rope = tile.slice %g [0, 512] : tensor<64x576xbf16> -> tensor<64x64xbf16>
  // CHECK: tile.transpose %{{.*}} [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
  %tr = tile.transpose %rope [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%[[T]], %{{.*}}] rows %{{.*}} : tensor<64x64xbf16>, memref<?x64x576xbf16>, tensor<64xi32>
  tile.scatter %tr, %cache[%t, %c0] rows %s : tensor<64x64xbf16>, memref<?x64x576xbf16>, tensor<64xi32>
  // CHECK: tile.iota axis 1 : tensor<64x128xi32>
  %c = tile.iota axis 1 : tensor<64x128xi32>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<64x128xf32>
  %sp = tile.splat %scale : f32 -> tensor<64x128xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%[[T]], %{{.*}}] bounds[%{{.*}}] : tensor<64x128xf32>, memref<?x128xf32>
  tile.store %sp, %out[%t, %c0] bounds [%n] : tensor<64x128xf32>, memref<?x128xf32>
  // CHECK: tile.load_scalar %{{.*}}[%[[T]]] : memref<?xi32> -> i32
  %id = tile.load_scalar %ids[%t] : memref<?xi32> -> i32
  // CHECK: tile.store_scalar %{{.*}}, %{{.*}}[%{{.*}}] : i32, memref<?xi32>
  tile.store_scalar %id, %ids[%c0] : i32, memref<?xi32>
  %one = tile.splat %scale : f32 -> tensor<1x1xf32>
  // CHECK: tile.extract %{{.*}} : tensor<1x1xf32> -> f32
  %x1 = tile.extract %one : tensor<1x1xf32> -> f32
  // CHECK: tile.return
  tile.return
}

#a = #tile.linear<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>

// CHECK-LABEL: tile.kernel @scheduled(
tile.kernel @scheduled(%w: memref<2112x7168xf32>, %x: memref<?x8xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32
  %t = tile.cta_id z
  // CHECK: tile.alloc_shared : <2x16x8xf32, #tile.shared<swizzle = 32>>
  %buf = tile.alloc_shared : !tile.buffer<2x16x8xf32, #tile.shared<swizzle = 32>>
  // CHECK: tile.alloc_shared {offset = 1024 : i64} : <1x16x8xf32>
  %buf2 = tile.alloc_shared {offset = 1024 : i64} : !tile.buffer<1x16x8xf32>
  // CHECK: tile.copy_async %{{.*}}[%{{.*}}, %{{.*}}] bounds[%{{.*}}] to %{{.*}}[%{{.*}}] : memref<2112x7168xf32> to <2x16x8xf32, #tile.shared<swizzle = 32>>
  tile.copy_async %w[%t, %c0] bounds [%t] to %buf[%c0] : memref<2112x7168xf32> to !tile.buffer<2x16x8xf32, #tile.shared<swizzle = 32>>
  %ids = arith.constant dense<0> : tensor<16xi32>
  // CHECK: tile.copy_async %{{.*}}[%{{.*}}] rows %{{.*}} : tensor<16xi32> to %{{.*}}[%{{.*}}] : memref<?x8xf32> to <1x16x8xf32>
  tile.copy_async %x[%c0] rows %ids : tensor<16xi32> to %buf2[%c0] : memref<?x8xf32> to !tile.buffer<1x16x8xf32>
  // CHECK: tile.commit_group
  tile.commit_group
  // CHECK: tile.wait_group 1
  tile.wait_group 1
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.load_shared %{{.*}}[%{{.*}}] : <2x16x8xf32, #tile.shared<swizzle = 32>> -> tensor<16x8xf32, #[[A:.*]]>
  %a = tile.load_shared %buf[%c0] : !tile.buffer<2x16x8xf32, #tile.shared<swizzle = 32>> -> tensor<16x8xf32, #a>
  // CHECK: tile.load_shared %{{.*}}[%{{.*}}] offsets [8, 0] : <1x16x8xf32> -> tensor<8x8xf32>
  %part = tile.load_shared %buf2[%c0] offsets [8, 0] : !tile.buffer<1x16x8xf32> -> tensor<8x8xf32>
  // CHECK: tile.convert_layout %{{.*}} : tensor<16x8xf32, #[[A]]> -> tensor<16x8xf32, #[[B:.*]]>
  %b = tile.convert_layout %a : tensor<16x8xf32, #a> -> tensor<16x8xf32, #b>
  // CHECK: tile.store_shared %{{.*}}, %{{.*}}[%{{.*}}] : tensor<16x8xf32, #[[B]]>, <1x16x8xf32>
  tile.store_shared %b, %buf2[%c0] : tensor<16x8xf32, #b>, !tile.buffer<1x16x8xf32>
  tile.return
}
