#!/usr/bin/env python3
"""Inputs for compiled golden models and comparisons of what comes out; Python's own library only.

    compiled.py make DIR CASE    input files for a golden case's model
    compiled.py same A B         logits and x_final agree within bf16's rounding
    compiled.py damage CASE DIR KIND  the weights of micro_k2_fp8 with something changed
    compiled.py rows PADDED IDS  rows of a padded batch equal the tokens run alone, padding is zero
    compiled.py blind OUT OTHERS  all values finite; those of token 2 do not depend on other tokens
"""
import json
import math
import struct
import sys
from pathlib import Path

from tiny import load, save

TOKENS = [3, 1, 4, 1, 5, 9, 2, 6, 5]
NONE = float("-inf")
# Rows of the padded batch: where its tokens (the first of TOKENS) stand. None: padding.
PADDED = [[None] * 5 + [0, 1, 2, 3], [0, 1, 2, 3] + [None] * 5, [None] * 9, [None, 0, None, 1, None, 2, 3, None, None]]


def embedding(case):
    raw = (Path(case) / "model.safetensors").read_bytes()
    n = struct.unpack("<Q", raw[:8])[0]
    t = json.loads(raw[8:8 + n])["model.embed_tokens.weight"]
    assert t["dtype"] == "BF16"
    d, begin = t["shape"][1], 8 + n + t["data_offsets"][0]
    row = lambda i: struct.unpack(f"<{d}H", raw[begin + 2 * d * i:begin + 2 * d * (i + 1)])
    return d, [[struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in row(i)] for i in TOKENS]


def make(folder, case):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    n = len(TOKENS)
    ids = {"input_ids": ("I64", [1, n], [TOKENS])}
    save(folder / "ids.safetensors", ids)
    d, rows = embedding(case)
    save(folder / "x0.safetensors", {"x0": ("F32", [1, n, d], [rows])})
    save(folder / "padded.safetensors", {"input_ids": ("I32", [4, n], [[7 if t is None else TOKENS[t] for t in row] for row in PADDED]),
                                         "attention_mask": ("BOOL", [4, n], [[int(t is not None) for t in row] for row in PADDED])})
    causal = [[0.0 if s <= t else NONE for s in range(n)] for t in range(n)]
    save(folder / "causal.safetensors", {**ids, "mask": ("F32", [n, n], causal)})
    blind = [[NONE if t == 2 else v for v in row] for t, row in enumerate(causal)]
    save(folder / "blind.safetensors", {**ids, "mask": ("F32", [n, n], blind)})
    others = {"input_ids": ("I64", [1, n], [[t if i == 2 else t + 20 for i, t in enumerate(TOKENS)]])}
    save(folder / "others.safetensors", {**others, "mask": ("F32", [n, n], blind)})


SCALE = "model.layers.1.mlp.experts.3.up_proj.weight_scale_inv"  # F32 [1, 2]


def damage(case, folder, kind):
    tensors = {}
    for path in sorted(Path(case).glob("*.safetensors")):
        if path.name.startswith("model"):
            raw = path.read_bytes()
            start = 8 + struct.unpack("<Q", raw[:8])[0]
            for name, t in json.loads(raw[8:start]).items():
                if name != "__metadata__":
                    tensors[name] = [t["dtype"], t["shape"], raw[start + t["data_offsets"][0]:start + t["data_offsets"][1]]]
    if kind in ("inf", "nan"):
        tensors[SCALE][2] = tensors[SCALE][2][:4] + struct.pack("<f", float(kind))
    elif kind == "renamed":
        tensors[SCALE.removesuffix("_inv")] = tensors.pop(SCALE)
    elif kind == "grid":
        tensors[SCALE][1:] = [[2, 2], tensors[SCALE][2] * 2]
    elif kind == "stray":
        tensors["lm_head.weight_scale_inv"] = ["F32", [4, 2], bytes(32)]
    elif kind in ("layer-3", "layer-4"):
        tensors[f"model.layers.{kind[-1]}.eh_proj.weight"] = ["BF16", [1], b"12"]
    elif kind == "cut" or kind == "bf16":
        # Scales that are bf16 values: the widened ones must give the same answer.
        for name, t in tensors.items():
            if name.endswith("_scale_inv"):
                t[2] = b"".join(t[2][i + 2:i + 4] if kind == "bf16" else b"\0\0" + t[2][i + 2:i + 4] for i in range(0, len(t[2]), 4))
                t[0] = "BF16" if kind == "bf16" else "F32"
    elif kind == "prefix":
        tensors = {("language_model." + name): t for name, t in tensors.items()}
        tensors["vision_tower.patch.weight"] = ["F32", [1], bytes(4)]
    elif kind == "twice":
        tensors["language_model.model.norm.weight"] = tensors["model.norm.weight"]
    elif kind == "vocabulary":
        tensors["lm_head.weight"][1:] = [[513, 256], tensors["lm_head.weight"][2] + bytes(512)]
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    Path(folder).mkdir(exist_ok=True)
    (Path(folder) / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def same(a, b):
    one, two = load(a), load(b)
    for name in ("logits", "x_final"):
        x, y = one[name][2], two[name][2]
        scale = math.sqrt(sum(v * v for v in x) / len(x))
        error = math.sqrt(sum((v - w) ** 2 for v, w in zip(x, y)) / len(x))
        # A bf16 value has 8 bits: two orders of summation differ by less than that.
        if one[name][1] != two[name][1] or not error < scale / 256:
            sys.exit(f"{name}: {one[name][1]} and {two[name][1]} differ by {error} of {scale}")
    print("close")


def rows(padded, alone):
    batch, single = load(padded), load(alone)
    found = 0
    for name, (dtype, (b, n, width), values) in batch.items():
        want = single[name][2]
        for r, row in enumerate(PADDED):
            for c, t in enumerate(row):
                got = values[(r * n + c) * width:(r * n + c + 1) * width]
                if t is None and got != [-1 if name.endswith("ids") else 0] * width:
                    sys.exit(f"{name}: padding in row {r}, column {c} is {got}")
                if t is not None and name == "x.0" and got != want[t * width:(t + 1) * width]:
                    sys.exit(f"{name}: row {r}, column {c}")
                if t is not None and name == "logits":
                    error = max(abs(g - w) for g, w in zip(got, want[t * width:(t + 1) * width]))
                    if error > max(map(abs, want)) / 100:
                        sys.exit(f"logits: row {r}, column {c} differs by {error}")
    for row in PADDED:
        found += sum(t is not None for t in row) == 4
    print(f"{found} rows of 4 tokens as alone, padding is empty")


def blind(path, others):
    one, two = load(path), load(others)
    for name, (_, (_, _, width), values) in one.items():
        if not all(map(math.isfinite, values)):
            sys.exit(f"{name} is not finite")
        tokens = [(t[2 * width:3 * width], t[3 * width:4 * width]) for t in (values, two[name][2])]
        if tokens[0][0] != tokens[1][0]:
            sys.exit(f"{name} of token 2 depends on other tokens")
        if name.startswith("x") and tokens[0][1] == tokens[1][1]:
            sys.exit(f"{name} of token 3 does not depend on other tokens")
    print("token 2 sees nothing")


if __name__ == "__main__":
    {"make": make, "damage": damage, "same": same, "rows": rows, "blind": blind}[sys.argv[1]](*sys.argv[2:])
