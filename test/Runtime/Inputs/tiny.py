#!/usr/bin/env python3
"""Inputs of the tiny artifact and what it must compute; Python's own library only.

    tiny.py make DIR          weights, and an input file for each case
    tiny.py check CASE OUT [N]  compares k2-run's output (and N generated tokens) with the arithmetic below
    tiny.py spoil DIR TO      the weights with a NaN in layer 1
    tiny.py ids FILE 1,2,3    an input file of one row with these ids

The model (all values are small integers, exact in bf16): x = embed[id]. Per layer, with the keys of a token being the tokens of its row up to and
including itself, or those that an additive mask leaves: x += w[layer] * sum of x[0] (+ mask) over the keys. In layer 1 then ids = int(x[:2]) & 3, weights = x[:2] / 2, x += expert[ids[0]].
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
    "padded": ([[9, 9, 3, 4, 5, 6], [1, 2, 3, 9, 9, 9], [2, 4, 6, 8, 1, 3]],
               [[0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]]),
    "nothing": ([[7, 7], [7, 7]], [[0, 0], [0, 0]]),
    "empty": ([[]], None),
    "no-rows": ([], None),
    # T, T: tokens see all up to a step's end (4, 6), but not themselves; token 3 sees nothing. The values are added.
    "masked": ([[1, 4, 7, 2, 9, 3], [8, 5, 0, 1, 2, 3]], None),
    "masked-padded": ([[9, 9, 3, 4, 5, 6], [1, 2, 3, 9, 9, 9], [9, 9, 9, 9, 9, 9], [2, 4, 6, 8, 1, 3]],
                      [[0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]),
}
NONE = float("-inf")
SQUARE = [[NONE if s == t or t == 3 or s >= (4 if t < 4 else 6) else (s + t) % 3 - 1 for s in range(6)] for t in range(6)]
# In padding the mask holds 7: it must drop out. Each row of the batch has a mask of its own.
MASKS = {"masked": SQUARE,
         "masked-padded": [[[7 if not CASES["masked-padded"][1][b][s] else v + (b if v > NONE else 0) for s, v in enumerate(row)] for row in SQUARE]
                           for b in range(4)]}
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
        shape = [len(ids), len(ids[0]) if ids else 3]
        given = {"input_ids": ("I64", shape, ids)}
        if mask:
            given["attention_mask"] = ("I32", shape, mask)
        additive = {"mask": ("F32", [len(ids)] * (name == "masked-padded") + [6, 6], MASKS[name])} if name in MASKS else {}
        given.update(additive)
        save(folder / f"{name}.safetensors", given)
        save(folder / f"{name}-x0.safetensors", {"x0": ("F32", shape + [6], [[EMBED[i] for i in row] for row in ids]),
                                                **({"attention_mask": ("BOOL", shape, mask)} if mask else {}), **additive})
    bad = {"out-of-range": ("I64", [1, 2], [[1, 10]]), "negative": ("I32", [1, 2], [[-1, 1]]), "rank": ("I64", [2], [1, 2]),
           "float": ("F32", [1, 1], [[1.0]]), "rows": ("I32", [2**20 + 1, 0], [])}
    for name, tensor in bad.items():
        save(folder / f"{name}.safetensors", {"input_ids": tensor})
    ids = ("I64", [1, 2], [[1, 2]])
    more = {"mask-shape": {"attention_mask": ("I64", [2, 1], [1, 1])}, "mask-value": {"attention_mask": ("I64", [1, 2], [1, 2])},
            "positions": {"position_ids": ("I64", [1, 2], [31, 32])}, "mask-type": {"mask": ("F32", [2, 1], [0] * 2)}, "mask-nan": {"mask": ("F32", [2, 2], [0, float("nan"), 0, 0])},
            "mask-inf": {"mask": ("F32", [1, 2, 2], [0, 0, float("inf"), 0])}, "mask-future": {"mask": ("F32", [2, 2], [0] * 4)},
            "mask-future-own": {"mask": ("F32", [1, 2, 2], [0] * 4)},
            "surplus": {"inputs_embeds": ("F32", [1], [0])}, "both": {"x0": ("F32", [1, 2, 6], [0] * 12)},
            "one-table": {"rope_cos": ("F32", [2, 1], [0, 0])}, "table-shape": {k: ("F32", [2, 2], [0] * 4) for k in ("rope_cos", "rope_sin")},
            "table-nan": {"rope_cos": ("F32", [2, 1], [0, 0]), "rope_sin": ("F32", [2, 1], [0, float("nan")])}}
    for name, tensors in more.items():
        save(folder / f"{name}.safetensors", {"input_ids": ids, **tensors})
    save(folder / "none.safetensors", {"position_ids": ids})


def rounded(values):
    """Each value as the nearest bf16, ties to even."""
    def one(v):
        bits = struct.unpack("<I", struct.pack("<f", v))[0]
        return struct.unpack("<f", struct.pack("<I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]
    return [one(v) for v in values]


def forward(tokens, additive=None):
    """-> name -> value of every token of one sequence; additive[t][s] in place of causality."""
    n = range(len(tokens))
    out = {name: [None] * len(tokens) for name in ("x.0", "x.1", "x.2", "router.1.ids", "router.1.weights", "logits")}
    xs = [list(EMBED[token]) for token in tokens]
    for layer in range(2):
        out[f"x.{layer}"] = [list(x) for x in xs]
        if additive:
            sums = [sum(xs[s][0] + additive[t][s] for s in n if additive[t][s] > -1000) for t in n]
        else:
            sums = [sum(xs[s][0] for s in n if s <= t) for t in n]
        for t in n:
            xs[t] = rounded([v + w * sums[t] for v, w in zip(xs[t], W[layer])])
            if layer == 1:
                choice = [int(v) & 3 for v in xs[t][:2]]
                out["router.1.ids"][t] = choice
                out["router.1.weights"][t] = [v / 2 for v in xs[t][:2]]
                xs[t] = rounded([v + e for v, e in zip(xs[t], EXPERTS[choice[0]])])
    out["x.2"] = xs
    out["logits"] = [[sum(v * h for v, h in zip(x, head)) for head in HEAD] for x in xs]
    return out


WIDTHS = {"x.0": 6, "x.1": 6, "x.2": 6, "router.1.ids": 2, "router.1.weights": 2, "logits": 10}


def expected(case):
    ids, mask = CASES[case]
    additive = MASKS.get(case)
    B, T = len(ids), len(ids[0]) if ids else 3
    out = {name: [] for name in WIDTHS}
    for b in range(B):
        real = [t for t in range(T) if not mask or mask[b][t]]
        own = additive and (additive if not isinstance(additive[0][0], list) else additive[b])
        values = forward([ids[b][t] for t in real], own and [[own[t][s] for s in real] for t in real])
        for name, width in WIDTHS.items():
            rows = [[-1 if name.endswith("ids") else 0] * width for _ in range(T)]
            for i, t in enumerate(real):
                rows[t] = values[name][i]
            out[name] += rows
    out["x_final"] = out["x.2"]
    return [B, T], out


def generated(case, count):
    ids, mask = CASES[case]
    rows = []
    for b, row in enumerate(ids):
        tokens = [token for t, token in enumerate(row) if not mask or mask[b][t]]
        for _ in range(count):
            last = forward(tokens)["logits"][-1]
            tokens.append(last.index(max(last)))
        rows.append(tokens[len(tokens) - count:])
    return rows


def check(case, path, count=0):
    shape, want = expected(case)
    got = load(path)
    trace = "x.0" in got
    names = set(want) if trace else {"x_final", "logits"}
    if "logits" not in got and "x0" in path:
        names.discard("logits")
    if count:
        dtype, dims, values = got.pop("generated_ids")
        if dtype != "I64" or dims != [shape[0], count] or values != flat(generated(case, count)):
            sys.exit(f"generated_ids: {dtype} {dims} {values}, want {generated(case, count)}")
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
    elif sys.argv[1] == "spoil":
        tensors = load(Path(sys.argv[2]) / "model.safetensors")
        dtype, shape, values = tensors["model.layers.1.w"]
        tensors = {name: (d, s, [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in x] if d == "BF16" else x) for name, (d, s, x) in tensors.items()}
        tensors["model.layers.1.w"] = ("F32", shape, [0, 1, float("nan"), -1, 0, 1])
        Path(sys.argv[3]).mkdir(exist_ok=True)
        save(Path(sys.argv[3]) / "model.safetensors", tensors)
    elif sys.argv[1] == "check":
        check(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    else:
        row = [int(x) for x in sys.argv[3].split(",")]
        save(sys.argv[2], {"input_ids": ("I64", [1, len(row)], row)})
