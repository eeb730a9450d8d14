#!/usr/bin/env python3
"""How long the published Kimi-K2-Instruct configuration takes to compile, to PTX and cubin, and how much memory.

cold_s: empty cubin cache; warm_s: the cache of the run before; kernels: launched by name; distinct: with code of their own;
peak_mb: resident memory of the largest process (k2c or a ptxas); artifact_mb: all files.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def compile_once(tool, config, art, cache):
    """-> (seconds, peak MB of the largest process)."""
    # The parent's own children's peak grows only, so each compile gets a process of its own to be measured in.
    code = ("import resource, subprocess, sys, time\n"
            "start = time.time()\n"
            "rc = subprocess.run(sys.argv[1:]).returncode\n"
            "print(time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
            "sys.exit(rc)")
    run = subprocess.run([sys.executable, "-c", code, str(tool), str(config), "-o", str(art)], capture_output=True, text=True,
                         env={**os.environ, "K2C_CACHE_DIR": str(cache)})
    if run.returncode:
        sys.exit(f"bench: error: {tool}: expected it to compile {config}, but got exit code {run.returncode}\n{run.stderr}")
    seconds, peak = run.stdout.split()
    return float(seconds), float(peak) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench/compile.json")
    parser.add_argument("--config", type=Path, default=ROOT / "test/configs/kimi-k2-instruct-0711.json")
    parser.add_argument("--runs", type=int, default=3, help="the least time of so many")
    a = parser.parse_args()
    cold, warm, peak = [], [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for i in range(a.runs):
            for times in (cold, warm):
                seconds, mb = compile_once(a.bin / "k2c", a.config, folder / "k2.art", folder / f"cache{i}")
                times.append(seconds)
                peak = max(peak, mb)
        kernels = json.loads((folder / "k2.art/manifest.json").read_text())["kernels"]
        size = sum(f.stat().st_size for f in (folder / "k2.art").rglob("*") if f.is_file())
    result = {"cold_s": round(min(cold), 2), "warm_s": round(min(warm), 2), "kernels": len(kernels),
              "distinct": len({k["entry"] for k in kernels}), "peak_mb": round(peak), "artifact_mb": round(size / 1e6, 2)}
    print(f"{'compile of ' + a.config.stem:44}{'value':>10}")
    for key, value in result.items():
        print(f"  {key:42}{value:>10}")
    a.out.parent.mkdir(parents=True, exist_ok=True)
    a.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
