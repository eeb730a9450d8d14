"""The corpus: Triton's kernels with arguments and what numpy says of their results."""
import os
import sys

import numpy as np

import kernels
from numbers_ import bf16, from_bf16, from_e4m3, random_e4m3

BF, F8 = "*bf16", "*fp8e4nv"
# Schedule, asynchronous operations.
MODES = [("rr", "eager"), ("rr", "lazy"), ("reverse", "eager"), ("reverse", "lazy"), ("greedy", "eager"), ("greedy", "lazy"), ("random:1", "eager"),
         ("random:2", "lazy"), ("random:3", "random:1")]


class Case:
    """One kernel: its arguments, its expected results."""

    def __init__(self, name, fn, constants, warps, stages, grid, arguments, exact=True, **options):
        self.name, self.fn, self.constants, self.warps, self.stages, self.grid = name, fn, constants, warps, stages, grid
        self.arguments, self.exact, self.options = arguments, exact, options


def desc(dtype, array, *block):
    return ("desc", dtype, array, list(block))


def signature_of(case):
    signature = {}
    for name, value in zip([n for n in case.fn.arg_names if n not in case.constants], case.arguments):
        if value[0] == "desc":
            signature[name] = "tensordesc<%s%s>" % (value[1], value[3])
        else:
            signature[name] = value[0]
    return signature


def close(expected, bound, decode=lambda x: x):
    """A check: every element within its bound."""

    def check(got):
        wide = decode(got).astype(np.float64)
        wrong = ~(np.abs(wide - expected) <= bound)
        if wrong.any():
            at = tuple(int(i[0]) for i in np.nonzero(wrong))
            sys.exit("%d elements differ, first at %s: %s instead of %s, bound %s" % (wrong.sum(), at, wide[at], expected[at], bound[at]))

    return check


def passes(check, array):
    try:
        check(array)
    except SystemExit:
        return False
    return True


def array_of(argument):
    return argument[2 if argument[0] == "desc" else 1]


def check_that_checks_check(case):
    """What is in the outputs before must not pass."""
    for i, argument in enumerate(case.arguments):
        if callable(argument[-1]) and passes(argument[-1], array_of(argument)):
            sys.exit("%s: the check of argument %d finds nothing" % (case.name, i))


# --- cases ---


