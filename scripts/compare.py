#!/usr/bin/env python3
"""Compares a k2-run output with a golden case, layer by layer.

    compare.py OUT.safetensors CASE_FOLDER

For every x.<l> and the logits it prints the relative RMS error against Hugging Face's float32 run, the error of Hugging Face's own bfloat16
run, and the bound (1.25 + 6/sqrt(n)) times the latter, n being tokens x hidden size. Experts must be the same in every layer. A result that
is closer to float32 than bfloat16 tensors can be (under a tenth of Hugging Face's error) fails too: it was not computed in the declared
types. Exit 1 if anything fails.
"""
import json
import sys
from pathlib import Path

import numpy as np
from safetensors import safe_open

FACTOR, LUCK = 1.25, 6.0


def load(path):
    """{name: array} of a file; bfloat16 tensors, which numpy lacks, are left out."""
    tensors = {}
    with safe_open(str(path), "np") as f:
        for name in f.keys():
            if f.get_slice(name).get_dtype() != "BF16":
                tensors[name] = f.get_tensor(name)
    return tensors


def relative_rms(got, want):
    got, want = got.astype(np.float64), want.astype(np.float64)
    return float(np.sqrt(np.mean((got - want) ** 2)) / np.sqrt(np.mean(want**2)))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    got, case = load(sys.argv[1]), Path(sys.argv[2])
    gold = load(case / "golden.safetensors")
    facts = json.loads((case / "facts.json").read_text())
    layers = json.loads((case / "config.json").read_text())["num_hidden_layers"]
    valid = gold["attention_mask"].astype(bool) if "attention_mask" in gold else np.ones(gold["x0"].shape[:2], bool)
    count = valid.sum() * gold["x0"].shape[-1]
    failed = 0
    print(f"{'tensor':<8} {'error':>10} {'HF bf16':>10} {'bound':>10} {'of bound':>9}  experts")
    for key in [f"x{l}" for l in range(1, layers + 1)] + ["logits"]:
        name = key if key == "logits" else f"x.{key[1:]}"
        if name not in got:
            print(f"{name:<8} missing")
            failed += 1
            continue
        natural = facts["bf16_vs_f32"][key][1]
        error = relative_rms(got[name][valid], gold[key][valid])
        bound = (FACTOR + LUCK / np.sqrt(count)) * natural
        fine = natural / 10 <= error <= bound and np.isfinite(got[name]).all()
        experts = ""
        layer = layers if key == "logits" else int(key[1:]) - 1
        if f"layers.{layer}.topk_ids" in gold:
            ids = got.get(f"router.{layer}.ids")
            same = ids is not None and bool((np.sort(ids[valid], -1) == np.sort(gold[f"layers.{layer}.topk_ids"][valid], -1)).all())
            experts = "same" if same else "OTHER"
            fine = fine and same
        print(f"{name:<8} {error:10.2e} {natural:10.2e} {bound:10.2e} {error / bound:9.2f}  {experts:<6}{'' if fine else '  FAILED'}")
        failed += not fine
    print(f"{case.name}: " + (f"{failed} of {layers + 1} tensors failed" if failed else "equal to Hugging Face within its own bfloat16 error"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
