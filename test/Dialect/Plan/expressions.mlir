// RUN: k2-opt %s | FileCheck %s
// Expressions keep their value: constants fold, neutral elements go, parentheses appear where precedence needs them. Division rounds down or up, for
// negative numbers too.

// CHECK-LABEL: func.func private @folding
func.func private @folding() attributes {
  // CHECK-SAME: a = #plan.expr<12>
  a = #plan.expr<2 + 2 * 5>,
  // CHECK-SAME: b = #plan.expr<(T + 1) * 2>
  b = #plan.expr<(T + 1) * 2>,
  // CHECK-SAME: c = #plan.expr<T - (B - S)>
  c = #plan.expr<T - (B - S)>,
  // CHECK-SAME: d = #plan.expr<T - B - S>
  d = #plan.expr<T - B - S>,
  // CHECK-SAME: e = #plan.expr<T>
  e = #plan.expr<floordiv(T * 1 + 0, 1)>,
  // CHECK-SAME: f = #plan.expr<-1>
  f = #plan.expr<ceildiv(0 - 3, 2)>,
  // CHECK-SAME: g = #plan.expr<-2>
  g = #plan.expr<floordiv(0 - 3, 2)>,
  // CHECK-SAME: h = #plan.expr<ceildiv(T, 0)>
  h = #plan.expr<ceildiv(T, 0)>,
  // CHECK-SAME: i = #plan.expr<max(T, min(3, B)) + or(eq(T, 1), 0)>
  i = #plan.expr<max(T, min(7 - 4, B)) + or(eq(T, 1), lt(2, 1))>,
  // CHECK-SAME: j = #plan.expr<T * (B * S)>
  j = #plan.expr<T * (B * S)>
}

// CHECK-LABEL: func.func private @bindings
// CHECK-SAME: plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read param "dense.o_proj">, #plan.arg<read scale "dense.o_proj">, #plan.arg<read array "seq_start" [B + 1]>, #plan.arg<readwrite array "latent_cache" [P]>, #plan.arg<write result 1 [T * 8]>, #plan.arg<scalar T * 8>]
// CHECK-SAME: plan.grid = [#plan.expr<1>, #plan.expr<T>, #plan.expr<1>]
// CHECK-SAME: plan.worklists = [#plan.worklist<"query_tiles" rows 64 rows_per_token 2>]
func.func private @bindings() attributes {
  plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read param "dense.o_proj">, #plan.arg<read scale "dense.o_proj">,
               #plan.arg<read array "seq_start" [B + 1]>, #plan.arg<readwrite array "latent_cache" [P]>, #plan.arg<write result 1 [T * 8]>,
               #plan.arg<scalar T * 8>],
  plan.grid = [#plan.expr<1>, #plan.expr<T>, #plan.expr<1>],
  plan.worklists = [#plan.worklist<"query_tiles" rows 64 rows_per_token 2>]}
