// RUN: k2-opt %s --split-input-file --verify-diagnostics
// Rules of attention in both forms; a function is named after the rule of Spec.md that it breaks.

func.func @mla_attention_c1(%q: tensor<?x384xbf16>, %c: !k2.cache<128, 64>, %b: !k2.batch, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected nope to be positive, but got 0}}
  %0 = k2.mla_attention %q, %c, %b, %w {heads = 2, nope = 0, rope = 64, value = 128, scale = 0.125}
      : (tensor<?x384xbf16>, !k2.cache<128, 64>, !k2.batch, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @mla_attention_c2(%q: tensor<?x383xbf16>, %c: !k2.cache<128, 64>, %b: !k2.batch, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected query of heads * (nope + rope) = 384 columns, but got 383}}
  %0 = k2.mla_attention %q, %c, %b, %w {heads = 2, nope = 128, rope = 64, value = 128, scale = 0.125}
      : (tensor<?x383xbf16>, !k2.cache<128, 64>, !k2.batch, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @mla_attention_c3(%q: tensor<?x384xbf16>, %c: !k2.cache<128, 32>, %b: !k2.batch, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected rope of 32 as the cache has, but got 64}}
  %0 = k2.mla_attention %q, %c, %b, %w {heads = 2, nope = 128, rope = 64, value = 128, scale = 0.125}
      : (tensor<?x384xbf16>, !k2.cache<128, 32>, !k2.batch, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @mla_attention_c4(%q: tensor<?x384xbf16>, %c: !k2.cache<128, 64>, %b: !k2.batch, %w: tensor<512x64xbf16>) {
  // expected-error @below {{expected kv_b of heads * (nope + value) = 512 rows and 128 columns, but got 'tensor<512x64xbf16>'}}
  %0 = k2.mla_attention %q, %c, %b, %w {heads = 2, nope = 128, rope = 64, value = 128, scale = 0.125}
      : (tensor<?x384xbf16>, !k2.cache<128, 64>, !k2.batch, tensor<512x64xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @mla_attention_c5(%q: tensor<?x384xbf16>, %c: !k2.cache<128, 64>, %b: !k2.batch, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected result of heads * value = 256 columns, but got 512}}
  %0 = k2.mla_attention %q, %c, %b, %w {heads = 2, nope = 128, rope = 64, value = 128, scale = 0.125}
      : (tensor<?x384xbf16>, !k2.cache<128, 64>, !k2.batch, tensor<512x128xbf16>) -> tensor<?x512xbf16>
  return
}

// -----

func.func @absorb_query_c1(%q: tensor<?x384xbf16>, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected heads to be positive, but got -2}}
  %0 = k2.absorb_query %q, %w {heads = -2, nope = 128, rope = 64, value = 128} : (tensor<?x384xbf16>, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @absorb_query_c2(%q: tensor<?x256xbf16>, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected query of heads * (nope + rope) = 384 columns, but got 256}}
  %0 = k2.absorb_query %q, %w {heads = 2, nope = 128, rope = 64, value = 128} : (tensor<?x256xbf16>, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @absorb_query_c3(%q: tensor<?x384xbf16>, %w: tensor<511x128xbf16>) {
  // expected-error @below {{expected kv_b of heads * (nope + value) = 512 rows, but got 'tensor<511x128xbf16>'}}
  %0 = k2.absorb_query %q, %w {heads = 2, nope = 128, rope = 64, value = 128} : (tensor<?x384xbf16>, tensor<511x128xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @absorb_query_c4(%q: tensor<?x384xbf16>, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected result of heads * latents = 256 columns, but got 128}}
  %0 = k2.absorb_query %q, %w {heads = 2, nope = 128, rope = 64, value = 128} : (tensor<?x384xbf16>, tensor<512x128xbf16>) -> tensor<?x128xbf16>
  return
}

// -----

func.func @mla_attention_absorbed_c1(%l: tensor<?x256xbf16>, %q: tensor<?x384xbf16>, %c: !k2.cache<128, 64>, %b: !k2.batch) {
  // expected-error @below {{expected rope to be positive, but got 0}}
  %0 = k2.mla_attention_absorbed %l, %q, %c, %b {heads = 2, nope = 128, rope = 0, scale = 0.125}
      : (tensor<?x256xbf16>, tensor<?x384xbf16>, !k2.cache<128, 64>, !k2.batch) -> tensor<?x256xbf16>
  return
}

// -----

func.func @mla_attention_absorbed_c2(%l: tensor<?x255xbf16>, %q: tensor<?x384xbf16>, %c: !k2.cache<128, 64>, %b: !k2.batch) {
  // expected-error @below {{expected query_latent of heads * latents = 256 columns, but got 255}}
  %0 = k2.mla_attention_absorbed %l, %q, %c, %b {heads = 2, nope = 128, rope = 64, scale = 0.125}
      : (tensor<?x255xbf16>, tensor<?x384xbf16>, !k2.cache<128, 64>, !k2.batch) -> tensor<?x256xbf16>
  return
}

// -----

func.func @mla_attention_absorbed_c3(%l: tensor<?x256xbf16>, %q: tensor<?x383xbf16>, %c: !k2.cache<128, 64>, %b: !k2.batch) {
  // expected-error @below {{expected query of heads * (nope + rope) = 384 columns, but got 383}}
  %0 = k2.mla_attention_absorbed %l, %q, %c, %b {heads = 2, nope = 128, rope = 64, scale = 0.125}
      : (tensor<?x256xbf16>, tensor<?x383xbf16>, !k2.cache<128, 64>, !k2.batch) -> tensor<?x256xbf16>
  return
}

// -----

func.func @mla_attention_absorbed_c4(%l: tensor<?x256xbf16>, %q: tensor<?x384xbf16>, %c: !k2.cache<128, 32>, %b: !k2.batch) {
  // expected-error @below {{expected rope of 32 as the cache has, but got 64}}
  %0 = k2.mla_attention_absorbed %l, %q, %c, %b {heads = 2, nope = 128, rope = 64, scale = 0.125}
      : (tensor<?x256xbf16>, tensor<?x384xbf16>, !k2.cache<128, 32>, !k2.batch) -> tensor<?x256xbf16>
  return
}

// -----

func.func @mla_attention_absorbed_c5(%l: tensor<?x256xbf16>, %q: tensor<?x384xbf16>, %c: !k2.cache<128, 64>, %b: !k2.batch) {
  // expected-error @below {{expected result of heads * latents = 256 columns, but got 128}}
  %0 = k2.mla_attention_absorbed %l, %q, %c, %b {heads = 2, nope = 128, rope = 64, scale = 0.125}
      : (tensor<?x256xbf16>, tensor<?x384xbf16>, !k2.cache<128, 64>, !k2.batch) -> tensor<?x128xbf16>
  return
}

// -----

func.func @absorb_output_c1(%o: tensor<?x256xbf16>, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected value to be positive, but got 0}}
  %0 = k2.absorb_output %o, %w {heads = 2, nope = 128, value = 0} : (tensor<?x256xbf16>, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @absorb_output_c2(%o: tensor<?x256xbf16>, %w: tensor<384x128xbf16>) {
  // expected-error @below {{expected kv_b of heads * (nope + value) = 512 rows, but got 'tensor<384x128xbf16>'}}
  %0 = k2.absorb_output %o, %w {heads = 2, nope = 128, value = 128} : (tensor<?x256xbf16>, tensor<384x128xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @absorb_output_c3(%o: tensor<?x255xbf16>, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected output_latent of heads * latents = 256 columns, but got 255}}
  %0 = k2.absorb_output %o, %w {heads = 2, nope = 128, value = 128} : (tensor<?x255xbf16>, tensor<512x128xbf16>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @absorb_output_c4(%o: tensor<?x256xbf16>, %w: tensor<512x128xbf16>) {
  // expected-error @below {{expected result of heads * value = 256 columns, but got 512}}
  %0 = k2.absorb_output %o, %w {heads = 2, nope = 128, value = 128} : (tensor<?x256xbf16>, tensor<512x128xbf16>) -> tensor<?x512xbf16>
  return
}

// -----

// expected-error @below {{expected positive row sizes of a cache, but got 0 and 64}}
func.func private @cache_c1(!k2.cache<0, 64>)
