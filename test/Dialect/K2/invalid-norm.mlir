// RUN: k2-opt %s --split-input-file --verify-diagnostics
// Rules of norm, position, cache and embedding ops; a function is named after the rule of Spec.md that it breaks.

func.func @rms_norm_c1(%x: tensor<256xbf16>, %w: tensor<256xf32>) {
  // expected-error @below {{expected input of rank 2, but got rank 1}}
  %0 = k2.rms_norm %x, %w eps 1.0e-6 weight_type bf16 : tensor<256xbf16>, tensor<256xf32>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<?x7168xbf16>, %w: tensor<7169xf32>) {
  // expected-error @below {{expected weight of 7168 elements to match the last dimension of input, but got 7169}}
  %0 = k2.rms_norm %x, %w eps 1.0e-6 weight_type bf16 : tensor<?x7168xbf16>, tensor<7169xf32>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<?x256xbf16>, %w: tensor<256xf32>) {
  // expected-error @below {{expected weight_type to be bf16 or f32, but got 'f16'}}
  %0 = k2.rms_norm %x, %w eps 1.0e-6 weight_type f16 : tensor<?x256xbf16>, tensor<256xf32>
  return
}

// -----

func.func @rms_norm_c4(%x: tensor<?x256xbf16>, %w: tensor<256xf32>) {
  // expected-error @below {{expected eps to be positive, but got 0.000000e+00}}
  %0 = k2.rms_norm %x, %w eps 0.0 weight_type bf16 : tensor<?x256xbf16>, tensor<256xf32>
  return
}

// -----

func.func @residual_add_c1(%x: tensor<256xbf16>) {
  // expected-error @below {{expected operands of rank 2, but got rank 1}}
  %0 = k2.residual_add %x, %x : tensor<256xbf16>
  return
}

// -----

func.func @rope_c1(%x: tensor<384xbf16>, %c: tensor<?x32xf32>) {
  // expected-error @below {{expected input of rank 2, but got rank 1}}
  %0 = k2.rope %x, %c, %c {heads = 2, nope = 128, rope = 64} : tensor<384xbf16>, tensor<?x32xf32>
  return
}

// -----

func.func @rope_c2(%x: tensor<?x386xbf16>, %c: tensor<?x32xf32>) {
  // expected-error @below {{expected heads > 0, nope >= 0 and an even rope > 0, but got 2, 128 and 65}}
  %0 = k2.rope %x, %c, %c {heads = 2, nope = 128, rope = 65} : tensor<?x386xbf16>, tensor<?x32xf32>
  return
}

// -----

func.func @rope_c3(%x: tensor<?x383xbf16>, %c: tensor<?x32xf32>) {
  // expected-error @below {{expected input of heads * (nope + rope) = 384 columns, but got 383}}
  %0 = k2.rope %x, %c, %c {heads = 2, nope = 128, rope = 64} : tensor<?x383xbf16>, tensor<?x32xf32>
  return
}

// -----

func.func @rope_c4(%x: tensor<?x384xbf16>, %c: tensor<?x64xf32>) {
  // expected-error @below {{expected cos and sin of rope / 2 = 32 columns, but got 64}}
  %0 = k2.rope %x, %c, %c {heads = 2, nope = 128, rope = 64} : tensor<?x384xbf16>, tensor<?x64xf32>
  return
}

// -----

func.func @rope_c5(%x: tensor<4x384xbf16>, %c: tensor<5x32xf32>) {
  // expected-error @below {{expected one row of cos and sin per row of input, but got 5 and 4}}
  %0 = k2.rope %x, %c, %c {heads = 2, nope = 128, rope = 64} : tensor<4x384xbf16>, tensor<5x32xf32>
  return
}

// -----

func.func @append_c1(%l: tensor<128xbf16>, %k: tensor<?x64xbf16>, %b: !k2.batch, %c: !k2.cache<128, 64>) {
  // expected-error @below {{expected latent of rank 2, but got rank 1}}
  %0 = k2.append %l, %k, %b, %c : tensor<128xbf16>, tensor<?x64xbf16>, !k2.cache<128, 64>
  return
}

// -----

func.func @append_c2(%l: tensor<?x128xbf16>, %k: tensor<?x32xbf16>, %b: !k2.batch, %c: !k2.cache<128, 64>) {
  // expected-error @below {{expected rows of 128 and 64 columns as the cache has, but got 128 and 32}}
  %0 = k2.append %l, %k, %b, %c : tensor<?x128xbf16>, tensor<?x32xbf16>, !k2.cache<128, 64>
  return
}

// -----

func.func @append_c3(%l: tensor<3x128xbf16>, %k: tensor<4x64xbf16>, %b: !k2.batch, %c: !k2.cache<128, 64>) {
  // expected-error @below {{expected as many rows of key_rope as of latent, but got 4 and 3}}
  %0 = k2.append %l, %k, %b, %c : tensor<3x128xbf16>, tensor<4x64xbf16>, !k2.cache<128, 64>
  return
}

// -----

func.func @embed_c1(%i: tensor<?x1xi32>, %t: tensor<512x256xbf16>) {
  // expected-error @below {{expected ids of rank 1, but got rank 2}}
  %0 = k2.embed %i, %t : tensor<?x1xi32>, tensor<512x256xbf16> -> tensor<?x256xbf16>
  return
}

// -----

func.func @embed_c2(%i: tensor<?xi32>, %t: tensor<512x256xbf16>) {
  // expected-error @below {{expected result of 256 columns as the table has, but got 128}}
  %0 = k2.embed %i, %t : tensor<?xi32>, tensor<512x256xbf16> -> tensor<?x128xbf16>
  return
}

// -----

func.func @embed_c3(%i: tensor<3xi32>, %t: tensor<512x256xbf16>) {
  // expected-error @below {{expected one row per id, but got 4 rows and 3 ids}}
  %0 = k2.embed %i, %t : tensor<3xi32>, tensor<512x256xbf16> -> tensor<4x256xbf16>
  return
}

// -----

func.func @open_columns(%x: tensor<?x?xbf16>) {
  // expected-error @below {{must be bf16 tensor whose dimensions but the first are static, but got 'tensor<?x?xbf16>'}}
  %0 = k2.residual_add %x, %x : tensor<?x?xbf16>
  return
}
