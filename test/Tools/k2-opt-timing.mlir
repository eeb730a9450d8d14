// RUN: k2-opt %s --canonicalize --tile-allocate-shared --mlir-timing --mlir-timing-display=list -o /dev/null 2>&1 | FileCheck %s
// Where the time goes is told pass by pass, also when kernels are worked on side by side.

// CHECK: Execution time report
// CHECK-DAG: Canonicalizer
// CHECK-DAG: TileAllocateSharedPass
tile.kernel @one() attributes {num_warps = 1} {
  tile.return
}
tile.kernel @two() attributes {num_warps = 1} {
  tile.return
}
