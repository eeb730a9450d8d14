// RUN: k2-opt %s --split-input-file --verify-diagnostics | k2-opt --split-input-file | FileCheck %s
// Check ops keep their tolerances, and a closeness without tolerance is refused.

// CHECK-LABEL: func.func @expectations
func.func @expectations(%a: tensor<2x2xi32>, %x: tensor<4xf32>) {
  // CHECK: check.expect_equal %{{.*}}, %{{.*}} : tensor<2x2xi32>
  check.expect_equal %a, %a : tensor<2x2xi32>
  // CHECK: check.expect_close %{{.*}}, %{{.*}} max_abs 1.000000e-03 : tensor<4xf32>
  check.expect_close %x, %x max_abs 1.0e-3 : tensor<4xf32>
  // CHECK: check.expect_close %{{.*}}, %{{.*}} relative_rms 1.000000e-05 : tensor<4xf32>
  check.expect_close %x, %x relative_rms 1.0e-5 : tensor<4xf32>
  return
}

// -----

func.func @expect_close_c1(%x: tensor<4xf32>) {
  // expected-error @below {{expected max_abs or relative_rms, but got neither}}
  check.expect_close %x, %x : tensor<4xf32>
  return
}

// -----

func.func @expect_close_c2(%x: tensor<4xf32>) {
  // expected-error @below {{expected a tolerance from 0 on, but got -1.000000e+00}}
  check.expect_close %x, %x max_abs -1.0 : tensor<4xf32>
  return
}

// -----

func.func @expect_equal_c1(%a: tensor<2xi32>, %b: tensor<3xi32>) {
  // expected-error @below {{requires all operands to have the same type}}
  "check.expect_equal"(%a, %b) : (tensor<2xi32>, tensor<3xi32>) -> ()
  return
}