def product(a, b, bits=8):
    """A @ B^T and its bound: float32 sums of K products in any order (K 2^-24 of the sum of magnitudes, twice that for slack), then bf16 (2^-9, as 2^-8)."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    c = a @ b.T
    return c, a.shape[1] * 2.0**-23 * (np.abs(a) @ np.abs(b).T) + 2.0**-bits * np.abs(c)


def gemm_case(name, fn, m, n, k, constants, warps, stages, grid, maps, **options):
    rng = np.random.default_rng(1)
    a, b = (bf16(rng.standard_normal(s)) for s in ((m, k), (n, k)))
    c, bound = product(from_bf16(a), from_bf16(b))
    check = close(c, bound, from_bf16)
    nothing = np.full((m, n), 0xFFFF, np.uint16)
    bm, bn, bk = (constants[x] for x in ("BM", "BN", "BK"))
    args = ([desc("bf16", a, bm, bk), desc("bf16", b, bn, bk), desc("bf16", nothing, bm, bn) + (check,)] if maps else
            [(BF, a), (BF, b), (BF, nothing, check)])
    return Case(name, fn, constants, warps, stages, grid, args + [("i32", m), ("i32", n), ("i32", k)], **options)


def gemms():
    tile = dict(BM=64, BN=64, BK=64)
    yield gemm_case("gemm-tma", kernels.gemm_tma, 256, 128, 448, tile, 4, 3, (4, 2, 1), True)
    yield gemm_case("gemm-tma-128x128", kernels.gemm_tma, 128, 256, 320, dict(BM=128, BN=128, BK=64), 8, 2, (1, 2, 1), True)
    yield gemm_case("gemm-warp-specialised", kernels.gemm_persistent, 256, 192, 320, dict(tile, CTAS=2, WS=True), 4, 3, (2, 1, 1), True)
    yield gemm_case("gemm-persistent", kernels.gemm_persistent, 256, 192, 320, dict(tile, CTAS=2, WS=False), 4, 3, (2, 1, 1), True)
    yield gemm_case("gemm-device-maps", kernels.gemm_device_maps, 128, 192, 320, tile, 4, 3, (2, 3, 1), False)
    yield gemm_case("gemm-cp-async", kernels.gemm_pointers, 150, 144, 272, dict(tile, BK=32), 4, 3, (3, 3, 1), False)
    yield gemm_case("gemm-cluster", kernels.gemm_pointers, 256, 64, 320, dict(tile, BM=128), 4, 3, (2, 1, 1), False, num_ctas=2)
    yield from gemm_small()
    yield gemm_fp8()


def gemm_small():
    """16 rows: mma.sync."""
    rng = np.random.default_rng(2)
    m, n, k = 10, 128, 1024
    a, b = (bf16(rng.standard_normal(s)) for s in ((m, k), (n, k)))
    c, bound = product(from_bf16(a), from_bf16(b), 23)
    yield Case("gemm-split-k", kernels.gemm_split_k, dict(BM=16, BN=64, BK=64), 4, 3, (1, 2, 2),
               [(BF, a), (BF, b), ("*fp32", np.zeros((m, n), np.float32), close(c, bound)), ("i32", m), ("i32", n), ("i32", k), ("i32", k // 2)], exact=False)


def gemm_fp8():
    rng = np.random.default_rng(3)
    m, n, kb = 128, 128, 5
    a, b = random_e4m3(rng, (m, 128 * kb)), random_e4m3(rng, (n, 128 * kb))
    sa, sb = rng.uniform(0.5, 2, (m, kb)).astype(np.float32), rng.uniform(0.5, 2, (1, kb)).astype(np.float32)
    c, bound = product(from_e4m3(a) * np.repeat(sa, 128, 1).astype(np.float64), from_e4m3(b) * np.repeat(sb, 128, 1).astype(np.float64))
    return Case("gemm-fp8-blocks", kernels.gemm_fp8_blocks, dict(BM=64, BN=128, BK=128), 4, 2, (2, 1, 1),
                [desc("fp8e4nv", a, 64, 128), desc("fp8e4nv", b, 128, 128), (BF, np.full((m, n), 0xFFFF, np.uint16), close(c, bound, from_bf16)),
                 ("*fp32", sa), ("*fp32", sb), ("i32", n), ("i32", kb)])


def rows():
    rng = np.random.default_rng(4)
    n = 300
    x = rng.standard_normal((3, n)).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    y = e / e.sum(1, keepdims=True)
    # ex2.approx: 2 ulp; its argument (below 10) is rounded: 10 * 2^-24 relative to the result; sums and the quotient: less than 16 * 2^-24.
    yield Case("softmax", kernels.softmax, dict(B=512), 4, 1, (3, 1, 1),
               [("*fp32", x), ("*fp32", np.zeros_like(x), close(y, 32 * 2.0**-24 * y)), ("i32", n)])
    d = 768
    x, w = bf16(rng.standard_normal((2, d))), bf16(rng.standard_normal(d))
    v = from_bf16(x).astype(np.float64)
    y = v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-6) * from_bf16(w)
    yield Case("rmsnorm", kernels.rmsnorm, dict(D=d, B=1024), 4, 1, (2, 1, 1),
               [(BF, x), (BF, w), (BF, np.zeros_like(x), close(y, 2.0**-8 * np.abs(y), from_bf16)), ("fp32", 1e-6)])
    d = 512
    x, w, b = bf16(rng.standard_normal((2, d))), rng.standard_normal(d).astype(np.float32), rng.standard_normal(d).astype(np.float32)
    v = from_bf16(x).astype(np.float64)
    y = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5) * w + b
    # Mean and variance of 512 values near 1: sums in a tree of depth 9; the difference from the mean cancels.
    yield Case("layernorm", kernels.layernorm, dict(D=d), 4, 1, (2, 1, 1),
               [(BF, x), ("*fp32", w), ("*fp32", b), ("*fp32", np.zeros((2, d), np.float32), close(y, 2.0**-19 * (1 + np.abs(y)) * (1 + np.abs(w)))),
                ("fp32", 1e-5)])
    n, g = 256, 128
    gu = bf16(rng.standard_normal((2, 2 * n)))
    gate, up = (from_bf16(gu)[:, s].astype(np.float64) for s in (slice(0, n), slice(n, None)))
    v = gate / (1 + np.exp(-gate)) * up
    scale = np.abs(v).reshape(2, -1, g).max(2) / 448
    q = v / np.repeat(scale, g, 1)
    # e4m3: half a step is 2^-4 of the value (2^-10 when subnormal); a value at the middle may fall to either side.
    yield Case("silu-mul-quant", kernels.silu_mul_quant, dict(G=g), 1, 1, (2, n // g, 1),
               [(BF, gu), (F8, np.zeros((2, n), np.uint8), close(q, 2.0**-4 * 1.01 * np.abs(q) + 2.0**-10, from_e4m3)),
                ("*fp32", np.zeros_like(scale, np.float32), close(scale, 2.0**-18 * scale)), ("i32", n)])
    ids = rng.integers(0, 40, 1000).astype(np.int32)
    counts = np.bincount(ids, minlength=40)
    yield Case("histogram", kernels.histogram, dict(B=256), 4, 1, (4, 1, 1),
               [("*i32", ids), ("*i32", np.zeros(40, np.int32), close(counts, np.zeros(40))), ("i32", len(ids))])
    x = rng.integers(-1000, 1000, (2, 700)).astype(np.int32)
    sums = np.cumsum(x, 1)
    yield Case("prefix-sums", kernels.prefix_sums, dict(B=1024), 4, 1, (2, 1, 1),
               [("*i32", x), ("*i32", np.zeros_like(x), close(sums, np.zeros(x.shape))), ("i32", 700)])
    x = rng.standard_normal((2, 256)).astype(np.float32)
    yield Case("sort", kernels.sort_rows, dict(B=256), 4, 1, (2, 1, 1), [("*fp32", x), ("*fp32", np.zeros_like(x), close(np.sort(x, 1), np.zeros(x.shape)))])
    tokens, heads, half = 3, 2, 32
    x, positions = bf16(rng.standard_normal((tokens * heads, 2 * half))), np.array([5, 0, 11], np.int64)
    angles = np.arange(12)[:, None] / 10000 ** (np.arange(half) / half)
    c, s = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    v = from_bf16(x).astype(np.float64).reshape(tokens, heads, half, 2)
    re, im = v[..., 0], v[..., 1]
    cp, sp = c[positions][:, None].astype(np.float64), s[positions][:, None].astype(np.float64)
    y = np.stack([re * cp - im * sp, re * sp + im * cp], -1).reshape(x.shape)
    bound = 2.0**-8 * np.abs(y) + 2.0**-22 * (np.abs(re) + np.abs(im))[..., None].repeat(2, -1).reshape(x.shape)  # bf16; float32 that cancels
    yield Case("rope", kernels.rope, dict(H=heads, HALF=half), 1, 1, (tokens, heads, 1),
               [(BF, x), ("*fp32", c), ("*fp32", s), ("*i64", positions), (BF, np.zeros_like(x), close(y, bound, from_bf16))])


def grids():
    rng = np.random.default_rng(7)
    x = rng.integers(-1000, 1000, 1000).astype(np.int32)
    one, ctas = np.zeros(1, np.int32), 5
    parts = np.array([x[p * 256:(p + 1) * 256].sum() for p in range(ctas)], np.int32)
    yield Case("grid-barrier", kernels.grid_barrier, dict(B=256), 4, 1, (ctas, 1, 1),
               [("*i32", x), ("*i32", np.full(ctas, -1, np.int32), close(parts, np.zeros(ctas))),
                ("*i32", np.full(ctas, -1, np.int32), close(np.full(ctas, x.sum()), np.zeros(ctas))), ("*i32", one), ("i32", len(x))],
               launch_cooperative_grid=True)
    yield Case("dependent", kernels.dependent, dict(B=256), 4, 1, (4, 1, 1),
               [("*i32", x), ("*i32", np.full_like(x, -1), close(x.astype(np.int64)**2, np.zeros(x.shape))), ("i32", len(x))], launch_pdl=True)


def attentions():
    rng = np.random.default_rng(5)
    s, heads, d = 256, 2, 64
    q, k, v = (bf16(rng.standard_normal((heads * s, d))) for _ in range(3))
    wide = [from_bf16(t).astype(np.float64).reshape(heads, s, d) for t in (q, k, v)]
    scores = np.einsum("hqd,hkd->hqk", wide[0], wide[1]) / np.sqrt(d)
    scores[:, np.triu_indices(s, 1)[0], np.triu_indices(s, 1)[1]] = -np.inf
    p = np.exp(scores - scores.max(2, keepdims=True))
    p /= p.sum(2, keepdims=True)
    o = (p @ wide[2]).reshape(heads * s, d)
    # P is rounded to bf16 (2^-9 each, 2^-8 with the float32 sums and exponentials), then the result is (2^-9).
    bound = 2.0**-8 * ((p @ np.abs(wide[2])).reshape(heads * s, d) + np.abs(o))
    for name, bm, bn, warps in (("attention", 64, 64, 4), ("attention-128x32", 128, 32, 8)):
        yield Case(name, kernels.attention, dict(BM=bm, BN=bn, D=d), warps, 2, (s // bm, heads, 1),
                   [desc("bf16", q, bm, d), desc("bf16", k, bn, d), desc("bf16", v, bn, d), (BF, np.zeros_like(q), close(o, bound, from_bf16)),
                    ("fp32", repr(float(1 / np.sqrt(d)))), ("i32", s)])
    yield mla(rng)


def mla(rng):
    batch, h, dl, dr, page, per_row = 2, 16, 128, 64, 16, 8
    lengths = np.array([37, 100], np.int32)
    pages = rng.permutation(batch * per_row).astype(np.int32).reshape(batch, per_row)
    q, kv = bf16(rng.standard_normal((batch * h, dl + dr))), bf16(rng.standard_normal((batch * per_row * page, dl + dr)))
    scale = float(np.float32(1 / np.sqrt(dl + dr)))
    o, bound = np.zeros((batch * h, dl)), np.zeros((batch * h, dl))
    for b in range(batch):
        slots = (pages[b][:, None] * page + np.arange(page)).reshape(-1)[:lengths[b]]
        keys = from_bf16(kv)[slots].astype(np.float64)
        scores = from_bf16(q)[b * h:(b + 1) * h].astype(np.float64) @ keys.T * scale
        p = np.exp(scores - scores.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        o[b * h:(b + 1) * h] = p @ keys[:, :dl]
        bound[b * h:(b + 1) * h] = p @ np.abs(keys[:, :dl])
    bound = 2.0**-8 * (bound + np.abs(o))  # as above
    return Case("mla-decode", kernels.mla_decode, dict(H=h, BN=32, PAGE=page, DL=dl, DR=dr), 4, 2, (batch, 1, 1),
                [(BF, q), (BF, kv), ("*i32", pages), ("*i32", lengths), (BF, np.zeros((batch * h, dl), np.uint16), close(o, bound, from_bf16)),
                 ("fp32", repr(scale)), ("i32", per_row)])


def moe():
    rng = np.random.default_rng(6)
    for name, bm, stages, fp8 in (("fused-moe-16", 16, 3, False), ("fused-moe-64", 64, 3, False), ("fused-moe-fp8-64", 64, 2, True)):
        yield fused_moe_case(rng, name, bm, stages, fp8)
    yield routing(rng)


def fused_moe_case(rng, name, bm, stages, fp8):
    tokens, topk, experts, n = 70, 2, 6, 128
    k, bn, bk = (384, 128, 128) if fp8 else (320, 64, 64)
    weights = rng.uniform(0.1, 1, tokens * topk).astype(np.float32)
    chosen = np.array([rng.permutation(experts)[:topk] for _ in range(tokens)]).reshape(-1)
    ids, blocks = [], []
    for e in range(experts):
        mine = list(np.nonzero(chosen == e)[0])
        mine += [tokens * topk] * (-len(mine) % bm)
        ids += mine
        blocks += [e] * (len(mine) // bm)
    rows_used = np.array([len(ids)], np.int32)
    ids += [tokens * topk] * bm
    blocks.append(0)  # a CTA too many: it has nothing to do
    if fp8:
        x, w = random_e4m3(rng, (tokens, k)), random_e4m3(rng, (experts, n, k))
        xs = rng.uniform(0.5, 2, (tokens, k // bk)).astype(np.float32)
        ws = rng.uniform(0.5, 2, (experts, n // bn, k // bk)).astype(np.float32)
        wide_x = from_e4m3(x) * np.repeat(xs, bk, 1).astype(np.float64)
        wide_w = from_e4m3(w) * np.repeat(np.repeat(ws, bk, 2), bn, 1).astype(np.float64)
    else:
        x, w = bf16(rng.standard_normal((tokens, k))), bf16(rng.standard_normal((experts, n, k)))
        wide_x, wide_w = from_bf16(x), from_bf16(w)
    y, bound = np.zeros((tokens * topk, n)), np.zeros((tokens * topk, n))
    for pair, e in enumerate(chosen):
        c, limit = product(wide_x[pair // topk][None], wide_w[e])
        y[pair], bound[pair] = c[0] * weights[pair], limit[0] * weights[pair]
    lists = [("*i32", np.array(ids, np.int32)), ("*i32", np.array(blocks, np.int32)), ("*fp32", weights), ("*i32", rows_used), ("i32", tokens * topk),
             ("i32", n)]
    out = (BF, np.full((tokens * topk, n), 0xFFFF, np.uint16), close(y, bound, from_bf16))
    constants = dict(TOPK=topk, BM=bm, BN=bn, BK=bk)
    if fp8:
        return Case(name, kernels.fused_moe_fp8, constants, 4, stages, (len(blocks), n // bn, 1),
                    [(F8, x), (F8, w), out, ("*fp32", xs), ("*fp32", ws)] + lists + [("i32", k // bk)])
    return Case(name, kernels.fused_moe, constants, 4, stages, (len(blocks), n // bn, 1), [(BF, x), (BF, w), out] + lists + [("i32", k)])


def routing(rng):
    rows, e, topk = 3, 384, 8
    logits, bias = rng.standard_normal((rows, e)).astype(np.float32), rng.uniform(0, 0.1, e).astype(np.float32)
    s = 1 / (1 + np.exp(-logits.astype(np.float64)))
    ids = np.argsort(-(s + bias), 1, "stable")[:, :topk]
    gaps = np.sort(s + bias, 1)[:, ::-1]
    assert (gaps[:, :topk] - gaps[:, 1:topk + 1]).min() > 2.0**-20  # no order that rounding could change
    w = np.take_along_axis(s, ids, 1)
    w = w / w.sum(1, keepdims=True) * 2.5
    return Case("router", kernels.router, dict(E=e, B=512, TOPK=topk), 4, 1, (rows, 1, 1),
                [("*fp32", logits), ("*fp32", bias), ("*i32", np.zeros((rows, topk), np.int32), close(ids, np.zeros(ids.shape))),
                 ("*fp32", np.zeros((rows, topk), np.float32), close(w, 2.0**-18 * w)), ("fp32", "2.5")])


GROUPS = dict(gemm=gemms, rows=rows, grid=grids, attention=attentions, moe=moe)


def all_cases():
    for group in GROUPS.values():
        yield from group()


def table():
    """The kernels of docs/ptxsim-corpora.md: name -> (passes from the command line, passes through the driver), as the table says."""
    rows, inside = {}, False
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 5, "docs", "ptxsim-corpora.md")) as f:
        for line in f:
            if line.startswith("## "):
                inside = line.strip() == "## Triton"
            cells = [c.strip() for c in line.split("|")][1:-1]
            if inside and cells and cells[0].startswith("`"):
                rows[cells[0].strip("`")] = tuple(cells[-2:])
    return rows
