"""Compiles Triton kernels to PTX (no GPU is needed), runs each on the simulator with all checks, under every schedule and with eager, lazy and random
asynchronous operations, and compares the results with numpy: corpus.py GROUP FOLDER [NAME...]. `ptxsim` must be in PATH.

A line for each kernel; every run must be free of reports, and all runs of a kernel must give the same bits (kernels with float atomics aside)."""
import os
import re
import subprocess
import sys
import time

import numpy as np

from compiling import compile_ptx
from cases import GROUPS, MODES, check_that_checks_check, signature_of, table

FEATURES = [("cp.async", r"\bcp\.async\.c[ag]\."), ("TMA", r"\bcp\.async\.bulk\.tensor"), ("mbarrier", r"\bmbarrier\."), ("wgmma", r"\bwgmma\.mma_async"),
            ("mma", r"\bmma\.sync"), ("ldmatrix", r"\bldmatrix"), ("stmatrix", r"\bstmatrix"), ("setmaxnreg", r"\bsetmaxnreg"),
            ("cluster", r"\bbarrier\.cluster|\bmapa\."), ("shfl", r"\bshfl\."), ("redux", r"\bredux\."), ("atomics", r"\b(?:atom|red)\.(?!async)"),
            ("tensormap.replace", r"\btensormap\.replace")]

SIM = {"*i64": "s64", "*bf16": "bf16", "*fp8e4nv": "e4m3", "*fp32": "f32", "*i32": "s32", "bf16": "bf16", "fp8e4nv": "e4m3"}


def command_of(case, kernel, ptx, folder):
    """Arguments of the tool: buffers from .npy files, in the order of Triton's launcher (a tensor map, then shape and strides)."""
    md = kernel.metadata
    metas = list(getattr(md, "tensordesc_meta", None) or [])
    command, count = [], 0
    for i, value in enumerate(case.arguments):
        kind = value[0]
        if kind == "desc" or kind.startswith("*"):
            array = value[2] if kind == "desc" else value[1]
            path = os.path.join(folder, "%s-%d.npy" % (case.name, i))
            np.save(path, array)
            command.append("--buffer=b%d=%s@%s" % (i, SIM[value[1] if kind == "desc" else kind], path))
            if kind == "desc":
                meta = metas[count]
                count += 1
                command.append("--arg=map:b%d:box=%s:swizzle=%s" % (i, ",".join(map(str, meta["block_size"])),
                                                                    ["none", "32", "64", "128"][meta["swizzle"]]))
                command += ["--arg=s32=%d" % n for n in array.shape]
                command += ["--arg=s64=%d" % (n // array.itemsize) for n in array.strides]
            else:
                command.append("--arg=&b%d" % i)
        else:
            command.append("--arg=%s=%s" % ({"i32": "u32", "fp32": "f32"}[kind], value[1]))
    grid = list(case.grid)
    ctas = md.num_ctas
    grid[0] *= ctas
    scratch = max(md.global_scratch_size, 1) * int(np.prod(grid))
    command += ["--buffer=scratch=u8[%d]" % scratch, "--arg=&scratch" if md.global_scratch_size else "--arg=u64=0", "--arg=u64=0"]
    return ["ptxsim", ptx, "--entry=" + md.name, "--grid=" + ",".join(map(str, grid)), "--block=%d" % (32 * md.num_warps), "--shared=%d" % md.shared,
            "--check=all,mbarrier-init-fence=off"] + (["--cluster=%d" % ctas] if ctas > 1 else []) + (["--cooperative"] if md.launch_cooperative_grid else []) + command


def run(case, folder):
    start = time.perf_counter()
    kernel = compile_ptx(case.fn, signature_of(case), case.constants, case.warps, case.stages, **case.options)
    text = kernel.asm["ptx"]
    ptx = os.path.join(folder, case.name + ".ptx")
    with open(ptx, "w") as f:
        f.write(text)
    compiled = time.perf_counter()
    command = command_of(case, kernel, ptx, folder)
    first = {}
    outs = {i: os.path.join(folder, "%s-out-%d.npy" % (case.name, i)) for i, v in enumerate(case.arguments) if callable(v[-1])}
    check_that_checks_check(case)
    for schedule, asynchronous in MODES:
        mode = ["--schedule=" + schedule, "--async=" + asynchronous]
        r = subprocess.run(command + mode + ["--out=b%d:%s" % o for o in outs.items()], capture_output=True, text=True)
        if r.returncode:
            sys.exit("%s %s: %s\n%s" % (case.name, " ".join(mode), r.stderr or r.stdout, " ".join(command)))
        for i, path in outs.items():
            got = np.load(path)
            case.arguments[i][-1](got)
            if case.exact and not np.array_equal(first.setdefault(i, got), got):
                sys.exit("%s %s: other bits than with the first mode" % (case.name, " ".join(mode)))
    features = [n for n, r in FEATURES if re.search(r, text)]
    print("%s: passes (%d instructions; %s)" % (case.name, len(re.findall(r";\s*$", text, re.M)), " ".join(features)))
    print("  compiled in %.1f s, %d runs in %.1f s" % (compiled - start, len(MODES), time.perf_counter() - compiled), file=sys.stderr)


if __name__ == "__main__":
    documented = table()
    os.makedirs(sys.argv[2], exist_ok=True)
    for case in GROUPS[sys.argv[1]]():
        if documented.get(case.name, ("no",))[0] != "yes":
            sys.exit("docs/ptxsim-corpora.md does not say that %s passes from the command line" % case.name)
        if len(sys.argv) < 4 or case.name in sys.argv[3:]:
            run(case, sys.argv[2])
