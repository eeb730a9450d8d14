#!/usr/bin/env python3
"""tensors.py make FILE: the inputs of named-tensors.mlir. tensors.py show FILE: one line per tensor."""
import array
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from golden import load, save


def floats(shape, values):
    return (shape, array.array("f", values))


def integers(shape, values):
    return (shape, array.array("i", values))


if sys.argv[1] == "make":
    save(sys.argv[2], {
        "latent": floats([1, 1], [3]), "key": floats([1, 2], [0, 0]), "query": floats([1, 3], [0, 0, 0]),
        "kv_b": floats([2, 1], [1, 2]), "pages": floats([2, 2, 3], [9] * 6 + [1, 0, 0, 9, 9, 9]),
        "batch.seq_start": integers([2], [0, 1]), "batch.past_len": integers([1], [1]),
        "batch.block_table": integers([1, 1], [1]), "batch.slot": integers([1], [3]),
        "x": floats([2, 1], [10, 100]), "w": floats([2, 1, 1], [1, 2]), "routing.ids": integers([2, 2], [1, 0, 0, 1]),
        "pair": floats([1, 2], [1, 2]), "q": floats([3, 2], [1, 1, 1, 1, 1, 1]), "q_scale_inv": floats([2, 2], [10, 10, 1000, 1000]),
    })
else:
    names = {"f": "F32", "d": "F64", "i": "I32", "q": "I64"}
    for name, (shape, values) in sorted(load(sys.argv[2]).items()):
        print(name, names[values.typecode], shape, *(f"{v:g}" for v in values))
