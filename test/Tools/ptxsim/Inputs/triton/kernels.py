"""Triton kernels whose PTX the simulator runs: what another compiler makes of the stack's operations. Types in signatures are Triton's."""
import os
import sys

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "Unit", "ptxsim_mutants", "Inputs"))
from triton_kernels import t_layernorm as layernorm, t_softmax as softmax  # noqa: E402, F401


@triton.jit
def gemm_tma(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C[M,N] = A[M,K] @ B[N,K]^T through tensor maps of the host."""
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([m0, k]), b_desc.load([n0, k]).T, acc)
    c_desc.store([m0, n0], acc.to(tl.bfloat16))


@triton.jit
def gemm_device_maps(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same with tensor maps that the kernel makes itself."""
    a_desc = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([m0, k]), b_desc.load([n0, k]).T, acc)
    c_desc.store([m0, n0], acc.to(tl.bfloat16))


@triton.jit
def gemm_persistent(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, CTAS: tl.constexpr,
                    WS: tl.constexpr):
    """A loop over tiles in every CTA; WS: one warp group loads, others multiply."""
    tiles_n = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tiles_n, CTAS, flatten=False, warp_specialize=WS):
        m0 = (t // tiles_n) * BM
        n0 = (t % tiles_n) * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a_desc.load([m0, k]), b_desc.load([n0, k]).T, acc)
        c_desc.store([m0, n0], acc.to(tl.bfloat16))


@triton.jit
def gemm_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Through pointers and masks: cp.async."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=(rm < M)[:, None] & (k + rk < K)[None, :], other=0.0)
        y = tl.load(b + rn[None, :] * K + (k + rk)[:, None], mask=(rn < N)[None, :] & (k + rk < K)[:, None], other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16), mask=(rm < M)[:, None] & (rn < N)[None, :])


@triton.jit
def gemm_split_k(a, b, c, M, N, K, KS, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """K is split over the grid; partial sums meet in atomics."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.program_id(2) * KS + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, KS, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=(rm < M)[:, None], other=0.0)
        y = tl.load(b + rn[None, :] * K + (k + rk)[:, None])
        acc = tl.dot(x, y, acc)
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None], sem="relaxed")


@triton.jit
def gemm_fp8_blocks(a_desc, b_desc, c, a_scale, b_scale, N, KB, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """e4m3; a scale for each row and BK columns of A, one for each BN x BK block of B."""
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    rm = m0 + tl.arange(0, BM)
    rn = n0 + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for kb in range(0, KB):
        x = a_desc.load([m0, kb * BK])
        y = b_desc.load([n0, kb * BK])
        scale = tl.load(a_scale + rm * KB + kb) * tl.load(b_scale + tl.program_id(1) * KB + kb)
        acc += tl.dot(x, y.T) * scale[:, None]
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16))


@triton.jit
def rmsnorm(x, w, y, eps, D: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * D + i, mask=i < D, other=0.0).to(tl.float32)
    r = tl.rsqrt(tl.sum(v * v) / D + eps)
    g = tl.load(w + i, mask=i < D, other=0.0).to(tl.float32)
    tl.store(y + row * D + i, (v * r * g).to(tl.bfloat16), mask=i < D)


@triton.jit
def silu_mul_quant(gu, q, s, N, G: tl.constexpr):
    """SwiGLU of [gate | up], then e4m3 with a scale for each G columns."""
    row = tl.program_id(0)
    c = tl.program_id(1) * G + tl.arange(0, G)
    g = tl.load(gu + row * 2 * N + c).to(tl.float32)
    u = tl.load(gu + row * 2 * N + N + c).to(tl.float32)
    v = g / (1.0 + tl.exp(-g)) * u
    scale = tl.maximum(tl.max(tl.abs(v)), 1e-10) / 448.0
    tl.store(q + row * N + c, (v / scale).to(tl.float8e4nv))
    tl.store(s + row * (N // G) + tl.program_id(1), scale)


@triton.jit
def histogram(ids, counts, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    e = tl.load(ids + i, mask=i < n, other=0)
    tl.atomic_add(counts + e, 1, mask=i < n)


@triton.jit
def attention(q_desc, k_desc, v_desc, o, scale, S, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Causal attention, online softmax; rows are [head * S + position, D], S a multiple of BM, BM of BN."""
    r0 = tl.program_id(0) * BM
    base = tl.program_id(1) * S
    q = q_desc.load([base + r0, 0])
    rm = r0 + tl.arange(0, BM)
    m = tl.full((BM,), float("-inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n0 in range(0, r0 + BM, BN):
        s = tl.dot(q, k_desc.load([base + n0, 0]).T) * (scale * 1.4426950408889634)
        s = tl.where(rm[:, None] >= (n0 + tl.arange(0, BN))[None, :], s, float("-inf"))
        top = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - top[:, None])
        shrink = tl.exp2(m - top)
        l = l * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), v_desc.load([base + n0, 0]), acc * shrink[:, None])
        m = top
    rd = tl.arange(0, D)
    tl.store(o + (base + rm)[:, None] * D + rd[None, :], (acc / l[:, None]).to(tl.bfloat16))


