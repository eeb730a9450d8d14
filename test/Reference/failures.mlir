// RUN: not k2-interpret %s --entry=equal 2>&1 | FileCheck %s --check-prefix=EQUAL
// RUN: not k2-interpret %s --entry=close 2>&1 | FileCheck %s --check-prefix=CLOSE
// RUN: not k2-interpret %s --entry=rms 2>&1 | FileCheck %s --check-prefix=RMS
// RUN: not k2-interpret %s --entry=nan 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not k2-interpret %s --entry=id 2>&1 | FileCheck %s --check-prefix=ID
// RUN: not k2-interpret %s --entry=rows 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not k2-interpret %s --entry=other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not k2-interpret %s --entry=nobody 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not k2-interpret %s --entry=argument 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// A failed check says where, what was expected and what came; what cannot run is an error, not a crash.

// EQUAL: failures.mlir":{{.*}}: check.expect_equal: expected 3 at [1, 0], but got 4
func.func @equal() {
  %a = arith.constant dense<[[1, 2], [4, 4]]> : tensor<2x2xi32>
  %b = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  check.expect_equal %a, %b : tensor<2x2xi32>
  return
}

// CLOSE: check.expect_close: expected a difference of at most 1.00e-01, but got 5.00e-01 at [1]
func.func @close() {
  %a = arith.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_close %a, %b max_abs 0.1 : tensor<2xf32>
  return
}

// RMS: check.expect_close: expected a relative rms error of at most 1.00e-01, but got 2.00e-01; worst at [1]
func.func @rms() {
  %a = arith.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %b = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  check.expect_close %a, %b relative_rms 0.1 : tensor<2xf32>
  return
}

// NAN: check.expect_close: expected 1{{.*}} at [0], but got nan
func.func @nan() {
  %a = arith.constant dense<0x7FC00000> : tensor<1xf32>
  %b = arith.constant dense<1.0> : tensor<1xf32>
  check.expect_close %a, %b max_abs 10.0 : tensor<1xf32>
  return
}

// ID: error: id: k2.embed: expected ids from 0 to 2, but got 3
func.func @id() {
  %ids = arith.constant dense<3> : tensor<1xi32>
  %table = arith.constant dense<0.0> : tensor<3x2xbf16>
  %y = k2.embed %ids, %table : tensor<1xi32>, tensor<3x2xbf16> -> tensor<1x2xbf16>
  return
}

// ROWS: error: rows: k2.residual_add: expected 1 rows of rhs, but got 2
func.func @rows() {
  %a = arith.constant dense<0.0> : tensor<1x2xbf16>
  %b = arith.constant dense<0.0> : tensor<2x2xbf16>
  %0 = tensor.cast %a : tensor<1x2xbf16> to tensor<?x2xbf16>
  %1 = tensor.cast %b : tensor<2x2xbf16> to tensor<?x2xbf16>
  %2 = k2.residual_add %0, %1 : tensor<?x2xbf16>
  return
}

// OTHER: error: other: expected ops of k2 and check, tensor constants and tensor.cast, but got arith.addf
func.func @other() {
  %a = arith.constant dense<0.0> : tensor<1x2xf32>
  %0 = arith.addf %a, %a : tensor<1x2xf32>
  return
}

// NOBODY: error: nobody: entry: expected a function with a body called nobody, but got none

// ARGUMENT: error: argument: input: x: expected a tensor of shape [?, 2], but got no such tensor
func.func @argument(%x: tensor<?x2xbf16> {k2.name = "x"}) {
  return
}
