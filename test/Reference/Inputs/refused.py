#!/usr/bin/env python3
"""refused.py CASE: runs k2-interpret on inputs that must be refused with exit code 1; prints the label and the last line of stderr of each."""
import array
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from golden import save

case = sys.argv[1]


def ids(*values):
    return ([1, len(values)], array.array("q", values))


def floats(shape, value=0.0):
    count = 1
    for extent in shape:
        count *= extent
    return (shape, array.array("f", [value] * count))


four = {"input_ids": ids(1, 2, 3, 4)}
refused = {
    "neither": ({"other": ids(1)}, []),
    "both": ({**four, "x0": floats([1, 4, 128])}, []),
    "id": ({"input_ids": ids(500)}, []),
    "negative": ({"input_ids": ids(-1)}, []),
    "rank": ({"input_ids": ([4], array.array("q", [1, 2, 3, 4]))}, []),
    "width": ({"x0": floats([1, 1, 2])}, []),
    "attention_mask": ({**four, "attention_mask": ids(1, 1, 1)}, []),
    "attention_values": ({**four, "attention_mask": ids(1, 1, 2, 1)}, []),
    "position": ({**four, "position_ids": ids(0, 1, 2, 131072)}, []),
    "sin": ({**four, "rope_cos": floats([4, 16])}, []),
    "mask": ({**four, "mask": floats([4, 3])}, []),
    "steps": (four, ["--steps=2,1"]),
    "future": ({**four, "mask": floats([4, 4])}, ["--steps=2,2"]),
    "weights": (four, ["--weights=nowhere"]),
    "file": (four, ["--input=no-such-input"]),
    "output": (four, ["--output=/no-such-folder/out.safetensors"]),
}
with tempfile.TemporaryDirectory() as folder:
    for label, (tensors, extra) in refused.items():
        save(f"{folder}/in.safetensors", tensors)
        options = {"--weights": case, "--input": f"{folder}/in.safetensors", "--output": f"{folder}/out.safetensors"}
        steps = [e for e in extra if e.startswith("--steps")]
        options.update(e.split("=") for e in extra if e not in steps)
        run = subprocess.run(["k2-interpret", case, *(f"{k}={v}" for k, v in options.items()), *steps], capture_output=True, text=True)
        lines = run.stderr.strip().splitlines()
        print(f"{label}: {lines[-1] if run.returncode == 1 and lines else f'exit {run.returncode}'}")
