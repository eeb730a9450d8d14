// RUN: k2-opt %s --split-input-file --verify-diagnostics
// Rules of linear ops, quantized types and kernels; a function is named after the rule of Spec.md that it breaks.

func.func @linear_c1(%x: tensor<?x256xbf16>, %w: tensor<4x160x256xbf16>) {
  // expected-error @below {{expected input, weight and result of rank 2, but got 2, 3 and 2}}
  %0 = k2.linear %x, %w : tensor<?x256xbf16>, tensor<4x160x256xbf16> -> tensor<?x160xbf16>
  return
}

// -----

func.func @linear_c2(%x: tensor<?x256xbf16>, %w: !k2.quantized<[160, 255], f8E4M3FN, block = [128, 128], scale = f32>) {
  // expected-error @below {{expected weight of 256 columns to match the last dimension of input, but got 255}}
  %0 = k2.linear %x, %w : tensor<?x256xbf16>, !k2.quantized<[160, 255], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x160xbf16>
  return
}

// -----

func.func @linear_c3(%x: tensor<?x256xbf16>, %w: tensor<160x256xbf16>) {
  // expected-error @below {{expected result of 160 columns, one per row of weight, but got 161}}
  %0 = k2.linear %x, %w : tensor<?x256xbf16>, tensor<160x256xbf16> -> tensor<?x161xbf16>
  return
}

// -----

func.func @linear_c4(%x: tensor<3x256xbf16>, %w: tensor<160x256xbf16>) {
  // expected-error @below {{expected as many rows of result as of input, but got 4 and 3}}
  %0 = k2.linear %x, %w : tensor<3x256xbf16>, tensor<160x256xbf16> -> tensor<4x160xbf16>
  return
}

// -----

func.func @slice_c1(%x: tensor<256xbf16>) {
  // expected-error @below {{expected input and result of rank 2, but got 1 and 2}}
  %0 = k2.slice %x offset 0 size 8 : tensor<256xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @slice_c2(%x: tensor<?x576xbf16>) {
  // expected-error @below {{expected columns within the 576 of input, but got 65 from 512 on}}
  %0 = k2.slice %x offset 512 size 65 : tensor<?x576xbf16> -> tensor<?x65xbf16>
  return
}

// -----

func.func @slice_c3(%x: tensor<?x576xbf16>) {
  // expected-error @below {{expected result of 64 columns and the rows of input, but got 'tensor<?x65xbf16>'}}
  %0 = k2.slice %x offset 512 size 64 : tensor<?x576xbf16> -> tensor<?x65xbf16>
  return
}

// -----

func.func @swiglu_c1(%x: tensor<256xbf16>) {
  // expected-error @below {{expected operands of rank 2, but got rank 1}}
  %0 = k2.swiglu %x, %x : tensor<256xbf16>
  return
}

// -----

func.func @kernel_c1() {
  // expected-error @below {{expected a name, but got an empty one}}
  k2.kernel "" {
    k2.yield
  }
  return
}

// -----

func.func @kernel_c2(%x: tensor<?x256xbf16>) {
  // expected-error @below {{expected the region to end with k2.yield, but got k2.residual_add}}
  k2.kernel "sum" {
    %0 = k2.residual_add %x, %x : tensor<?x256xbf16>
  }
  return
}

// -----

func.func @kernel_c3(%x: tensor<?x256xbf16>) {
  // expected-error @below {{expected k2.yield to have the types of the results ('tensor<?x128xbf16>'), but got ('tensor<?x256xbf16>')}}
  %0 = k2.kernel "copy" -> tensor<?x128xbf16> {
    k2.yield %x : tensor<?x256xbf16>
  }
  return
}

// -----

// expected-error @below {{expected positive tile extents, but got 0}}
#kernel_config_c1 = #k2.kernel_config<orientation = tokens_m, tile = [0, 64, 64], split = 1, decomposition = tiles, prologue = none>

// -----

// expected-error @below {{expected a split of at least 1, but got 0}}
#kernel_config_c2 = #k2.kernel_config<orientation = tokens_m, tile = [64, 64, 64], split = 0, decomposition = tiles, prologue = none>

// -----

// expected-error @below {{expected a quantized weight of rank 2 or 3, but got rank 1}}
!quantized_c1 = !k2.quantized<[128], f8E4M3FN, block = [128, 128], scale = f32>

// -----

// expected-error @below {{expected elements of a quantized weight to be f8E4M3FN, but got 'i8'}}
!quantized_c2 = !k2.quantized<[128, 128], i8, block = [128, 128], scale = f32>

// -----

// expected-error @below {{expected two positive block extents, but got [128]}}
!quantized_c3 = !k2.quantized<[128, 128], f8E4M3FN, block = [128], scale = f32>

// -----

// expected-error @below {{expected scales of type f32, but got 'bf16'}}
!quantized_c4 = !k2.quantized<[128, 128], f8E4M3FN, block = [128, 128], scale = bf16>
