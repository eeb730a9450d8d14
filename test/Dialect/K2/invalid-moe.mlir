// RUN: k2-opt %s --split-input-file --verify-diagnostics
// Rules of the mixture of experts; a function is named after the rule of Spec.md that it breaks.

func.func @router_c1(%l: tensor<16xf32>) {
  // expected-error @below {{expected logits of rank 2, but got rank 1}}
  %0, %1 = k2.router %l {top_k = 4, n_group = 1, topk_group = 1, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5}
      : (tensor<16xf32>) -> (tensor<?x4xi32>, tensor<?x4xf32>)
  return
}

// -----

func.func @router_c2(%l: tensor<?x16xf32>, %b: tensor<15xf32>) {
  // expected-error @below {{expected bias of 16 elements, one per expert, but got 'tensor<15xf32>'}}
  %0, %1 = k2.router %l, %b {top_k = 4, n_group = 1, topk_group = 1, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5}
      : (tensor<?x16xf32>, tensor<15xf32>) -> (tensor<?x4xi32>, tensor<?x4xf32>)
  return
}

// -----

func.func @router_c3(%l: tensor<?x16xf32>) {
  // expected-error @below {{expected n_group to divide the 16 experts, but got 3}}
  %0, %1 = k2.router %l {top_k = 4, n_group = 3, topk_group = 1, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5}
      : (tensor<?x16xf32>) -> (tensor<?x4xi32>, tensor<?x4xf32>)
  return
}

// -----

func.func @router_c4(%l: tensor<?x16xf32>) {
  // expected-error @below {{expected topk_group from 1 to n_group = 4, but got 5}}
  %0, %1 = k2.router %l {top_k = 4, n_group = 4, topk_group = 5, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5}
      : (tensor<?x16xf32>) -> (tensor<?x4xi32>, tensor<?x4xf32>)
  return
}

// -----

func.func @router_c5(%l: tensor<?x16xf32>) {
  // expected-error @below {{expected at least two experts in a group, but got one}}
  %0, %1 = k2.router %l {top_k = 4, n_group = 16, topk_group = 8, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5}
      : (tensor<?x16xf32>) -> (tensor<?x4xi32>, tensor<?x4xf32>)
  return
}

// -----

func.func @router_c6(%l: tensor<?x16xf32>) {
  // expected-error @below {{expected top_k from 1 to the 4 experts of the kept groups, but got 5}}
  %0, %1 = k2.router %l {top_k = 5, n_group = 4, topk_group = 1, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5}
      : (tensor<?x16xf32>) -> (tensor<?x5xi32>, tensor<?x5xf32>)
  return
}

// -----

func.func @router_c7(%l: tensor<?x16xf32>) {
  // expected-error @below {{expected results of top_k = 4 columns and the rows of logits, but got 'tensor<?x3xf32>'}}
  %0, %1 = k2.router %l {top_k = 4, n_group = 1, topk_group = 1, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.5}
      : (tensor<?x16xf32>) -> (tensor<?x4xi32>, tensor<?x3xf32>)
  return
}

// -----

func.func @dispatch_c1(%i: tensor<?x3xi32>) {
  // expected-error @below {{expected ids of 4 columns as the routing has, but got 'tensor<?x3xi32>'}}
  %0 = k2.dispatch %i : tensor<?x3xi32> -> !k2.routing<16, 4>
  return
}

// -----

func.func @expert_linear_c1(%x: tensor<?x256xbf16>, %w: tensor<64x256xbf16>, %r: !k2.routing<16, 4>) {
  // expected-error @below {{expected input and result of rank 2 and weight of rank 3, but got 2, 2 and 2}}
  %0 = k2.expert_linear %x, %w, %r gather : (tensor<?x256xbf16>, tensor<64x256xbf16>, !k2.routing<16, 4>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @expert_linear_c2(%x: tensor<?x256xbf16>, %w: tensor<15x64x256xbf16>, %r: !k2.routing<16, 4>) {
  // expected-error @below {{expected weight of the routing's 16 experts, but got 15}}
  %0 = k2.expert_linear %x, %w, %r gather : (tensor<?x256xbf16>, tensor<15x64x256xbf16>, !k2.routing<16, 4>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @expert_linear_c3(%x: tensor<?x128xbf16>, %w: tensor<16x64x256xbf16>, %r: !k2.routing<16, 4>) {
  // expected-error @below {{expected weight of 128 columns to match the last dimension of input, but got 256}}
  %0 = k2.expert_linear %x, %w, %r gather : (tensor<?x128xbf16>, tensor<16x64x256xbf16>, !k2.routing<16, 4>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @expert_linear_c4(%x: tensor<?x256xbf16>, %w: tensor<16x64x256xbf16>, %r: !k2.routing<16, 4>) {
  // expected-error @below {{expected result of 64 columns, one per row of weight, but got 65}}
  %0 = k2.expert_linear %x, %w, %r gather : (tensor<?x256xbf16>, tensor<16x64x256xbf16>, !k2.routing<16, 4>) -> tensor<?x65xbf16>
  return
}

// -----

func.func @expert_linear_c5(%x: tensor<3x256xbf16>, %w: tensor<16x64x256xbf16>, %r: !k2.routing<16, 4>) {
  // expected-error @below {{expected result of 12 rows, one per token and slot, but got 3}}
  %0 = k2.expert_linear %x, %w, %r gather : (tensor<3x256xbf16>, tensor<16x64x256xbf16>, !k2.routing<16, 4>) -> tensor<3x64xbf16>
  return
}

// -----

func.func @combine_c1(%x: tensor<256xbf16>, %w: tensor<?x4xf32>, %r: !k2.routing<16, 4>) {
  // expected-error @below {{expected rows, weights and result of rank 2, but got 1, 2 and 2}}
  %0 = k2.combine %x, %w, %r : tensor<256xbf16>, tensor<?x4xf32>, !k2.routing<16, 4> -> tensor<?x256xbf16>
  return
}

// -----

func.func @combine_c2(%x: tensor<?x256xbf16>, %w: tensor<?x3xf32>, %r: !k2.routing<16, 4>) {
  // expected-error @below {{expected weights of 4 columns as the routing has, but got 3}}
  %0 = k2.combine %x, %w, %r : tensor<?x256xbf16>, tensor<?x3xf32>, !k2.routing<16, 4> -> tensor<?x256xbf16>
  return
}

// -----

func.func @combine_c3(%x: tensor<?x256xbf16>, %w: tensor<?x4xf32>, %r: !k2.routing<16, 4>) {
  // expected-error @below {{expected result of 256 columns as the rows have, but got 128}}
  %0 = k2.combine %x, %w, %r : tensor<?x256xbf16>, tensor<?x4xf32>, !k2.routing<16, 4> -> tensor<?x128xbf16>
  return
}

// -----

// expected-error @below {{expected 1 to 16 experts per token, but got 17}}
func.func private @routing_c1(!k2.routing<16, 17>)
