#!/usr/bin/env python3
"""How fast the PTX simulator executes and parses, beside its targets, and where its time goes.

alu_unchecked_minst_s, alu_checked_minst_s: million warp instructions a second of a loop of arithmetic, on one core, without and with the default
checks; mma_bf16_gflops (m16n8k16), wgmma_bf16_gflops (m64n128k16): one core, default checks; gemm1024_s: a bf16 GEMM of 1024^3 by wgmma, all default
checks, on two cores (one where there is one); scaling_2_cores: time of one core over that of two; parse_mb_s: loading of PTX, one core.
Times are process CPU time of one core, least of --runs; those of two cores are wall time, least of all launches: other load makes them worse.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# key, the least (or, of a time, the most) that is wanted
TARGETS = {"alu_unchecked_minst_s": 150, "alu_checked_minst_s": 60, "mma_bf16_gflops": 20, "wgmma_bf16_gflops": 30, "gemm1024_s": 0.2,
           "scaling_2_cores": 1.8, "parse_mb_s": 20}


def measure(program, runs):
    """-> name: the best of the runs, as the program's JSON has it."""
    run = subprocess.run([program, "--benchmark_format=json", f"--benchmark_repetitions={runs}", "--benchmark_min_time=0.2",
                          "--benchmark_enable_random_interleaving=true"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"bench: error: {program}: expected it to run, but got exit code {run.returncode}\n{run.stderr}")
    best = {}
    for b in json.loads(run.stdout)["benchmarks"]:
        if b.get("error_occurred"):
            sys.exit(f"bench: error: {b['name']}: {b['error_message']}")
        if b["run_type"] != "iteration":
            continue
        name = b["name"].split("/real_time")[0].split("/iterations")[0]
        old = best.get(name)
        rank = -b["scaling"] if "scaling" in b else b.get("least_s", b["cpu_time"])
        if not old or rank < old[0]:
            best[name] = rank, b
    return {name: b for name, (_, b) in best.items()}


def hot_functions(program, name):
    """The functions that take most of a benchmark's time, by perf; empty where there is none that may measure."""
    if not shutil.which("perf"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        record = subprocess.run(["perf", "record", "-F", "2000", "-o", data, program, f"--benchmark_filter=^{name}", "--benchmark_min_time=0.3"],
                                capture_output=True)
        if record.returncode:
            return []
        report = subprocess.run(["perf", "report", "-i", data, "--stdio", "--no-children", "-F", "overhead,symbol", "--percent-limit", "4"],
                                capture_output=True, text=True)
    lines = [l.split(None, 2) for l in report.stdout.splitlines() if l.strip() and not l.startswith("#")]
    return [f"{p} {s.replace('ptxsim::', '').replace('(anonymous namespace)::', '')[:90]}" for p, _, s in lines[:6]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench/ptxsim.json")
    parser.add_argument("--runs", type=int, default=5, help="the best of so many")
    a = parser.parse_args()
    program = (a.bin / "ptxsim-bench").resolve()
    best = measure(program, a.runs)
    rate = {name: b["rate"] for name, b in best.items() if "rate" in b}
    seconds = {name: b["least_s"] for name, b in best.items() if "least_s" in b}
    cores = min(2, len(os.sched_getaffinity(0)))
    values = {"alu_unchecked_minst_s": rate["alu/unchecked"] / 1e6, "alu_checked_minst_s": rate["alu/checked"] / 1e6,
              "mma_bf16_gflops": rate["mma/checked"] / 1e9, "wgmma_bf16_gflops": rate["wgmma/checked"] / 1e9,
              "gemm1024_s": seconds[f"gemmWgmma/{cores}"], "scaling_2_cores": best["scaling"]["scaling"], "parse_mb_s": rate["parse"] / 1e6}
    print(f"{'ptxsim':36}{'value':>10}{'target':>10}{'ratio':>8}  (above 1 is better than the target)")
    for key, target in TARGETS.items():
        value = values[key]
        ratio = target / value if key.endswith("_s") and target < 1 else value / target
        print(f"  {key:34}{value:>10.3g}{target:>10}{ratio:>8.2f}")
    more = {"gemm1024_1_core_s": seconds["gemmWgmma/1"], "gemm1024_mma_1_core_s": seconds["gemmMma/1"],
            "gemm1024_mma_s": seconds[f"gemmMma/{cores}"], "scan_mb_s": rate["scan"] / 1e6,
            "memory_unchecked_minst_s": rate["memory/unchecked"] / 1e6, "memory_checked_minst_s": rate["memory/checked"] / 1e6}
    print("\nwithout a target")
    for key, value in more.items():
        print(f"  {key:34}{value:>10.3g}")
    print("\nwhere the time goes: a loop of loads, stores and barriers (14 instructions, 4 of memory), ns an instruction of a warp")
    for name, r in rate.items():
        if name.startswith("memory/"):
            print(f"  {name[7:]:34}{1e9 / r:>10.1f}")
    print(f"  scanning alone takes {rate['parse'] / rate['scan']:.0%} of the loading of PTX")
    profiles = {name: hot_functions(program, name) for name in ("alu/checked", "memory/checked", "wgmma/checked", "gemmWgmma/1", "gemmMma/1", "parse")}
    for name, lines in profiles.items():
        if lines:
            print(f"  {name}, by perf")
            for line in lines:
                print(f"    {line}")
    if not any(profiles.values()):
        print("  functions: not told, perf cannot measure here")
    a.out.parent.mkdir(parents=True, exist_ok=True)
    a.out.write_text(json.dumps({**{k: round(v, 4) for k, v in {**values, **more}.items()}}, indent=2) + "\n")


if __name__ == "__main__":
    main()
