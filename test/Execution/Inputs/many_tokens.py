#!/usr/bin/env python3
"""many_tokens.py make B T VOCABULARY ALL LAST: random ids [B, T], and their last row by itself
   many_tokens.py same ALL LAST: what came out for the last row has the same bits in both, and all of it is finite
"""
import json
import struct
import sys
from pathlib import Path

import numpy as np


def save(path, ids):
    text = json.dumps({"input_ids": {"dtype": "I32", "shape": list(ids.shape), "data_offsets": [0, ids.nbytes]}}).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + ids.tobytes())


def load(path):
    data = np.memmap(path, np.uint8, "r")
    start = 8 + struct.unpack("<Q", data[:8].tobytes())[0]
    for name, t in json.loads(data[8:start].tobytes()).items():
        if name != "__metadata__":
            yield name, data[start + t["data_offsets"][0]:start + t["data_offsets"][1]].view(np.float32).reshape(t["shape"])


def make(rows, columns, vocabulary, everything, last):
    ids = np.random.default_rng(1).integers(0, int(vocabulary), (int(rows), int(columns)), np.int32)
    save(everything, ids)
    save(last, ids[-1:])


def same(everything, last):
    alone = dict(load(last))
    for name, values in load(everything):
        if not np.isfinite(values).all():
            sys.exit(f"{name}: not finite")
        if not (values[-1].view(np.int32) == alone[name][0].view(np.int32)).all():
            sys.exit(f"{name}: the last row differs")
        print(f"{name}: {values.shape[0] * values.shape[1]} tokens, the last row as alone")


if __name__ == "__main__":
    {"make": make, "same": same}[sys.argv[1]](*sys.argv[2:])
