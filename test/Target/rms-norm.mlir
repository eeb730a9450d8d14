// RUN: k2-opt %s --convert-tile-to-nvvm --k2c-nvvm-to-llvm --k2c-emit-ptx -o /dev/null | FileCheck %s
// A row of 7168 = 7 * 1024 on 4 warps as PTX: 16-byte accesses, separately rounded arithmetic, and a .loc for every op of the source.

#row = #tile.linear<reg = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[0, 256], [0, 512]]>
#one = #tile.linear<reg = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
#weight = #tile.linear<reg = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]>

// CHECK: .version 8.0
// CHECK: .target sm_90a
// CHECK-NOT: debug
// CHECK: .extern .shared .align 1024 .b8 shared_memory[];
// CHECK: .visible .entry rms_norm(
// CHECK-NEXT: .param .u64 .ptr .global .align 16 rms_norm_param_0,
// CHECK-NEXT: .param .u32 rms_norm_param_1,
// CHECK-NEXT: .param .u64 .ptr .global .align 16 rms_norm_param_2,
// CHECK-NEXT: .param .u64 .ptr .global .align 16 rms_norm_param_3,
// CHECK-NEXT: .param .u32 rms_norm_param_4
// CHECK: .reqntid 128, 1, 1
tile.kernel @rms_norm(%x: memref<?x7168xbf16>, %g: memref<7168xf32>, %y: memref<?x7168xbf16>) attributes {num_warps = 4} {
  %t = tile.cta_id x loc("model.py":10:1)
  %c0 = arith.constant 0 : i32
  // CHECK: .loc [[FILE:[0-9]+]] 11 3
  // CHECK-COUNT-7: ld.global.v4.b32
  // CHECK: cvt.f32.bf16
  %v = tile.load %x[%t, %c0] : memref<?x7168xbf16> -> tensor<1x7168xbf16, #row> loc("model.py":11:3)
  %f = arith.extf %v : tensor<1x7168xbf16, #row> to tensor<1x7168xf32, #row> loc("model.py":12:3)
  // CHECK: .loc [[FILE]] 13 3
  // CHECK-NEXT: mul.rn.f32
  %q = arith.mulf %f, %f : tensor<1x7168xf32, #row> loc("model.py":13:3)
  // CHECK: .loc [[FILE]] 14 3
  // CHECK: add.rn.f32
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
  // CHECK: bar.sync
  // CHECK: st.shared.b32
  // CHECK: bar.sync
  // CHECK-COUNT-4: ld.shared.b32
  %s = tile.reduce add axis 1 %q : tensor<1x7168xf32, #row> -> tensor<1x1xf32, #one> loc("model.py":14:3)
  %n = arith.constant dense<7168.0> : tensor<1x1xf32, #one>
  %eps = arith.constant dense<1.0e-6> : tensor<1x1xf32, #one>
  // CHECK: .loc [[FILE]] 15 3
  // CHECK-NEXT: div.rn.f32
  %m = arith.divf %s, %n : tensor<1x1xf32, #one> loc("model.py":15:3)
  %me = arith.addf %m, %eps : tensor<1x1xf32, #one> loc("model.py":16:3)
  // CHECK: rsqrt.approx.f32
  %r = math.rsqrt %me fastmath<afn> : tensor<1x1xf32, #one> loc("model.py":17:3)
  %rb = tile.broadcast %r : tensor<1x1xf32, #one> -> tensor<1x7168xf32, #row>
  %nf = arith.mulf %f, %rb : tensor<1x7168xf32, #row>
  // CHECK: .loc [[FILE]] 18 3
  // CHECK-NEXT: cvt.rn.bf16x2.f32
  %nb = arith.truncf %nf : tensor<1x7168xf32, #row> to tensor<1x7168xbf16, #row> loc("model.py":18:3)
  // CHECK-COUNT-14: ld.global.v4.b32
  %gl = tile.load %g[%c0] : memref<7168xf32> -> tensor<7168xf32, #weight>
  %g2 = tile.reshape %gl : tensor<7168xf32, #weight> -> tensor<1x7168xf32, #row>
  %gb = arith.truncf %g2 : tensor<1x7168xf32, #row> to tensor<1x7168xbf16, #row>
  // CHECK: mul.rn.bf16x2
  // CHECK-NOT: fma
  %o = arith.mulf %nb, %gb : tensor<1x7168xbf16, #row>
  // CHECK: .loc [[FILE]] 20 3
  // CHECK-COUNT-7: st.global.v4.b32
  // CHECK-NOT: st.global
  // CHECK: ret;
  // CHECK: .file [[FILE]] "{{.*}}model.py"
  tile.store %o, %y[%t, %c0] : tensor<1x7168xbf16, #row>, memref<?x7168xbf16> loc("model.py":20:3)
  tile.return
}
