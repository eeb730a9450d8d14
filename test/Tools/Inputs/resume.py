#!/usr/bin/env python3
"""resume.py DIR: runs the k2-opt command that the first line of every stage in DIR names; the PTX is that of DIR/*-ptx, byte by byte."""
import filecmp
import shlex
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
(ptx,) = folder.glob("*-ptx")
expected = sorted(f.name for f in ptx.iterdir())
stages = sorted(folder.glob("*.mlir"))
for stage in stages:
    line = stage.open().readline()
    _, found, options = line.partition("k2-opt FILE ")
    if not found:
        sys.exit(f"{stage.name}: no command in {line!r}")
    out = folder / f"from-{stage.stem}"
    command = ["k2-opt", str(stage), *shlex.split(options), f"--k2c-emit-ptx=folder={out}", "-o", "/dev/null"]
    command.remove("--k2c-emit-ptx")
    subprocess.run(command, check=True)
    names = sorted(f.name for f in out.iterdir())
    _, different, missing = filecmp.cmpfiles(ptx, out, expected, shallow=False)
    if names != expected or different or missing:
        sys.exit(f"{stage.name}: expected the PTX of {len(expected)} kernels, but got others: {different + missing + sorted(set(names) - set(expected))}")
    print(f"{stage.name}: {len(names)} kernels with the same PTX")
sys.exit(0 if stages and expected else 1)
