// Test-only ops: what a test expects, inside the function that computes it.
#ifndef DIALECTS_CHECK_CHECKOPS_TD
#define DIALECTS_CHECK_CHECKOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::k2c::check";
  let summary = "Expectations of tests, run by k2-interpret and by execution tests";
  let description = [{
    A test states what it expects inside the function that computes it. The ops compare tensors and have no results; only the reference interpreter and test
    harnesses give them meaning, no pass lowers them.
  }];
}

class Check_Op<string mnemonic, list<Trait> traits = []> : Op<Check_Dialect, mnemonic, traits>;

def Check_ExpectEqualOp : Check_Op<"expect_equal", [SameTypeOperands]> {
  let summary = "Expect two tensors to be equal, element by element";
  let description = [{
    Fails at the first element that differs, naming its coordinates and both values. NaN equals NaN; -0.0 equals 0.0.

    ```mlir
    check.expect_equal %ids, %expected : tensor<2x2xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$got, AnyRankedTensor:$want);
  let assemblyFormat = "$got `,` $want attr-dict `:` type($got)";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [SameTypeOperands]> {
  let summary = "Expect two tensors to agree within stated tolerances";
  let description = [{
    `max_abs` bounds the largest absolute difference, `relative_rms` the root mean square of the difference relative to that of `want`. At
    least one is given; there is no default. A NaN or infinity in `got` fails.

    ```mlir
    check.expect_close %y, %expected max_abs 1.0e-06 : tensor<2x4xf32>
    check.expect_close %y, %expected relative_rms 1.0e-05 : tensor<2x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$got, AnyRankedTensor:$want, OptionalAttr<F64Attr>:$max_abs, OptionalAttr<F64Attr>:$relative_rms);
  let assemblyFormat = "$got `,` $want (`max_abs` $max_abs^)? (`relative_rms` $relative_rms^)? attr-dict `:` type($got)";
  let hasVerifier = 1;
}

#endif // DIALECTS_CHECK_CHECKOPS_TD
