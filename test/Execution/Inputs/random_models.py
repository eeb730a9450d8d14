#!/usr/bin/env python3
"""Whole models of random shape: compiled, run on the simulator, compared with the reference interpreter.

    random_models.py --bin build/bin --out FOLDER [--seed N] [--count N] [--numerics=fused|reference] [--storage=config|mixed] [-v]

Shapes are odd on purpose (nothing is a multiple of anything but of the compiler's stated limits); batches are ragged, steps cut the prompt. Errors are
relative RMS against the float32 reference; the bound is 1.3 + 9 / sqrt(tokens x hidden size) times the error of the reference rounded to bf16 where the
ops say (that error at least FLOOR). Mixed storage:
about half of a checkpoint's FP8 matrices are BF16 and half of its norms F32, which only its headers say. From the first layer in which an expert's choice changes on, values are not compared; few may change. Prints bad models (kept in FOLDER) and `N models, N bad`.
"""
import argparse
import json
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

FLOOR = 1e-3


def random_config(rnd, base):
    """A config within the compiler's limits: even numbers of latents, of plain and of turned columns."""
    fp8 = rnd.random() < 0.4
    heads = rnd.choice([1, 2, 3, 4, 7])
    experts = rnd.choice([1, 2, 3, 5, 8, 24, 40, 100])
    top_k = rnd.randint(1, min(experts, 9))
    groups = rnd.choice([g for g in (1, 2, 4, 8) if experts % g == 0 and experts // g >= 2] or [1])
    kept = max(rnd.randint(1, groups), -(-top_k // (experts // groups)))
    layers = rnd.randint(1, 3)
    config = {
        **base, "hidden_size": rnd.choice([8, 33, 40, 64, 72, 100, 130, 200, 320]), "num_attention_heads": heads, "num_key_value_heads": heads,
        "q_lora_rank": rnd.choice([None, 8, 24, 100, 130, 192]), "kv_lora_rank": rnd.choice([6, 8, 20, 36, 40, 64, 72, 128, 192, 320, 512]),
        "qk_nope_head_dim": rnd.choice([8, 20, 26, 32, 64, 128, 136]), "qk_rope_head_dim": rnd.choice([2, 6, 8, 16, 24, 32, 64]),
        "v_head_dim": rnd.choice([7, 8, 18, 24, 40, 64, 128, 130]), "intermediate_size": rnd.choice([3, 8, 40, 100, 130, 208]),
        "moe_intermediate_size": rnd.choice([5, 8, 24, 40, 64, 100]), "n_routed_experts": experts, "num_experts_per_tok": top_k, "n_group": groups,
        "topk_group": kept, "n_shared_experts": rnd.choice([0, 1, 2]), "vocab_size": rnd.choice([7, 96, 100, 500, 1001]),
        "num_hidden_layers": layers, "first_k_dense_replace": rnd.randint(0, layers)}
    if fp8:
        config["quantization_config"] = {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]}
    return config


def to_bf16(a):
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


E4M3 = np.array([(m / 8) * 2.0 ** -6 if e == 0 else (1 + m / 8) * 2.0 ** (e - 7) for e in range(16) for m in range(8)][:127])


def to_e4m3(a):
    nearest = np.searchsorted((E4M3[1:] + E4M3[:-1]) / 2, np.minimum(np.abs(a), 448))
    return (nearest | np.where(a < 0, 128, 0)).astype(np.uint8)


def write_tensors(path, tensors):
    """`tensors`: name -> (safetensors dtype, array of the bytes' type)."""
    header, end = {}, 0
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [end, end := end + array.nbytes]}
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, array in tensors.values():
            f.write(np.ascontiguousarray(array).tobytes())


def read_tensors(path):
    data = Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    types = {"F32": np.float32, "I32": np.int32, "I64": np.int64}
    return {name: np.frombuffer(data[8 + size + t["data_offsets"][0]:8 + size + t["data_offsets"][1]], types[t["dtype"]]).reshape(t["shape"])
            for name, t in json.loads(data[8:8 + size]).items() if name != "__metadata__"}


def random_weights(rng, manifest, experts):
    """Every checkpoint tensor that the artifact names, so scaled that activations keep their size."""
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
                        tensors[name] = "F32", (0.3 + 0.15 * rng.standard_normal(rows)).astype(np.float32)
                    elif len(param["shape"]) == 1:
                        tensors[name] = "BF16", to_bf16(1 + 0.2 * rng.standard_normal(rows))
                    else:
                        values = rng.standard_normal((rows, columns)) * (1 if "embed" in name else 1.5 / np.sqrt(columns))
                        if param["dtype"] == "f8e4m3":
                            scales = (0.5 + rng.random((-(-rows // 128), -(-columns // 128)))) / 100
                            spread = np.kron(scales, np.ones((128, 128)))[:rows, :columns]
                            tensors[name] = "F8_E4M3", to_e4m3(values / spread)
                            tensors[name + "_scale_inv"] = "F32", scales.astype(np.float32)
                        else:
                            tensors[name] = "BF16", to_bf16(values)
    return tensors


def mix_storage(rnd, rng, manifest, tensors):
    """Stores some tensors in another type, the same for all layers and experts of a parameter's part."""
    for param in manifest["params"]:
        for part in param["parts"]:
            pattern = re.compile(re.escape(part["tensor"]).replace(r"\{layer\}", r"\d+").replace(r"\{expert\}", r"\d+"))
            if rnd.random() < 0.5 or param["name"].endswith(".scale"):
                continue
            for name in [n for n in tensors if pattern.fullmatch(n)]:
                dtype, array = tensors[name]
                if dtype == "F8_E4M3":
                    tensors[name] = "BF16", to_bf16(rng.standard_normal(array.shape) * 1.5 / np.sqrt(array.shape[1]))
                    del tensors[name + "_scale_inv"]
                elif dtype == "BF16" and array.ndim == 1:
                    tensors[name] = "F32", (1 + 0.2 * rng.standard_normal(array.shape)).astype(np.float32)


def random_input(rnd, rng, vocabulary):
    """-> (tensors of the input, mask of real tokens, steps)."""
    batch, length = rnd.choice([1, 1, 2, 3]), rnd.choice([1, 2, 5, 17, 70, 130])
    mask = np.ones((batch, length), np.int64)
    for row in mask if batch > 1 else []:
        padding = rnd.randint(0, length - 1)
        row[slice(0, padding) if rnd.random() < 0.5 else slice(length - padding, length)] = 0
    ids = rng.integers(0, vocabulary, (batch, length))
    cut = rnd.randint(0, length)
    return ({"input_ids": ("I64", ids.astype(np.int64)), "attention_mask": ("I64", mask)}, mask.astype(bool),
            [cut, length - cut] if 0 < cut < length else [length])


def error(got, want):
    return np.sqrt(np.mean((got - want) ** 2)) / max(np.sqrt(np.mean(want ** 2)), 1e-9)


def compare(run, exact, rounded, valid):
    """-> what is wrong, or nothing."""
    def flips(a):
        """Tokens of each MoE layer that chose other experts than in exact arithmetic."""
        return {int(k.split(".")[1]): sum(set(x) != set(y) for x, y in zip(a[k][valid].tolist(), exact[k][valid].tolist()))
                for k in exact if k.endswith(".ids")}
    by_rounding, by_run = flips(rounded), flips(run)
    # Choices near a tie may fall either way: in a few tokens, and from there on values differ.
    last = min([l for f in (by_rounding, by_run) for l, n in f.items() if n], default=10 ** 9)
    if last in by_run and by_run[last] > 1 + 3 * by_rounding[last] + 0.05 * valid.sum():
        return f"layer {last}: {by_run[last]} of {valid.sum()} tokens chose other experts, {by_rounding[last]} by rounding"
    factor = 1.3 + 9 / np.sqrt(exact["x.0"][valid].size)
    for key in exact:
        if not (key.startswith("x.") and int(key[2:]) <= last or key == "logits" and last == 10 ** 9):
            continue
        if not np.isfinite(run[key]).all():
            return f"{key} is not finite"
        if np.abs(run[key][~valid]).sum():
            return f"{key} is not zero at padded positions"
        got = error(run[key][valid], exact[key][valid])
        bound = factor * max(error(rounded[key][valid], exact[key][valid]), FLOOR)
        if got > bound:
            return f"{key} is off by {got:.4f}, more than {bound:.4f}"
    return ""


def check(binaries, folder, rnd, rng, config, numerics, storage):
    """-> what is wrong, or nothing."""
    def tool(name, *arguments):
        r = subprocess.run([binaries / name, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        return f"{name}: exit {r.returncode}: {(r.stderr.strip().splitlines() or [''])[-1]}" if r.returncode else ""
    (folder / "config.json").write_text(json.dumps(config))
    art = folder / "model.art"
    compile_model = lambda: tool("k2c", folder, "-o", art, f"--numerics={numerics}")
    if problem := compile_model():
        return problem
    manifest = json.loads((art / "manifest.json").read_text())
    tensors = random_weights(rng, manifest, config["n_routed_experts"])
    if storage == "mixed":
        mix_storage(rnd, rng, manifest, tensors)
    write_tensors(folder / "model.safetensors", tensors)
    if storage == "mixed" and (problem := compile_model()):
        return problem
    inputs, valid, steps = random_input(rnd, rng, config["vocab_size"])
    write_tensors(folder / "in.safetensors", inputs)
    common = [f"--weights={folder}", f"--input={folder / 'in.safetensors'}", "--trace"]
    if problem := (tool("k2-run", art, *common, f"--output={folder / 'run.out'}", "--steps=" + ",".join(map(str, steps)))
                   or tool("k2-interpret", folder, *common, f"--output={folder / 'exact.out'}")
                   or tool("k2-interpret", folder, *common, f"--output={folder / 'rounded.out'}", "--rounding=bf16")):
        return problem
    return compare(*(read_tensors(folder / f"{name}.out") for name in ("run", "exact", "rounded")), valid)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--base", type=Path, default=Path(__file__).parent.parent.parent / "Tools/Inputs/tiny.json")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--numerics", choices=["fused", "reference"], default="fused")
    parser.add_argument("--storage", choices=["config", "mixed"], default="config")
    parser.add_argument("-v", action="store_true", help="print good models, too")
    a = parser.parse_args()
    base, bad = json.loads(a.base.read_text()), 0
    for seed in range(a.seed, a.seed + a.count):
        rnd, rng = random.Random(seed), np.random.default_rng(seed)
        folder = a.out / f"model-{seed}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        config = random_config(rnd, base)
        problem = check(a.bin, folder, rnd, rng, config, a.numerics, a.storage)
        if problem or a.v:
            print(f"{'bad' if problem else 'ok '} model {seed}: {problem or json.dumps({k: v for k, v in config.items() if base.get(k) != v})}", flush=True)
        bad += bool(problem)
        if not problem:
            shutil.rmtree(folder)
    print(f"{a.count} models, {bad} bad")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
