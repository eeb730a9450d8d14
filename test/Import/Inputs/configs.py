#!/usr/bin/env python3
"""configs.py FOLDER: one line per config.json: `parameters x count` per kind and those of the stack, or the error after the file's name."""
import json
import subprocess
import sys
from pathlib import Path

for path in sorted(Path(sys.argv[1]).glob("*.json")):
    run = subprocess.run(["k2c", str(path), "--print-parameters=json"], capture_output=True, text=True)
    if run.returncode == 0:
        got = json.loads(run.stdout)
        print(f"{path.name}: " + ", ".join(f"{b['parameters']} x {b['count']}" for b in got["blocks"].values()) + f", {got['stack_parameters']}")
    else:
        print(f"{path.name}: " + run.stderr.strip().splitlines()[-1].split(f"{path.name}: ", 1)[-1])