@triton.jit
def fused_moe(x, w, y, sorted_ids, expert_of_block, weights, rows, pairs, N, K, TOPK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
              BK: tl.constexpr):
    """Expert GEMM over (token, choice) pairs sorted by expert and padded to BM for each; the router's weight at the end."""
    mb = tl.program_id(0)
    if mb * BM < tl.load(rows):
        e = tl.load(expert_of_block + mb).to(tl.int64)
        ids = tl.load(sorted_ids + mb * BM + tl.arange(0, BM))
        ok = ids < pairs
        rk = tl.arange(0, BK)
        rn = tl.program_id(1) * BN + tl.arange(0, BN)
        xp = x + (ids // TOPK)[:, None].to(tl.int64) * K + rk[None, :]
        wp = w + e * N * K + rn[None, :] * K + rk[:, None]
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(tl.load(xp + k, mask=ok[:, None], other=0.0), tl.load(wp + k), acc)
        acc *= tl.load(weights + ids, mask=ok, other=0.0)[:, None]
        tl.store(y + ids[:, None].to(tl.int64) * N + rn[None, :], acc.to(tl.bfloat16), mask=ok[:, None])


@triton.jit
def mla_decode(q, kv, pages, lengths, o, scale, PAGES_PER_ROW, H: tl.constexpr, BN: tl.constexpr, PAGE: tl.constexpr, DL: tl.constexpr,
               DR: tl.constexpr):
    """Absorbed MLA decode of one token per CTA: all heads share a latent of DL + DR in a paged cache."""
    b = tl.program_id(0)
    n = tl.load(lengths + b)
    h = tl.arange(0, H)
    rl = tl.arange(0, DL)
    rr = tl.arange(0, DR)
    D: tl.constexpr = DL + DR
    row = q + (b * H + h)[:, None] * D
    ql = tl.load(row + rl[None, :])
    qr = tl.load(row + DL + rr[None, :])
    m = tl.full((H,), -1.0e30, tl.float32)
    l = tl.zeros((H,), tl.float32)
    acc = tl.zeros((H, DL), tl.float32)
    for t in range(0, n, BN):
        i = t + tl.arange(0, BN)
        ok = i < n
        page = tl.load(pages + b * PAGES_PER_ROW + i // PAGE, mask=ok, other=0)
        slot = page.to(tl.int64) * PAGE + i % PAGE
        k = tl.load(kv + slot[:, None] * D + rl[None, :], mask=ok[:, None], other=0.0)
        kr = tl.load(kv + slot[:, None] * D + DL + rr[None, :], mask=ok[:, None], other=0.0)
        s = tl.dot(ql, k.T)
        s = tl.dot(qr, kr.T, s) * (scale * 1.4426950408889634)
        s = tl.where(ok[None, :], s, float("-inf"))
        top = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - top[:, None])
        shrink = tl.exp2(m - top)
        l = l * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), k, acc * shrink[:, None])
        m = top
    tl.store(o + (b * H + h)[:, None] * DL + rl[None, :], (acc / l[:, None]).to(tl.bfloat16))


