#!/usr/bin/env python3
"""One dense and one MoE block with the dimensions of Kimi K2, on the simulator against the reference interpreter.

    true_width.py --bin build/bin --out FOLDER [--experts 16] [--tokens 3] [--vocabulary 512] [--keep]

Everything but the number of experts (16 of 384 are kept) and the vocabulary is the published config. Weights are random fp8 with block scales (fixed seed), 1.4 GB in
FOLDER, removed afterwards. Compared are what each block leaves in the residual stream (x.1, x.2), the logits and the chosen experts: errors are
relative RMS against the float32 reference, bounded by a multiple of the error that rounding to bf16 where the ops say makes (random_models.py).
Prints the errors and `true width: good`.
"""
import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from random_models import compare, error, read_tensors, to_bf16, write_tensors

ROOT = Path(__file__).parents[3]


def random_weights(rng, manifest, experts):
    """Every tensor that the artifact names: fp8 codes up to 240 of both signs, scales so that activations keep their size."""
    codes = np.arange(256, dtype=np.uint8)
    usable = codes[(codes & 0x7F) < 0x78]
    magnitudes = np.array([(m / 8) * 2.0 ** -6 if e == 0 else (1 + m / 8) * 2.0 ** (e - 7) for e in range(15) for m in range(8)])
    rms = np.sqrt(np.mean(magnitudes ** 2))
    tensors = {}
    for param in manifest["params"]:
        if param["name"].endswith(".scale"):
            continue
        for part in param["parts"]:
            for layer in range(*param.get("layers", [0, 1])):
                for expert in range(experts if param["per"] == "expert" else 1):
                    name = part["tensor"].replace("{layer}", str(layer)).replace("{expert}", str(expert))
                    rows, columns = part["rows"], param["shape"][-1]
                    if name.endswith("bias"):
                        tensors[name] = "F32", (6.9 + 0.02 * rng.standard_normal(rows)).astype(np.float32)
                    elif len(param["shape"]) == 1:
                        tensors[name] = "BF16", to_bf16(1 + 0.2 * rng.standard_normal(rows))
                    elif param["dtype"] == "f8e4m3":
                        scales = rng.uniform(0.5, 1.5, (-(-rows // 128), -(-columns // 128))) / (rms * np.sqrt(columns))
                        tensors[name] = "F8_E4M3", usable[rng.integers(0, len(usable), (rows, columns), np.uint8)]
                        tensors[name + "_scale_inv"] = "F32", scales.astype(np.float32)
                    else:
                        scale = 1 if "embed" in name else 1 / np.sqrt(columns)
                        tensors[name] = "BF16", to_bf16(rng.standard_normal((rows, columns), np.float32) * np.float32(scale))
    return tensors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--experts", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=3)
    parser.add_argument("--vocabulary", type=int, default=512)
    parser.add_argument("--keep", action="store_true", help="do not remove FOLDER")
    a = parser.parse_args()
    folder, rng = a.out, np.random.default_rng(24)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    def timed(what, *command):
        start = time.time()
        subprocess.run([str(c) for c in command], check=True)
        print(f"{what}: {time.time() - start:.0f} s", flush=True)

    try:
        config = json.loads((ROOT / "test/configs/kimi-k2-instruct-0711.json").read_text())
        config.update(num_hidden_layers=2, n_routed_experts=a.experts, vocab_size=a.vocabulary)
        (folder / "config.json").write_text(json.dumps(config))
        art = folder / "model.art"
        timed("k2c", a.bin / "k2c", folder / "config.json", "-o", art)
        write_tensors(folder / "model.safetensors", random_weights(rng, json.loads((art / "manifest.json").read_text()), a.experts))
        write_tensors(folder / "in.safetensors", {"input_ids": ("I64", rng.integers(0, a.vocabulary, (1, a.tokens)))})
        common = [f"--weights={folder}", f"--input={folder / 'in.safetensors'}", "--trace", "--logits"]
        timed("k2-run", a.bin / "k2-run", art, *common, f"--output={folder / 'run.out'}")
        timed("k2-interpret", a.bin / "k2-interpret", folder, *common, f"--output={folder / 'exact.out'}")
        timed("k2-interpret --rounding=bf16", a.bin / "k2-interpret", folder, *common, "--rounding=bf16", f"--output={folder / 'rounded.out'}")
        run, exact, rounded = (read_tensors(folder / f"{name}.out") for name in ("run", "exact", "rounded"))
        for key in exact:
            if key.endswith(".ids"):
                same = [sorted(x) == sorted(y) for x, y in zip(run[key].reshape(-1, run[key].shape[-1]).tolist(), exact[key].reshape(-1, exact[key].shape[-1]).tolist())]
                print(f"{key}: {sum(same)} of {len(same)} tokens choose the same experts")
            elif key.startswith("x.") or key == "logits":
                print(f"{key}: {error(run[key], exact[key]):.5f} off, by rounding {error(rounded[key], exact[key]):.5f}")
        problem = compare(run, exact, rounded, np.ones((1, a.tokens), bool))
        for key in ("x.1", "x.2", "logits"):
            if key not in exact:
                problem = problem or f"no {key} to compare"
        print("true width: " + (problem or "good"))
    finally:
        if not a.keep:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(bool(problem))


if __name__ == "__main__":
    main()
