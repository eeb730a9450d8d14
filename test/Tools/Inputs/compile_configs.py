#!/usr/bin/env python3
"""compile_configs.py FOLDER OUT: compiles every config.json of a folder; where a quantization_config is refused, also what is left without it,
and where scoring_func is missing, also the file with it.

Prints `NAME: N kernels` or the error after the file's name. A kernel that ptxas spills, gives a stack or warns about fails the compile.
"""
import json
import subprocess
import sys
from pathlib import Path

folder, out = Path(sys.argv[1]), Path(sys.argv[2])


def compile_config(label, path):
    run = subprocess.run(["k2c", str(path), "-o", str(out / "model.art")], capture_output=True, text=True)
    if run.returncode == 0:
        report = json.loads((out / "model.art" / "report.json").read_text())["kernels"]
        assembled = "no ptxas" if not all("registers" in k for k in report) else "clean" if not any(k["spill_bytes"] + k["stack_bytes"] for k in report) else "spills"
        print(f"{label}: {len(report)} kernels, {assembled}", flush=True)
        return ""
    problem = run.stderr.strip().splitlines()[-1].split(f"{path.name}: ", 1)[-1]
    print(f"{label}: {problem}", flush=True)
    return problem


out.mkdir(parents=True, exist_ok=True)
for path in sorted(folder.glob("*.json")):
    problem = compile_config(path.name, path)
    config = json.loads(path.read_text())
    changed = out / path.name
    if problem.startswith("quantization_config"):
        for holder in (config, config.get("text_config", {})):
            holder.pop("quantization_config", None)
        changed.write_text(json.dumps(config))
        compile_config(f"{path.name} without quantization_config", changed)
    if problem.startswith("scoring_func"):
        changed.write_text(json.dumps({**config, "scoring_func": "sigmoid"}))
        compile_config(f"{path.name} with scoring_func", changed)
