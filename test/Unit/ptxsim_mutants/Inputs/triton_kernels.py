"""Makes PTX of Triton kernels to mutate: triton_kernels.py OUT, with the Python package triton (3.9; no GPU is needed). The files of this folder were made so."""
import re
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def t_gemm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A B^T by pointers: a pipeline of cp.async."""
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (k0 + k)[None, :], mask=(m < M)[:, None], other=0.0)
        y = tl.load(b + n[:, None] * K + (k0 + k)[None, :], mask=(n < N)[:, None], other=0.0)
        sum = tl.dot(x, y.T, sum)
    tl.store(c + m[:, None] * N + n[None, :], sum.to(tl.bfloat16), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def t_gemm_tma(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same by tensor maps."""
    m = tl.program_id(1) * BM
    n = tl.program_id(0) * BN
    sum = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sum = tl.dot(a.load([m, k]), b.load([n, k]).T, sum)
    c.store([m, n], sum.to(tl.bfloat16))


@triton.jit
def t_softmax(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v))
    tl.store(y + row * n + i, e / tl.sum(e), mask=i < n)


@triton.jit
def t_layernorm(x, w, bias, y, eps, D: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, D)
    v = tl.load(x + row * D + i).to(tl.float32)
    v = v - tl.sum(v) / D
    v = v * tl.rsqrt(tl.sum(v * v) / D + eps)
    tl.store(y + row * D + i, v * tl.load(w + i) + tl.load(bias + i))


@triton.jit
def t_attention(q, k, v, o, S, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Causal attention of one head a program."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    base = tl.program_id(1) * S * D
    at = base + rows[:, None] * D + d[None, :]
    x = tl.load(q + at, mask=(rows < S)[:, None], other=0.0)
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sum = tl.zeros((BM, D), tl.float32)
    for n0 in range(0, S, BN):
        n = n0 + tl.arange(0, BN)
        to = base + n[:, None] * D + d[None, :]
        y = tl.load(k + to, mask=(n < S)[:, None], other=0.0)
        z = tl.load(v + to, mask=(n < S)[:, None], other=0.0)
        s = tl.dot(x, y.T) * scale
        s = tl.where((rows[:, None] >= n[None, :]) & (n < S)[None, :], s, float("-inf"))
        m = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - m[:, None])
        alpha = tl.exp2(most - m)
        total = total * alpha + tl.sum(p, 1)
        sum = tl.dot(p.to(tl.bfloat16), z, sum * alpha[:, None])
        most = m
    tl.store(o + at, (sum / total[:, None]).to(tl.bfloat16), mask=(rows < S)[:, None])


@triton.jit
def t_transpose_scan(x, y, R: tl.constexpr, C: tl.constexpr):
    """Prefix sums along rows, stored transposed: through shared memory."""
    p = tl.program_id(0)
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    v = tl.load(x + p * R * C + r[:, None] * C + c[None, :])
    s = tl.cumsum(v, 1)
    tl.store(y + p * R * C + c[:, None] * R + r[None, :], s.T)


B = "*bf16"
desc = "tensordesc<bf16[%d, %d]>"
KERNELS = [
    (t_gemm, dict(a=B, b=B, c=B, M="i32", N="i32", K="i32"), dict(BM=64, BN=32, BK=32), 4, 3),
    (t_gemm_tma, dict(a=desc % (64, 64), b=desc % (64, 64), c=desc % (64, 64), K="i32"), dict(BM=64, BN=64, BK=64), 4, 3),
    (t_softmax, dict(x="*fp32", y="*fp32", n="i32"), dict(B=512), 4, 1),
    (t_layernorm, dict(x=B, w="*fp32", bias="*fp32", y="*fp32", eps="fp32"), dict(D=512), 4, 1),
    (t_attention, dict(q=B, k=B, v=B, o=B, S="i32", scale="fp32"), dict(BM=64, BN=32, D=32), 4, 2),
    (t_transpose_scan, dict(x="*fp32", y="*fp32"), dict(R=32, C=64), 4, 1),
]


def main():
    for kernel, signature, constants, warps, stages in KERNELS:
        types = {n: signature.get(n, "constexpr") for n in kernel.arg_names}
        hints = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(kernel.arg_names)
                 if types[n].startswith("*") or n in ("K", "N")}
        source = ASTSource(kernel, types, {(kernel.arg_names.index(n),): v for n, v in constants.items()}, hints)
        made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=dict(num_warps=warps, num_stages=stages, ptx_version=90))
        text = re.sub(r"\t\.section.*?\}\n?", "", made.asm["ptx"], flags=re.S)
        text = re.sub(r"^\s*\.(loc|file)\b.*\n|^\$L__(tmp|func|debug|info)\w*:\n", "", text, flags=re.M)
        name = kernel.fn.__name__
        (Path(sys.argv[1]) / f"triton_{name[2:]}.ptx").write_text(text)
        print(name, "shared", made.metadata.shared, "warps", made.metadata.num_warps, "bytes", len(text))


if __name__ == "__main__":
    main()
