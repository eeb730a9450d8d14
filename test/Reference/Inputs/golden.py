#!/usr/bin/env python3
"""Runs k2-interpret on golden cases and compares with their float32 tensors. Standard library only.

    golden.py [--bound=1e-5] [--bf16] [--steps] [--fused] FOLDER [CASE ...] -- OPTION ...

FOLDER holds case folders; OPTIONs go to k2-interpret. Every x.<l>, x_final and the logits must agree to a relative RMS of the bound at real
tokens and be zero at padding; expert ids must be equal, in order, and router weights agree. With --bf16 the bound is (1.25 + 6/sqrt(n)) times
the error of the case's own bfloat16 run and ids are compared as sets. With --steps a row is cut into a prefill and single tokens. With --fused
the IR after the compiler's passes on k2 is interpreted instead of the imported model.
"""
import array
import json
import math
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

CODES = {"F32": "f", "F64": "d", "I64": "q", "I32": "i"}


def load(path):
    """{name: (shape, values)} of the tensors whose type Python knows."""
    raw = Path(path).read_bytes()
    (n,) = struct.unpack("<Q", raw[:8])
    tensors = {}
    for name, t in json.loads(raw[8 : 8 + n]).items():
        if name != "__metadata__" and t["dtype"] in CODES:
            values = array.array(CODES[t["dtype"]])
            values.frombytes(raw[8 + n + t["data_offsets"][0] : 8 + n + t["data_offsets"][1]])
            tensors[name] = (t["shape"], values)
    return tensors


def save(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        dtype = next(d for d, code in CODES.items() if code == values.typecode)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values) * values.itemsize]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def relative_rms(got, want):
    return math.sqrt(sum((g - w) ** 2 for g, w in zip(got, want)) / max(sum(w * w for w in want), 1e-300))


def real_rows(values, valid):
    width = len(values) // len(valid)
    return [x for i, real in enumerate(valid) if real for x in values[i * width : (i + 1) * width]]


def padded_rows(values, valid):
    width = len(values) // len(valid)
    return [x for i, real in enumerate(valid) if not real for x in values[i * width : (i + 1) * width]]


def inputs_of(gold):
    if "input_ids" not in gold:
        return {"x0": gold["x0"], "mask": gold["mask"], "rope_cos": gold["rope.cos"], "rope_sin": gold["rope.sin"]}
    return {name: gold[name] for name in ("input_ids", "attention_mask", "position_ids")}


def bound_of(case, key, options, tokens, width):
    if "--bf16" not in options:
        return options["--bound"]
    return (1.25 + 6 / math.sqrt(tokens * width)) * json.loads((case / "facts.json").read_text())["bf16_vs_f32"][key][1]


def check(case, options, tool_options):
    """-> list of problems, worst error as a share of its bound."""
    gold = load(case / "golden.safetensors")
    layers = json.loads((case / "config.json").read_text())["num_hidden_layers"]
    shape = gold["x0"][0]
    valid = list(gold["attention_mask"][1]) if "attention_mask" in gold else [1] * (shape[0] * shape[1])
    if "--steps" in options and "input_ids" in gold and shape[1] > 2:
        tool_options = tool_options + [f"--steps={shape[1] - 2},1,1"]
    with tempfile.TemporaryDirectory() as folder:
        save(f"{folder}/in.safetensors", inputs_of(gold))
        model = str(case)
        if "--fused" in options:
            model = f"{folder}/fused.mlir"
            run = subprocess.run(["k2c", str(case / "config.json"), "--emit=fused", "-o", model], capture_output=True, text=True)
            if run.returncode:
                return [f"k2c: exit {run.returncode}: {run.stderr.strip()}"], 0
        run = subprocess.run(["k2-interpret", model, f"--weights={case}", f"--input={folder}/in.safetensors",
                              f"--output={folder}/out.safetensors", "--trace", "--logits", *tool_options], capture_output=True, text=True)
        if run.returncode:
            return [f"exit {run.returncode}: {run.stderr.strip()}"], 0
        got = load(f"{folder}/out.safetensors")
    problems, worst = [], 0.0
    for key in [f"x{l}" for l in range(layers + 1)] + ["logits", "x_final"]:
        name = key if key in ("logits", "x_final") else f"x.{key[1:]}"
        key = f"x{layers}" if key == "x_final" else key
        if name not in got or got[name][0] != gold[key][0]:
            problems.append(f"{name}: missing, or of another shape")
            continue
        error = relative_rms(real_rows(got[name][1], valid), real_rows(gold[key][1], valid))
        bound = 1e-12 if key == "x0" else bound_of(case, key, options, sum(valid), shape[2])
        worst = max(worst, error / bound)
        if not error <= bound:
            problems.append(f"{name}: error {error:.2e} > {bound:.2e}")
        if any(padded_rows(got[name][1], valid)):
            problems.append(f"{name}: not zero at padding")
    for layer in range(layers):
        if f"layers.{layer}.topk_ids" not in gold:
            continue
        ids, want = got.get(f"router.{layer}.ids"), gold[f"layers.{layer}.topk_ids"]
        k = want[0][-1]
        g, w = real_rows(ids[1], valid), real_rows(want[1], valid)
        if "--bf16" in options:
            g, w = ([sorted(v[i : i + k]) for i in range(0, len(v), k)] for v in (g, w))
        if g != w:
            problems.append(f"layer {layer}: other experts")
        if any(x != -1 for x in padded_rows(ids[1], valid)):
            problems.append(f"layer {layer}: ids at padding are not -1")
        if "--bf16" not in options:
            error = relative_rms(real_rows(got[f"router.{layer}.weights"][1], valid), real_rows(gold[f"layers.{layer}.topk_weights"][1], valid))
            if not error <= options["--bound"]:
                problems.append(f"layer {layer}: router weights differ by {error:.2e}")
    return problems, worst


def main():
    arguments, tool_options = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, tool_options = arguments[:at], arguments[at + 1 :]
    options = {"--bound": 1e-5}
    for a in [a for a in arguments if a.startswith("--")]:
        name, _, value = a.partition("=")
        options[name] = float(value) if value else True
    folder, *names = [a for a in arguments if not a.startswith("--")]
    cases = [Path(folder) / n for n in names] or sorted(p.parent for p in Path(folder).glob("*/golden.safetensors"))
    failed = 0
    for case in cases:
        problems, worst = check(case, options, tool_options)
        failed += bool(problems)
        print(f"{case.name}: {'; '.join(problems) if problems else f'fine, worst at {worst:.2f} of its bound'}", flush=True)
    if not cases:
        print(f"{folder}: no cases")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
