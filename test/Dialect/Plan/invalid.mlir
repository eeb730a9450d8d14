// RUN: k2-opt %s --split-input-file --verify-diagnostics
// Every rule of the verifiers has a message that says the rule and the fact; syntax errors do, too.

// expected-error @+1 {{expected ceildiv, floordiv, min, max, lt, le, eq, and or or, but got 'mod'}}
func.func private @operator() attributes {a = #plan.expr<mod(T, 2)>}

// -----

// expected-error @+1 {{expected an integer, a symbol, an operator or '('}}
func.func private @operand() attributes {a = #plan.expr<T + >}

// -----

// expected-error @+1 {{expected input, result, param, scale or array, but got 'weight'}}
func.func private @arg_kind() attributes {a = #plan.arg<read weight 0>}

// -----

// expected-error @+1 {{expected scalar, read, write or readwrite, but got 'reads'}}
func.func private @arg_access() attributes {a = #plan.arg<reads input 0>}

// -----

// expected-error @+1 {{expected buffer, param or i32, but got 'weight'}}
func.func private @bind_kind() attributes {a = #plan.bind<weight @x>}

// -----

// expected-error @+1 {{expected 'plan.grid' to be three #plan.expr, but got [1]}}
func.func private @attr_c1() attributes {plan.grid = [1]}

// -----

// expected-error @+1 {{expected 'plan.args' to be a list of #plan.arg, but got [1]}}
func.func private @attr_c2() attributes {plan.args = [1]}

// -----

// expected-error @+1 {{expected 'plan.worklists' to be a list of #plan.worklist, but got 3 : i64}}
func.func private @attr_c3() attributes {plan.worklists = 3}

// -----

// expected-error @+1 {{expected an attribute that plan defines (plan.grid, plan.args, plan.worklists), but got 'plan.block'}}
func.func private @attr_c4() attributes {plan.block = 1}

// -----

plan.program @program_c1 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected only what plan.program can hold}}
  func.func private @f()
}

// -----

plan.program @program_c2 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.buffer @x : bf16 [T, 128] stride 128 step
  // A kernel may be called as a buffer is, a work list may not: it is a buffer.
  plan.kernel @x code "x" block 128 args [] ops []
  // expected-error @+1 {{expected a name of its own, but got 'x' twice}}
  plan.worklist @x rows 64 rows_per_token 2
}

// -----

plan.program @rows_c1 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected an element type of bf16, f32, f8E4M3FN or i32, but got 'f16'}}
  plan.buffer @x : f16 [T, 128] stride 128 step
}

// -----

plan.program @rows_c2 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected a row stride of at least 128 elements, but got 64}}
  plan.buffer @x : bf16 [T, 128] stride 64 step
}

// -----

plan.program @param_c1 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected a shape of one or two positive extents, but got [8, 0]}}
  plan.param @w : bf16 [8, 0] stride 8 model layers [] parts [#plan.part<"w" rows 8 at 0>]
}

// -----

plan.program @param_c2 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected layers [from, to] with from < to, but got []}}
  plan.param @w : bf16 [8, 8] stride 8 layer layers [] parts [#plan.part<"w" rows 8 at 0>]
}

// -----

plan.program @param_c2_model attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected no layers for a weight of the model, but got [0, 1]}}
  plan.param @w : bf16 [8, 8] stride 8 model layers [0, 1] parts [#plan.part<"w" rows 8 at 0>]
}

// -----

plan.program @param_c3 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected parts in order and without overlap, but got #plan.part<"v" rows 4 at 3> after row 4}}
  plan.param @w : bf16 [8, 8] stride 8 model layers [] parts [#plan.part<"w" rows 4 at 0>, #plan.part<"v" rows 4 at 3>]
}

// -----

plan.program @param_c4 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected parts within 8 rows, but got an end of 9}}
  plan.param @w : bf16 [8, 8] stride 8 model layers [] parts [#plan.part<"w" rows 9 at 0>]
}

// -----

plan.program @buffer_c1 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected at least one dimension, but got none}}
  plan.buffer @x : bf16 [] step
}

// -----

plan.program @buffer_c2 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected a row stride only for rows of known length}}
  plan.buffer @x : i32 [B, T] stride 8 step
}

// -----

plan.program @worklist_c1 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected positive rows and rows_per_token, but got 0 and 2}}
  plan.worklist @tiles rows 0 rows_per_token 2
}

// -----

plan.program @kernel_c1 attributes {model = {}, options = {}, target = "sm_90a"} {
  // expected-error @+1 {{expected a block of whole warps and at most 1024 threads, but got 100}}
  plan.kernel @k code "k" block 100 args [] ops []
}

// -----

plan.program @launch_c1 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.entry @stack {
    // expected-error @+1 {{expected a grid of three expressions, but got 2}}
    plan.launch @k grid [T, 1] args []
  }
}

// -----

plan.program @layers_c1 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.entry @stack {
    // expected-error @+1 {{expected from < to, but got 2 and 2}}
    plan.layers "dense" from 2 to 2 { }
  }
}
