// Where tokens come in. (Logits are a k2.linear with an f32 result.)
#ifndef DIALECTS_K2_K2ENDSOPS_TD
#define DIALECTS_K2_K2ENDSOPS_TD

include "dialects/K2/K2Base.td"

def K2_EmbedOp : K2_ComputeOp<"embed"> {
  let summary = "Look up the embeddings of tokens";
  let description = [{
    ids [T], table [V, d] -> [T, d]: row ids[t] of the table. Exact. An id outside the table is refused before anything runs.

    ```mlir
    %x0 = k2.embed %ids, %table : tensor<?xi32>, tensor<163840x7168xbf16> -> tensor<?x7168xbf16>
    ```
  }];
  let arguments = (ins K2_Ids:$ids, K2_Activation:$table);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($ids) `,` type($table) `->` type($result)";
}

#endif // DIALECTS_K2_K2ENDSOPS_TD
