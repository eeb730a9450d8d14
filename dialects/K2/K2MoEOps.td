// Mixture of experts. Letters: E experts, k experts per token.
#ifndef DIALECTS_K2_K2MOEOPS_TD
#define DIALECTS_K2_K2MOEOPS_TD

include "dialects/K2/K2Base.td"

def K2_RouterOp : K2_ComputeOp<"router"> {
  let summary = "Choose every token's experts and their weights";
  let description = [{
    Scores are the sigmoid (or softmax) of the logits [T, E]. For the *choice* the bias [E] is added; with `n_group` > 1 a group is worth the sum of
    its two best biased scores, the best `topk_group` groups stay and the experts of all others count as minus infinity; then the best `top_k` experts are
    chosen, the lower index on ties. The *weights* are the unbiased scores of the chosen experts, divided by (their sum + 1e-20) with
    `normalize`, times `scaling`. Results: ids [T, k] by descending weight (lower index on ties), weights [T, k]. All float32, no rounding.

    ```mlir
    %ids, %weights = k2.router %logits, %bias {top_k = 8, n_group = 1, topk_group = 1, scoring = #k2.scoring<sigmoid>, normalize = true, scaling = 2.827 : f64}
        : (tensor<?x384xf32>, tensor<384xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
    ```
  }];
  let arguments = (ins K2_F32Rows:$logits, Optional<K2_F32Rows>:$bias, I64Attr:$top_k, I64Attr:$n_group,
                       I64Attr:$topk_group, K2_ScoringAttr:$scoring, BoolAttr:$normalize, F64Attr:$scaling);
  let results = (outs K2_Ids:$ids, K2_F32Rows:$weights);
  let assemblyFormat = "$logits (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def K2_DispatchOp : K2_ComputeOp<"dispatch"> {
  let summary = "Sort the pairs of tokens and slots by expert";
  let description = [{
    Counts the pairs of every expert and gives every pair its row: experts ascending, within an expert by token. Integer, exact.

    ```mlir
    %routing = k2.dispatch %ids : tensor<?x8xi32> -> !k2.routing<384, 8>
    ```
  }];
  let arguments = (ins K2_Ids:$ids);
  let results = (outs K2_RoutingType:$routing);
  let assemblyFormat = "$ids attr-dict `:` type($ids) `->` qualified(type($routing))";
}

def K2_ExpertWorkOp : K2_ComputeOp<"expert_work", [AllTypesMatch<["routing", "result"]>]> {
  let summary = "Cut every expert's rows into work items";
  let description = [{
    Adds the work list that grouped kernels run over to a routing: (expert, first row, rows) of at most 64 rows each, experts ascending, and its
    length. Changes no row; an interpreter passes its operand through. Integer, exact.

    ```mlir
    %work = k2.expert_work %routing : !k2.routing<384, 8>
    ```
  }];
  let arguments = (ins K2_RoutingType:$routing);
  let results = (outs K2_RoutingType:$result);
  let assemblyFormat = "$routing attr-dict `:` type($routing)";
  let hasVerifier = 0;
}

def K2_ExpertLinearOp : K2_Op<"expert_linear", [Pure,
    DeclareOpInterfaceMethods<K2CostInterface, ["getOperandBytes", "getResultBytes"]>]> {
  let summary = "Multiply every row by its expert's weight, transposed";
  let description = [{
    Row r of the result belongs to expert e(r) of the routing and is `row * weight[e(r)]^T`. With `gather` the row is the token's row of the input [T, K], without it row
    r of [T * k, K]. Weight [E, N, K], result [T * k, N]. Accumulation and rounding as `k2.linear`.

    ```mlir
    %gate = k2.expert_linear %h, %w, %routing gather : (tensor<?x7168xbf16>, tensor<384x2048x7168xbf16>, !k2.routing<384, 8>) -> tensor<?x2048xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$input, K2_Matrix:$weight, K2_RoutingType:$routing, UnitAttr:$gather);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$input `,` $weight `,` $routing (`gather` $gather^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def K2_CombineOp : K2_Op<"combine", [Pure, DeclareOpInterfaceMethods<K2CostInterface, ["getOperandBytes"]>]> {
  let summary = "Sum the expert outputs of every token by weight";
  let description = [{
    [T * k, d] rows and weights [T, k] give [T, d]: the sum over the slots of `weight * row`, in slot order, in float32, rounded to bf16 once.

    ```mlir
    %routed = k2.combine %rows, %weights, %routing : tensor<?x7168xbf16>, tensor<?x8xf32>, !k2.routing<384, 8> -> tensor<?x7168xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$rows, K2_F32Rows:$weights, K2_RoutingType:$routing);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$rows `,` $weights `,` $routing attr-dict `:` type($rows) `,` type($weights) `,` qualified(type($routing)) `->` type($result)";
  let hasVerifier = 1;
}

#endif // DIALECTS_K2_K2MOEOPS_TD