@triton.jit
def router(logits, bias, ids, weights, scale, E: tl.constexpr, B: tl.constexpr, TOPK: tl.constexpr):
    """Sigmoid scores, the TOPK largest with their bias, weights of sum `scale`."""
    row = tl.program_id(0)
    i = tl.arange(0, B)
    s = 1.0 / (1.0 + tl.exp(-tl.load(logits + row * E + i, mask=i < E, other=0.0)))
    left = tl.where(i < E, s + tl.load(bias + i, mask=i < E, other=0.0), -1.0e30)
    slot = tl.arange(0, TOPK)
    chosen = tl.zeros((TOPK,), tl.int32)
    w = tl.zeros((TOPK,), tl.float32)
    for k in tl.static_range(TOPK):
        best = tl.argmax(left, 0)
        chosen = tl.where(slot == k, best, chosen)
        w = tl.where(slot == k, tl.sum(tl.where(i == best, s, 0.0)), w)
        left = tl.where(i == best, -2.0e30, left)
    tl.store(ids + row * TOPK + slot, chosen)
    tl.store(weights + row * TOPK + slot, w / tl.sum(w) * scale)


@triton.jit
def fused_moe_fp8(x, w, y, x_scale, w_scale, sorted_ids, expert_of_block, weights, rows, pairs, N, KB, TOPK: tl.constexpr, BM: tl.constexpr,
                  BN: tl.constexpr, BK: tl.constexpr):
    """As fused_moe, in e4m3 with a scale for each row and BK columns of x and one for each BN x BK block of w."""
    mb = tl.program_id(0)
    nb = tl.program_id(1)
    if mb * BM < tl.load(rows):
        e = tl.load(expert_of_block + mb).to(tl.int64)
        ids = tl.load(sorted_ids + mb * BM + tl.arange(0, BM))
        ok = ids < pairs
        row = ids // TOPK
        rk = tl.arange(0, BK)
        rn = nb * BN + tl.arange(0, BN)
        K = KB * BK
        xp = x + row[:, None].to(tl.int64) * K + rk[None, :]
        wp = w + e * N * K + rn[None, :] * K + rk[:, None]
        sp = w_scale + (e * (N // BN) + nb) * KB
        acc = tl.zeros((BM, BN), tl.float32)
        for kb in range(0, KB):
            a = tl.load(xp + kb * BK, mask=ok[:, None], other=0.0)
            b = tl.load(wp + kb * BK)
            acc += tl.dot(a, b) * (tl.load(x_scale + row * KB + kb, mask=ok, other=0.0) * tl.load(sp + kb))[:, None]
        acc *= tl.load(weights + ids, mask=ok, other=0.0)[:, None]
        tl.store(y + ids[:, None].to(tl.int64) * N + rn[None, :], acc.to(tl.bfloat16), mask=ok[:, None])


@triton.jit
def prefix_sums(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(y + row * n + i, tl.cumsum(tl.load(x + row * n + i, mask=i < n, other=0), 0), mask=i < n)


@triton.jit
def sort_rows(x, y, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(y + row * B + i, tl.sort(tl.load(x + row * B + i)))


@triton.jit
def rope(x, cos, sin, positions, y, H: tl.constexpr, HALF: tl.constexpr):
    """Interleaved rotary embedding of one token and head per CTA."""
    t = tl.program_id(0)
    p = tl.load(positions + t)
    i = tl.arange(0, HALF)
    c = tl.load(cos + p * HALF + i)
    s = tl.load(sin + p * HALF + i)
    at = (t * H + tl.program_id(1)) * 2 * HALF
    re = tl.load(x + at + 2 * i).to(tl.float32)
    im = tl.load(x + at + 2 * i + 1).to(tl.float32)
    tl.store(y + at + 2 * i, (re * c - im * s).to(tl.bfloat16))
    tl.store(y + at + 2 * i + 1, (re * s + im * c).to(tl.bfloat16))


@triton.jit
def grid_barrier(x, sums, total, arrived, n, B: tl.constexpr):
    """A cooperative grid: every CTA adds up a part, all meet, then each adds up the parts."""
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    tl.store(sums + p, tl.sum(tl.load(x + i, mask=i < n, other=0)))
    tl.debug_barrier()
    tl.atomic_add(arrived, 1, sem="acq_rel", scope="gpu")
    while tl.atomic_add(arrived, 0, sem="acquire", scope="gpu") < tl.num_programs(0):
        pass
    tl.debug_barrier()
    all_sums = 0
    for q in range(tl.num_programs(0)):
        all_sums += tl.load(sums + q)
    tl.store(total + p, all_sums)


@triton.jit
def dependent(x, y, n, B: tl.constexpr):
    """A programmatic dependent launch."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    gdc_wait()
    v = tl.load(x + i, mask=i < n, other=0)
    gdc_launch_dependents()
    tl.store(y + i, v * v, mask=i < n)
