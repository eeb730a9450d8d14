#!/usr/bin/env bash
# Makes the kernels of k2c that are mutated: k2c.sh K2C GOLDEN OUT, with the compiler and the folder of golden cases. Source locations are left out.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$2/micro_k2/config.json" -o "$work/bf16.art"
"$1" "$2/micro_k2_fp8" -o "$work/fp8.art"
take() { grep -v '^[[:space:]]*\.loc\|^\$L__tmp\|^\$L__func' "$work/$1.art/kernels/$2.ptx" | sed '/^[[:space:]]*\.file/d; /^[[:space:]]*\.section/,/^[[:space:]]*}/d' >"$3/k2c_$4.ptx"; }
take bf16 dense_qkv_a "$3" linear
take bf16 dense_gate_up "$3" gate_up
take bf16 dense_attention "$3" attention
take bf16 moe_dispatch "$3" dispatch
take bf16 moe_experts_gate_up "$3" experts
take bf16 dense_post_attention_layernorm "$3" add_norm
take fp8 dense_qkv_a "$3" linear_fp8
