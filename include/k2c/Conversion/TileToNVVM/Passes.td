#ifndef K2C_CONVERSION_TILETONVVM_PASSES
#define K2C_CONVERSION_TILETONVVM_PASSES

include "mlir/Pass/PassBase.td"

def ConvertTileToNVVMPass : Pass<"convert-tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Lower scheduled tile kernels to NVVM, one gpu.module each";
  let description = [{
    A distributed tensor becomes the vector of the elements a thread holds; coordinates come from its `#tile.linear` alone. `arith`, `math` and
    `scf` keep their ops on the new types.

    ```mlir
    tile.kernel @scale(%x: memref<?x128xf32>) attributes {num_warps = 1} {
      %t = tile.cta_id x
      %c0 = arith.constant 0 : i32
      %v = tile.load %x[%t, %c0] : memref<?x128xf32> -> tensor<1x128xf32, #l>
      ...
    ```
    becomes
    ```mlir
    gpu.module @scale [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
      llvm.func @scale(%x: !llvm.ptr<1> {llvm.align = 16}, %x0: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
        %v = scf.if %inside -> (vector<4xf32>) { ... llvm.load %p {alignment = 16} ... }
    ```
    The kernel's shared memory (buffers, then scratch) is the dynamic array `@shared_memory`; its size is the attribute
    `tile.shared_bytes` of the gpu.module.

    *Requires*: every tile has a layout over all warps of its kernel; every `tile.alloc_shared` has an offset; math ops are those with PTX instructions
    (`exp2` with `afn`, `rsqrt`, `sqrt`, `absf`, rounding), 8-bit floats meet no arithmetic.
    *Guarantees*: no tile op, tensor or memref is left; every element of a store is written once; masked elements are not accessed; every op has a
    location with a file, so that `.loc` can name it; at most 227 KiB of shared memory.

    Numerics: exact (the order of sums is that of `tile.reduce`).
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_90a\"", "Target architecture">,
    Option<"features", "features", "std::string", "\"+ptx80\"", "Target features; the PTX version is the lowest that has all instructions">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect",
                           "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // K2C_CONVERSION_TILETONVVM_PASSES
