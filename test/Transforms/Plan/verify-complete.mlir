// RUN: k2-opt %s --plan-verify-complete --split-input-file --verify-diagnostics
// A plan that passes leaves the runtime no question; each way to leave one is an error at the command.

plan.program @complete attributes {model = {num_hidden_layers = 2 : i64}, options = {}, target = "sm_90a"} {
  plan.param @dense.w : bf16 [8, 8] stride 8 layer layers [0, 2] parts [#plan.part<"w.{layer}" rows 8 at 0>]
  plan.buffer @token_ids : i32 [T] input
  plan.buffer @x : bf16 [T, 8] stride 8 step
  plan.buffer @y : bf16 [T, 8] stride 8 step
  plan.worklist @list rows 64 rows_per_token 2
  plan.kernel @make code "make" block 128 args [#plan.kernel_arg<pointer "ids" read>, #plan.kernel_arg<i32 "ids.d0" read>, #plan.kernel_arg<pointer "x" write>] ops []
  plan.kernel @linear code "linear" block 128 args [#plan.kernel_arg<pointer "x" read>, #plan.kernel_arg<pointer "w" read>, #plan.kernel_arg<pointer "y" write>] ops []
  plan.kernel @work code "work" block 128 args [#plan.kernel_arg<pointer "tiles" read>, #plan.kernel_arg<pointer "x" readwrite>] ops []
  plan.entry @model {
    plan.launch @make grid [T, 1, 1] args [#plan.bind<buffer @token_ids>, #plan.bind<i32 T>, #plan.bind<buffer @x>]
    plan.make_worklist @list
    plan.layers "dense" from 0 to 2 {
      plan.launch @linear grid [T, num_hidden_layers, 1] args [#plan.bind<buffer @x>, #plan.bind<param @dense.w>, #plan.bind<buffer @y>]
      plan.launch @work grid [W_list, 1, 1] args [#plan.bind<buffer @list>, #plan.bind<buffer @x>]
      plan.trace "x" layer layer + 1 of @x
    }
    plan.copy @y to @x
  }
  // x holds x0 here, and x_L in head.
  plan.entry @stack {
    plan.copy @x to @y
  }
  plan.entry @head {
    plan.when eq(masked, 1) { plan.copy @x to @y } else { plan.zero @y }
    plan.copy @y to @x
  }
}

// -----

plan.program @complete_c3 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.buffer @x : bf16 [T, 8] stride 8 step
  plan.buffer @y : bf16 [T, 8] stride 8 step
  plan.entry @model {
    plan.when le(T, 16) { plan.zero @x } else { }
    // expected-error @+1 {{expected buffer @x to be written before it is read}}
    plan.copy @x to @y
  }
}

// -----

plan.program @complete_c8 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.entry @model {
    // expected-error @+1 {{expected the name of a kernel, but got @gone}}
    plan.launch @gone grid [1, 1, 1] args []
  }
}

// -----

plan.program @complete_c9 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.kernel @k code "k" block 128 args [#plan.kernel_arg<pointer "x" read>] ops []
  plan.entry @model {
    // expected-error @+1 {{expected 1 arguments for kernel @k, but got 0}}
    plan.launch @k grid [1, 1, 1] args []
  }
}

// -----

plan.program @complete_c10 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.kernel @k code "k" block 128 args [#plan.kernel_arg<i32 "x.d0" read>] ops []
  plan.buffer @x : bf16 [T, 8] stride 8 persistent
  plan.entry @model {
    // expected-error @+1 {{expected a i32 for argument 'x.d0', but got #plan.bind<buffer @x>}}
    plan.launch @k grid [1, 1, 1] args [#plan.bind<buffer @x>]
  }
}

// -----

plan.program @complete_c6 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.kernel @k code "k" block 128 args [#plan.kernel_arg<pointer "w" read>] ops []
  plan.param @w : bf16 [8, 8] stride 8 layer layers [0, 2] parts [#plan.part<"w" rows 8 at 0>]
  plan.entry @model {
    // expected-error @+1 {{expected param @w of a layer to be bound inside plan.layers}}
    plan.launch @k grid [1, 1, 1] args [#plan.bind<param @w>]
  }
}

// -----

plan.program @complete_c7 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.kernel @k code "k" block 128 args [#plan.kernel_arg<pointer "w" read>] ops []
  plan.param @w : bf16 [8, 8] stride 8 layer layers [1, 2] parts [#plan.part<"w" rows 8 at 0>]
  plan.entry @model {
    plan.layers "dense" from 0 to 2 {
      // expected-error @+1 {{expected param @w to cover layers 0 to 2, but it has 1 to 2}}
      plan.launch @k grid [1, 1, 1] args [#plan.bind<param @w>]
    }
  }
}

// -----

plan.program @complete_c11 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.kernel @k code "k" block 128 args [#plan.kernel_arg<pointer "w" write>] ops []
  plan.param @w : bf16 [8, 8] stride 8 model layers [] parts [#plan.part<"w" rows 8 at 0>]
  plan.entry @model {
    // expected-error @+1 {{expected a buffer for argument 'w' that is written, but got #plan.bind<param @w>}}
    plan.launch @k grid [1, 1, 1] args [#plan.bind<param @w>]
  }
}

// -----

plan.program @complete_c4 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.buffer @slot : i32 [T] input
  plan.entry @model {
    // expected-error @+1 {{expected a buffer of class step or persistent where one is written, but got @slot}}
    plan.zero @slot
  }
}

// -----

plan.program @complete_c1 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.buffer @x : bf16 [T, 8] stride 8 persistent
  plan.entry @model {
    // expected-error @+1 {{expected a symbol that has a value here, but got 'layer'}}
    plan.trace "x" layer layer of @x
  }
}

// -----

plan.program @complete_c1_list attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.worklist @list rows 64 rows_per_token 2
  plan.kernel @k code "k" block 128 args [] ops []
  plan.entry @model {
    // expected-error @+1 {{expected a symbol that has a value here, but got 'W_list'}}
    plan.launch @k grid [W_list, 1, 1] args []
  }
}

// -----

plan.program @complete_c12 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.entry @model {
    plan.layers "dense" from 0 to 2 {
      // expected-error @+1 {{expected layers not to be nested}}
      plan.layers "dense" from 0 to 2 { }
    }
  }
}

// -----

plan.program @complete_c2 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.entry @model {
    // expected-error @+1 {{expected the name of a buffer, but got @x}}
    plan.trace "x" layer 0 of @x
  }
}

// -----

plan.program @complete_c5 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.kernel @k code "k" block 128 args [#plan.kernel_arg<pointer "w" read>] ops []
  plan.entry @model {
    // expected-error @+1 {{expected the name of a param, but got @w}}
    plan.launch @k grid [1, 1, 1] args [#plan.bind<param @w>]
  }
}

// -----

plan.program @complete_c13 attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.buffer @x : bf16 [T, 8] stride 8 persistent
  plan.entry @model {
    // expected-error @+1 {{expected the name of a work list, but got @x}}
    plan.make_worklist @x
  }
}

// -----

plan.program @foreign attributes {model = {}, options = {}, target = "sm_90a"} {
  plan.entry @model {
    // expected-error @+1 {{expected a command of plan}}
    %0 = arith.constant 1 : i32
  }
}
