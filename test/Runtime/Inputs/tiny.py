#!/usr/bin/env python3
"""Inputs of the tiny artifact and what it must compute; Python's own library only.

    tiny.py make DIR          weights, and an input file for each case
    tiny.py check CASE OUT    compares k2-run's output with the arithmetic below
    tiny.py ids FILE 1,2,3    an input file of one row with these ids

The model (all values are small integers, exact in bf16): x = embed[id]. Per layer, with the keys of a token being the tokens of its row up to and
including itself: x += w[layer] * sum of x[0] over the keys. In layer 1 then ids = int(x[:2]) & 3, weights = x[:2] / 2, x += expert[ids[0]].
logits = x . head.
"""
import json
import struct
import sys
from pathlib import Path

EMBED = [[(3 * v + 5 * c) % 5 - 2 for c in range(6)] for v in range(10)]
W = [[1, 0, -1, 1, 0, 2], [0, 1, 1, -1, 0, 1]]
EXPERTS = [[e - 1, 2 * e, 0, 1, -e, 3] for e in range(4)]
HEAD = [[(v + 2 * c) % 3 - 1 for c in range(6)] for v in range(10)]
# name -> (ids, attention_mask or None)
CASES = {
    "whole": ([[1, 4, 7, 2, 9, 3, 8, 5, 0]], None),
    "ragged": ([[9, 9, 3, 4, 5, 6], [1, 2, 3, 9, 9, 9], [9, 9, 9, 9, 9, 9], [2, 4, 6, 8, 1, 3]],
               [[0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]),
    "empty": ([[]], None),
}
SIZES = {"F32": "f", "BF16": "H", "I64": "q", "I32": "i", "BOOL": "B"}


def bf16(value):
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


def flat(values):
    return [x for v in values for x in flat(v)] if isinstance(values, list) else [values]


def save(path, tensors):
    """tensors: name -> (dtype, shape, values)"""
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        raw = [bf16(v) for v in flat(values)] if dtype == "BF16" else flat(values)
        raw = struct.pack(f"<{len(raw)}{SIZES[dtype]}", *raw)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def load(path):
    """-> name -> (dtype, shape, flat values)"""
    raw = Path(path).read_bytes()
    n = struct.unpack("<Q", raw[:8])[0]
    tensors = {}
    for name, t in json.loads(raw[8:8 + n]).items():
        begin, end = t["data_offsets"]
        code = SIZES[t["dtype"]]
        values = struct.unpack(f"<{(end - begin) // struct.calcsize(code)}{code}", raw[8 + n + begin:8 + n + end])
        tensors[name] = (t["dtype"], t["shape"], list(values))
    return tensors


def make(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights = {"model.embed_tokens.weight": ("BF16", [10, 6], EMBED), "lm_head.weight": ("BF16", [10, 6], HEAD),
               "model.layers.0.w": ("F32", [6], W[0]), "model.layers.1.w": ("BF16", [6], W[1]),
               "model.layers.2.unknown": ("F32", [1], [7])}
    for e, values in enumerate(EXPERTS):
        weights[f"model.layers.1.mlp.experts.{e}.weight"] = ("BF16", [1, 6], values)
    save(folder / "model.safetensors", weights)
    for name, (ids, mask) in CASES.items():
        shape = [len(ids), len(ids[0])]
        given = {"input_ids": ("I64", shape, ids)}
        if mask:
            given["attention_mask"] = ("I32", shape, mask)
        save(folder / f"{name}.safetensors", given)
        save(folder / f"{name}-x0.safetensors", {"x0": ("F32", shape + [6], [[EMBED[i] for i in row] for row in ids]),
                                                **({"attention_mask": ("BOOL", shape, mask)} if mask else {})})
    bad = {"out-of-range": ("I64", [1, 2], [[1, 10]]), "negative": ("I32", [1, 2], [[-1, 1]]), "rank": ("I64", [2], [1, 2]),
           "float": ("F32", [1, 1], [[1.0]])}
    for name, tensor in bad.items():
        save(folder / f"{name}.safetensors", {"input_ids": tensor})
    ids = ("I64", [1, 2], [[1, 2]])
    more = {"mask-shape": {"attention_mask": ("I64", [2, 1], [1, 1])}, "mask-value": {"attention_mask": ("I64", [1, 2], [1, 2])},
            "positions": {"position_ids": ("I64", [1, 2], [31, 32])}, "additive": {"mask": ("F32", [2, 2], [0] * 4)},
            "surplus": {"inputs_embeds": ("F32", [1], [0])}, "both": {"x0": ("F32", [1, 2, 6], [0] * 12)},
            "one-table": {"rope_cos": ("F32", [2, 1], [0, 0])}, "table-shape": {k: ("F32", [2, 2], [0] * 4) for k in ("rope_cos", "rope_sin")}}
    for name, tensors in more.items():
        save(folder / f"{name}.safetensors", {"input_ids": ids, **tensors})
    save(folder / "none.safetensors", {"position_ids": ids})


def expected(case):
    ids, mask = CASES[case]
    B, T = len(ids), len(ids[0])
    out = {"x.0": [], "x.1": [], "x.2": [], "router.1.ids": [], "router.1.weights": [], "logits": []}
    for b in range(B):
        real = [t for t in range(T) if not mask or mask[b][t]]
        xs = {t: list(EMBED[ids[b][t]]) for t in real}
        rows = {name: [[0] * n for _ in range(T)] for name, n in (("x.0", 6), ("x.1", 6), ("x.2", 6), ("router.1.weights", 2), ("logits", 10))}
        rows["router.1.ids"] = [[-1, -1] for _ in range(T)]
        for layer in range(2):
            for t in real:
                rows[f"x.{layer}"][t] = list(xs[t])
            sums = {t: sum(xs[s][0] for s in real if s <= t) for t in real}
            for t in real:
                xs[t] = [v + w * sums[t] for v, w in zip(xs[t], W[layer])]
                if layer == 1:
                    choice = [int(v) & 3 for v in xs[t][:2]]
                    rows["router.1.ids"][t] = choice
                    rows["router.1.weights"][t] = [v / 2 for v in xs[t][:2]]
                    xs[t] = [v + e for v, e in zip(xs[t], EXPERTS[choice[0]])]
        for t in real:
            rows["x.2"][t] = list(xs[t])
            rows["logits"][t] = [sum(v * h for v, h in zip(xs[t], head)) for head in HEAD]
        for name in out:
            out[name] += rows[name]
    out["x_final"] = out["x.2"]
    return [B, T], out


def check(case, path):
    shape, want = expected(case)
    got = load(path)
    trace = "x.0" in got
    names = set(want) if trace else {"x_final", "logits"}
    if "logits" not in got and "x0" in path:
        names.discard("logits")
    if set(got) != names:
        sys.exit(f"{path}: tensors {sorted(got)}, want {sorted(names)}")
    for name in sorted(names):
        dtype, dims, values = got[name]
        width = len(want[name][0]) if want[name] else dims[-1]
        if dims != shape + [width] or dtype != ("I32" if name.endswith("ids") else "F32"):
            sys.exit(f"{name}: {dtype} {dims}")
        if values != flat(want[name]):
            sys.exit(f"{name}: got {values}\nwant {flat(want[name])}")
    print(f"{case}: {len(names)} tensors are exact")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "check":
        check(sys.argv[2], sys.argv[3])
    else:
        row = [int(x) for x in sys.argv[3].split(",")]
        save(sys.argv[2], {"input_ids": ("I64", [1, len(row)], row)})
