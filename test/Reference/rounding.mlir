// RUN: k2-interpret %s --entry=without
// RUN: not k2-interpret %s --entry=without --rounding=bf16 2>&1 | FileCheck %s --check-prefix=ROUNDED
// RUN: k2-interpret %s --entry=rounded --rounding=bf16
// RUN: not k2-interpret %s --entry=rounded 2>&1 | FileCheck %s --check-prefix=PLAIN
// silu(1) * 3 is 2.1931757; rounded to bf16 after silu and after the product it is 2.1875.

// ROUNDED: check.expect_close: expected a difference of at most 1.00e-06, but got 5.68e-03 at [0, 0]
// ROUNDED: without: failed
func.func @without() {
  %gate = arith.constant dense<1.0> : tensor<1x1xbf16>
  %up = arith.constant dense<3.0> : tensor<1x1xbf16>
  %y = k2.swiglu %gate, %up : tensor<1x1xbf16>
  %w = arith.constant dense<1.0> : tensor<1x1xbf16>
  %z = k2.linear %y, %w : tensor<1x1xbf16>, tensor<1x1xbf16> -> tensor<1x1xf32>
  %want = arith.constant dense<2.1931757> : tensor<1x1xf32>
  check.expect_close %z, %want max_abs 1.0e-06 : tensor<1x1xf32>
  return
}

// PLAIN: check.expect_equal: expected 2.1{{[0-9]*}} at [0, 0], but got 2.19
func.func @rounded() {
  %gate = arith.constant dense<1.0> : tensor<1x1xbf16>
  %up = arith.constant dense<3.0> : tensor<1x1xbf16>
  %y = k2.swiglu %gate, %up : tensor<1x1xbf16>
  %want = arith.constant dense<2.1875> : tensor<1x1xbf16>
  check.expect_equal %y, %want : tensor<1x1xbf16>
  return
}
