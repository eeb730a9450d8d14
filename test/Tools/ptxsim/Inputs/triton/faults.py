"""What a Triton program sees of a fault: faults.py NAME FOLDER, with the library paths of launch.py. Prints the exception of Triton's launcher and the first
line of the simulator's report."""
import sys

import compiling
import launch
import numpy as np
import kernels
import triton
import triton.language as tl


@triton.jit
def beyond(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n + 1, other=0), mask=i < n)


@triton.jit
def asserts(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.device_assert(v < 90, "v is too large", mask=i < n)
    tl.store(y + i, v, mask=i < n)


@triton.jit
def prints(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.device_print("v", v)
    tl.store(y + i, v, mask=i < n)


def small(kernel, **options):
    x, y = (launch.Tensor(np.arange(100, dtype=np.int32), "i32") for _ in range(2))
    kernel[(1, )](x, y, 100, B=128, num_warps=4, ptx_version=compiling.PTX_VERSION, **options)


def old_maps():
    """PTX 8.4: Triton divides the strides of tensormap.replace by 16 (docs/ptxsim-corpora.md)."""
    a, b, c = (launch.Tensor(np.zeros((64, 320), np.uint16), "bf16") for _ in range(3))
    kernels.gemm_device_maps[(1, 1)](a, b, c, 64, 64, 320, BM=64, BN=64, BK=64, num_warps=4, num_stages=3, ptx_version=84)


FAULTS = {"beyond": lambda: small(beyond), "asserts": lambda: small(asserts, debug=True), "prints": lambda: small(prints), "old-maps": old_maps}

if __name__ == "__main__":
    triton.set_allocator(lambda bytes_, alignment, stream: launch.Scratch(bytes_))
    launch.cuda.ptxsimReportToStderr(0)
    try:
        triton.runtime.driver.active.get_current_target()
        FAULTS[sys.argv[1]]()
        print("no fault")
    except RuntimeError as e:
        print(e)
        print("\n".join(line for line in launch.cuda.ptxsimLastError().decode().splitlines() if ": error: " in line or ": note: " in line))
