#!/usr/bin/env bash
# The main job, on a fresh clone: builds k2c, compiles a small K2 model to PTX and cubin, runs its checkpoint through all blocks on the
# simulator, compares every layer with Hugging Face, then compiles the real Kimi-K2-Instruct.
#
#   scripts/demo.sh [CASE]     a case of test/golden (default micro_k2), or a folder with config.json, a checkpoint and golden.safetensors
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$K2C_ROOT"
case=${1:-micro_k2}
[ -d "$case" ] || case=test/golden/$case
[ -f "$case/golden.safetensors" ] || { echo "demo.sh: error: $case: expected a folder with golden.safetensors" >&2; exit 1; }

step() { printf '\n== %s\n' "$*"; }
step "tools and build"
scripts/bootstrap.sh
scripts/build.sh release
out=build/demo
mkdir -p $out
"$K2C_VENV/bin/python" - "$case" $out/input.safetensors <<'PY'
import sys
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
with safe_open(f"{sys.argv[1]}/golden.safetensors", "np") as f:
    keys = [k for k in ("input_ids", "position_ids", "attention_mask") if k in f.keys()]
    save_file({k: np.ascontiguousarray(f.get_tensor(k)) for k in keys}, sys.argv[2])
PY
step "k2c $case -> $out/model.art"
build/bin/k2c "$case" -o $out/model.art
step "k2-run: all blocks on the simulator"
build/bin/k2-run $out/model.art --weights="$case" --input=$out/input.safetensors --output=$out/output.safetensors --trace --stats=$out/stats.json
step "layer by layer against Hugging Face"
"$K2C_VENV/bin/python" scripts/compare.py $out/output.safetensors "$case"
step "Kimi-K2-Instruct (1.02 T parameters): parameters, then PTX and cubins"
build/bin/k2c test/configs/kimi-k2-instruct-0711.json --print-parameters
build/bin/k2c test/configs/kimi-k2-instruct-0711.json -o $out/kimi-k2.art
ls $out/kimi-k2.art/kernels | sed 's/^/  /'
