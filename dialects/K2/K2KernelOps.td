// The grouping of ops into GPU kernels.
#ifndef DIALECTS_K2_K2KERNELOPS_TD
#define DIALECTS_K2_K2KERNELOPS_TD

include "dialects/K2/K2Base.td"

def K2_KernelOp : K2_Op<"kernel", [SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "Group ops into one GPU kernel";
  let description = [{
    The ops of the region run in one kernel: one root (a linear, attention, router, expert linear or row-wise op) with producers and consumers around
    it. Values from outside are used freely; what leaves the kernel is yielded. `config` says how the kernel is cut into CTAs. Grouping changes no
    value; `name` becomes the kernel's name and is unique in the model.

    ```mlir
    %y = k2.kernel "dense_o_proj" -> tensor<?x7168xbf16> {
      %w = k2.weight @dense.o_proj : tensor<7168x8192xbf16>
      %0 = k2.linear %o, %w : tensor<?x8192xbf16>, tensor<7168x8192xbf16> -> tensor<?x7168xbf16>
      k2.yield %0 : tensor<?x7168xbf16>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<K2_KernelConfigAttr>:$config);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name (`config` $config^)? (`->` type($results)^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def K2_YieldOp : K2_Op<"yield", [Pure, ReturnLike, Terminator, HasParent<"KernelOp">]> {
  let summary = "End a kernel and name what leaves it";
  let description = [{
    ```mlir
    k2.yield %0 : tensor<?x7168xbf16>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

#endif // DIALECTS_K2_K2KERNELOPS_TD
