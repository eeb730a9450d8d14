// The paged latent cache.
#ifndef DIALECTS_K2_K2CACHEOPS_TD
#define DIALECTS_K2_K2CACHEOPS_TD

include "dialects/K2/K2Base.td"

def K2_AppendOp : K2_ComputeOp<"append", [AllTypesMatch<["cache", "result"]>]> {
  let summary = "Write the rows of a step's tokens into the cache";
  let description = [{
    `latent` [T, C] (normalised) and `key_rope` [T, R] (rotated) become the row of every token's slot; tokens without a slot are skipped. The result is the cache that
    holds them; the old value must not be used afterwards. Exact.

    ```mlir
    %cache1 = k2.append %latent, %k_rope, %batch, %cache : tensor<?x512xbf16>, tensor<?x64xbf16>, !k2.cache<512, 64>
    ```
  }];
  let arguments = (ins K2_Activation:$latent, K2_Activation:$key_rope, K2_BatchType:$batch, K2_CacheType:$cache);
  let results = (outs K2_CacheType:$result);
  let assemblyFormat = "$latent `,` $key_rope `,` $batch `,` $cache attr-dict `:` type($latent) `,` type($key_rope) `,` qualified(type($cache))";
}

#endif // DIALECTS_K2_K2CACHEOPS_TD
