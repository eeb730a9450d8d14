"""Runs the corpus as a Triton program runs on a GPU: `kernel[grid](...)`, by Triton's own launcher (its driver.c), which finds libptxsim.so in the place of
CUDA's driver: launch.py all FOLDER [NAME...], with LD_LIBRARY_PATH and TRITON_LIBCUDA_PATH at the folder of libcuda.so.1.

Only two things are other than on a GPU: modules are loaded as PTX, not as a cubin, and the place of torch's tensors is taken by `Tensor` below. All checks are
on; every kernel runs under every schedule and with eager, lazy and random asynchronous operations, must agree with numpy and give the same bits in all."""
import ctypes
import math
import sys

import numpy as np

import compiling
from cases import MODES, all_cases, array_of, check_that_checks_check, table
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

cuda = ctypes.CDLL("libcuda.so.1")  # the library that Triton has loaded
cuda.ptxsimLastError.restype = ctypes.c_char_p
u64, size = ctypes.c_uint64, ctypes.c_size_t


def ask(code):
    if code:
        sys.exit("error %d: %s" % (code, cuda.ptxsimLastError().decode()))


class DType:

    def __init__(self, name, itemsize):
        self.name, self.itemsize = name, itemsize

    def __str__(self):
        return self.name


# Triton remembers a type by its hash: one object for each.
TYPES = {"bf16": DType("bfloat16", 2), "fp8e4nv": DType("float8e4nv", 1), "fp32": DType("float32", 4), "i32": DType("int32", 4), "i64": DType("int64", 8)}


class Tensor:
    """Device memory as Triton asks a tensor for it."""

    def __init__(self, array, kind):
        self.shape, self.strides = array.shape, [n // array.itemsize for n in array.strides]
        self.dtype, self.like = TYPES[kind], array
        pointer = u64()
        ask(cuda.cuMemAlloc_v2(ctypes.byref(pointer), size(array.nbytes)))
        self.pointer = pointer.value
        ask(cuda.cuMemcpyHtoD_v2(u64(self.pointer), ctypes.c_void_p(array.ctypes.data), size(array.nbytes)))

    def data_ptr(self):
        return self.pointer

    def stride(self):
        return self.strides

    def numpy(self):
        out = np.empty_like(self.like)
        ask(cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(out.ctypes.data), u64(self.pointer), size(out.nbytes)))
        return out

    def free(self):
        ask(cuda.cuMemFree_v2(u64(self.pointer)))


class Scratch:
    """Memory that Triton asks its allocator for; freed when it lets go of it."""

    def __init__(self, bytes_):
        pointer = u64()
        ask(cuda.cuMemAlloc_v2(ctypes.byref(pointer), size(bytes_)))
        self.pointer = pointer.value

    def data_ptr(self):
        return self.pointer

    def __del__(self):
        cuda.cuMemFree_v2(u64(self.pointer))


class Launches(ctypes.Structure):
    _fields_ = [("launches", u64), ("warp_instructions", u64), ("thread_instructions", u64)]


def launches():
    counters = Launches()
    cuda.ptxsimGetCounters(ctypes.byref(counters), size(ctypes.sizeof(counters)))
    return counters.launches


def launch(case):
    tensors = {i: Tensor(array_of(a), a[1] if a[0] == "desc" else a[0][1:]) for i, a in enumerate(case.arguments) if a[0] == "desc" or a[0][0] == "*"}
    values = {}
    for i, (name, a) in enumerate(zip([n for n in case.fn.arg_names if n not in case.constants], case.arguments)):
        if a[0] == "desc":
            values[name] = TensorDescriptor.from_tensor(tensors[i], a[3])
        else:
            values[name] = tensors[i] if i in tensors else float(a[1]) if a[0] == "fp32" else int(a[1])
    kernel = case.fn[case.grid](**values, **case.constants, num_warps=case.warps, num_stages=case.stages,
                                **{"ptx_version": compiling.PTX_VERSION, **case.options})
    ask(cuda.cuCtxSynchronize())
    results = {i: tensors[i].numpy() for i, a in enumerate(case.arguments) if callable(a[-1])}
    for tensor in tensors.values():
        tensor.free()
    return kernel, results


def run(case):
    check_that_checks_check(case)
    first, before = {}, launches()
    for schedule, asynchronous in MODES:
        if cuda.ptxsimSetOptions(("schedule=%s,async=%s,uninitialised-global=on,global-races=on" % (schedule, asynchronous)).encode()):
            sys.exit(cuda.ptxsimLastError().decode())
        try:
            kernel, results = launch(case)
        except RuntimeError as e:
            sys.exit("%s %s %s: %s: %s" % (case.name, schedule, asynchronous, e, cuda.ptxsimLastError().decode()))
        for i, got in results.items():
            case.arguments[i][-1](got)
            if case.exact and not np.array_equal(first.setdefault(i, got), got):
                sys.exit("%s %s %s: other bits than with %s %s" % (case.name, schedule, asynchronous, *MODES[0]))
    how = [n for n, used in (("cooperative", kernel.metadata.launch_cooperative_grid), ("cluster", kernel.metadata.num_ctas > 1),
                             ("programmatic", kernel.metadata.launch_pdl), ("scratch", kernel.metadata.global_scratch_size),
                             ("tensor maps", kernel.metadata.tensordesc_meta)) if used]
    print("%s: %d launches of %d CTAs%s" % (case.name, launches() - before, math.prod(case.grid) * kernel.metadata.num_ctas,
                                            "".join(" " + h for h in how)))


if __name__ == "__main__":
    triton.set_allocator(lambda bytes_, alignment, stream: Scratch(bytes_))
    target = triton.runtime.driver.active.get_current_target()
    print("target %s %d" % (target.backend, target.arch))
    documented, run_ones = table(), []
    for case in all_cases():
        if len(sys.argv) > 3 and case.name not in sys.argv[3:]:
            continue
        run(case)
        run_ones.append(case.name)
    if len(sys.argv) < 4 and run_ones != [n for n, passes in documented.items() if passes[1] == "yes"]:
        sys.exit("docs/ptxsim-corpora.md says that others pass through the driver: %s, but these do: %s" % (documented, run_ones))
    print("%d of %d rows of docs/ptxsim-corpora.md" % (len(run_ones), len(documented)))
