"""Triton without a GPU and without ptxas: what it compiles ends as PTX. To be imported before triton is; its cache is in the folder `cache` of argument 2."""
import os
import sys

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
os.environ["TRITON_MOCK_PTX_VERSION"] = "none"  # it would ask its ptxas, which is not there
os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(sys.argv[2], "cache"))
from triton import compile as triton_compile  # noqa: E402
from triton import knobs  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

PTX_VERSION = 86
# Triton's launcher would see that these sizes are multiples of 16. M is not.
HINTED = ("N", "K", "S", "KS")


def ptx_as_cubin(backend=None, stages=None, *_):
    """A hook of Triton's: the last stage gives the PTX itself instead of what ptxas makes of it. A CUDA driver takes either."""
    if stages is None:
        return "ptx", "ptx"
    stages["cubin"] = lambda source, metadata: source.encode()


knobs.runtime.add_stages_inspection_hook = ptx_as_cubin


def compile_ptx(fn, signature, constants, warps, stages, **options):
    """-> compiled kernel."""
    full, attributes = {}, {}
    for i, name in enumerate(fn.arg_names):
        full[name] = "constexpr" if name in constants else signature[name]
        if name not in constants and (signature[name].startswith("*") or (signature[name] == "i32" and name in HINTED)):
            attributes[(i,)] = [["tt.divisibility", 16]]

    return triton_compile(ASTSource(fn, full, constants, attributes), target=GPUTarget("cuda", 90, 32),
                          options=dict(num_warps=warps, num_stages=stages, **{"ptx_version": PTX_VERSION, **options}))
