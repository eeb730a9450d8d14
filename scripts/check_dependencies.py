#!/usr/bin/env python3
"""Checks the dependency rules of the tree by the #include lines of every C++ file.

tools -> all. lib -> include, dialects and runtime/Checkpoint (with the status type it returns). dialects -> MLIR only. runtime -> nothing of
lib or MLIR. runtime/ptxsim -> nothing else of runtime; runtime/Device alone adapts it. lib/Reference -> no Transforms, no Conversion.
main() only in tools. Prints one line per breach; exit 1 if there is one.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
MAIN = re.compile(r"^\s*(?:int|auto)\s+main\s*\(", re.M)

# (files that start with, includes that start with, exceptions, rule)
FORBIDDEN = [
    ("dialects/", ("lib/", "k2c/", "runtime/", "k2rt/", "tools/"), ("k2c/Conversion/K2ToTile/TileContext.h",), "dialects depend on MLIR only"),
    ("lib/", ("runtime/", "k2rt/", "tools/"), ("runtime/Checkpoint/", "k2rt/Status.h"), "lib uses runtime/Checkpoint and nothing else of runtime"),
    ("include/k2c/", ("runtime/", "k2rt/", "tools/"), ("runtime/Checkpoint/", "k2rt/Status.h"), "lib uses runtime/Checkpoint and nothing else of runtime"),
    ("runtime/", ("lib/", "k2c/", "dialects/", "mlir/", "llvm/", "llvm-c/", "mlir-c/", "tools/", "cuda"), (), "runtime uses nothing of lib, MLIR or CUDA headers"),
    ("runtime/ptxsim/", ("runtime/", "k2rt/"), ("runtime/ptxsim/",), "ptxsim includes nothing of the rest of runtime"),
    ("runtime/Checkpoint/", ("runtime/",), ("runtime/Checkpoint/",), "Checkpoint depends on nothing else of runtime"),
    ("runtime/Artifact/", ("runtime/ptxsim/",), (), "only runtime/Device adapts ptxsim"),
    ("runtime/Executor/", ("runtime/ptxsim/",), (), "only runtime/Device adapts ptxsim"),
    ("runtime/Cache/", ("runtime/ptxsim/",), (), "only runtime/Device adapts ptxsim"),
    ("lib/Reference/", ("k2c/Transforms", "k2c/Conversion", "k2c/Pipelines", "lib/Transforms", "lib/Conversion", "dialects/Tile", "dialects/Plan"), (),
     "the reference shares no code with what it judges"),
]


def main():
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.cpp", "*.h", "*.td"], cwd=ROOT, text=True,
                           capture_output=True, check=True).stdout.split()
    breaches = []
    for name in names:
        path = ROOT / name
        if not path.is_file():
            continue
        text = path.read_text()
        includes = INCLUDE.findall(text)
        for prefix, banned, allowed, rule in FORBIDDEN:
            if name.startswith(prefix):
                breaches += [f"{name}: includes {i}: {rule}" for i in includes if i.startswith(banned) and not i.startswith(allowed or ("\0",))]
        if name.endswith(".cpp") and MAIN.search(text) and not name.startswith(("tools/", "bench/", "test/")):
            breaches.append(f"{name}: has main(): main() only in tools")
    print("\n".join(breaches) or f"{len(names)} files keep the dependency rules")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
