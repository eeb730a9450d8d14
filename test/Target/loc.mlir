// RUN: k2-opt %s --convert-tile-to-nvvm --k2c-nvvm-to-llvm --k2c-emit-ptx -o /dev/null | FileCheck %s
// Every PTX instruction names its source: a file's line where there is one; else the modules of the model and the op, with the op's ordinal in
// the kernel as the line.

#row = #tile.linear<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = []>

// CHECK: .visible .entry locations(
tile.kernel @locations(%x: memref<4x128xf32>, %y: memref<4x128xf32>) attributes {num_warps = 1} {
  %c0 = arith.constant 0 : i32 loc("dense.gate_proj")
  // CHECK: .loc [[LOAD:[0-9]+]] 3 1
  // CHECK: ld.global.v4.b32
  %v = tile.load %x[%c0, %c0] : memref<4x128xf32> -> tensor<1x128xf32, #row> loc("dense.gate_proj")
  // CHECK: .loc [[ADD:[0-9]+]] 4 1
  // CHECK: add.rn.f32
  %a = arith.addf %v, %v : tensor<1x128xf32, #row> loc(fused["dense.gate_proj", "dense.up_proj", "dense.gate_proj"])
  // CHECK: .loc [[FILE:[0-9]+]] 7 5
  // CHECK: mul.rn.f32
  %m = arith.mulf %a, %v : tensor<1x128xf32, #row> loc("silu"("modeling.py":7:5))
  // CHECK: st.global.v4.b32
  tile.store %m, %y[%c0, %c0] : tensor<1x128xf32, #row>, memref<4x128xf32> loc("dense.down_proj")
  tile.return loc("dense.down_proj")
} loc("dense.gate_proj")
// CHECK-DAG: .file [[LOAD]] "{{.*}}dense.gate_proj/tile.load"
// CHECK-DAG: .file [[ADD]] "{{.*}}dense.gate_proj+dense.up_proj/arith.addf"
// CHECK-DAG: .file [[FILE]] "{{.*}}modeling.py"
