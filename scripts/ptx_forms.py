#!/usr/bin/env python3
"""What ptxas says about the forms of the simulator's opcodes: test/Unit/ptxsim/Inputs/ptxas_forms.txt.

    scripts/ptx_forms.py --write      asks ptxas about every combination below of opcode, modifiers and types
    scripts/ptx_forms.py --check      the same, and compares with the file; says so if there is no ptxas
    scripts/ptx_forms.py --page       writes docs/ptx.md from the file
    scripts/ptx_forms.py --check-page compares the page with what would be written; exit 1 if it is stale

A line of the file is `+ statement` (ptxas accepts it for sm_90a), `- statement` (it refuses it) or `~ statement` (it
accepts it, and the simulator does not have it: the list at the end of this file). The unit test Forms.AgreeWithPtxas
loads every statement.

The file is long because it is mostly a table: one generator per opcode, which is the declared subset, kept in one place.
"""
import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMS = ROOT / "test" / "Unit" / "ptxsim" / "Inputs" / "ptxas_forms.txt"
PAGE = ROOT / "docs" / "ptx.md"
HEADER = """.version 9.0
.target sm_90a
.address_size 64
"""
# Keep in step with FormsTest.cpp.
ENTRY = """.visible .entry k%d(.param .align 64 .b8 prm[128]) .maxntid 128 {
.reg .pred %%p<8>; .reg .b16 %%h<10>; .reg .b32 %%r<160>; .reg .f32 %%f<160>; .reg .b64 %%d<20>;
"""

INTS = ["u16", "s16", "u32", "s32", "u64", "s64"]
ALL_INTS = ["u8", "s8"] + INTS
BITS = ["b16", "b32", "b64"]
FLOATS = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f64"]
ROUND = ["", "rn", "rz", "rm", "rp"]


def width(t):
    if t == "pred":
        return "p"
    if t in ("u8", "s8", "b8", "u16", "s16", "b16", "f16", "bf16", "e4m3x2", "e5m2x2"):
        return "h"
    if t in ("u64", "s64", "b64", "f64"):
        return "d"
    return "r"


def reg(t, i):
    return f"%{width(t)}{i}"


def regs(t, n, first=1):
    """Operands in registers of the type."""
    return [reg(t, first + i) for i in range(n)]


def vec(t, n, first=1):
    if t == "float":  # wmma wants registers of the type
        return "{" + ",".join(f"%f{first + i}" for i in range(n)) + "}"
    return "{" + ",".join(reg(t, first + i) for i in range(n)) + "}"


def form(*parts):
    return ".".join(p for p in parts if p)


def combine(*lists):
    return itertools.product(*lists)


def same(opcode, modifiers, types, operands):
    """opcode.modifiers.type with `operands` registers of the type."""
    for *m, t in combine(*modifiers, types):
        yield f"{form(opcode, *m, t)} {', '.join(regs(t, operands))};"


def integers():
    types = INTS + ["u8", "b32", "u16x2", "s16x2"]
    for op in ("add", "sub"):
        yield from same(op, [["", "sat"]], types, 3)
        yield from same(op, [["cc"]], INTS, 3)
        yield from same(op + "c", [["", "cc"]], INTS, 3)
    for op, n in (("mul", 3), ("mad", 4)):
        yield from same(op, [["", "hi", "lo"], ["", "sat"]], types, n)
        for t in INTS:
            wide = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}.get(t, t)
            more = [reg(wide, 4)] if op == "mad" else []
            yield f"{op}.wide.{t} {', '.join([reg(wide, 1), reg(t, 2), reg(t, 3)] + more)};"
        yield from same(op + "24", [["", "hi", "lo"], ["", "sat"]], ["u16", "u32", "s32", "u64"], n)
    for op in ("mad", "madc"):
        yield from same(op, [["hi", "lo"], ["cc"] if op == "mad" else ["", "cc"]], INTS, 4)
    yield from same("sad", [], types, 4)
    for op in ("div", "rem"):
        yield from same(op, [], types, 3)
    for op in ("min", "max"):
        yield from same(op, [["", "relu"]], types, 3)
    for op in ("abs", "neg", "cnot", "not"):
        yield from same(op, [], types + BITS + ["pred"], 2)
    for op in ("popc", "clz"):
        for t in BITS + ["u32"]:
            yield f"{op}.{t} %r1, {reg(t, 2)};"
    yield from same("brev", [], BITS + ["u32"], 2)
    for s, t in combine(["", "shiftamt"], INTS + ["b32"]):
        yield f"{form('bfind', s, t)} %r1, {reg(t, 2)};"
    for t in INTS + ["b32"]:
        yield f"bfe.{t} {reg(t, 1)}, {reg(t, 2)}, %r3, %r4;"
    for t in BITS + ["u32"]:
        yield f"bfi.{t} {reg(t, 1)}, {reg(t, 2)}, {reg(t, 3)}, %r4, %r5;"
    for m in ("clamp", "wrap", ""):
        yield f"{form('bmsk', m, 'b32')} %r1, %r2, %r3;"
        for t in ("u32", "s32", "b32"):
            yield f"{form('szext', m, t)} %r1, %r2, %r3;"
    for m in ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        yield f"{form('prmt.b32', m)} %r1, %r2, %r3, %r4;"
    yield "fns.b32 %r1, %r2, %r3, %r4;"
    for a, b in combine(["u32", "s32", "b32"], ["u32", "s32"]):
        yield f"dp4a.{a}.{b} %r1, %r2, %r3, %r4;"
        for h in ("lo", "hi", ""):
            yield f"{form('dp2a', h, a, b)} %r1, %r2, %r3, %r4;"


def logic():
    for op in ("and", "or", "xor"):
        yield from same(op, [], BITS + ["pred", "u32"], 3)
    for op in ("shl", "shr"):
        for t in BITS + INTS:
            yield f"{op}.{t} {reg(t, 1)}, {reg(t, 2)}, %r3;"
    for d, m, t in combine(["l", "r", ""], ["clamp", "wrap", ""], BITS):
        yield f"{form('shf', d, m, t)} {reg(t, 1)}, {reg(t, 2)}, {reg(t, 3)}, %r4;"
    yield "lop3.b32 %r1, %r2, %r3, %r4, 0x96;"
    yield "lop3.b64 %d1, %d2, %d3, %d4, 0x96;"
    for m in ("or", "and", "xor"):
        yield f"lop3.{m}.b32 %r1|%p1, %r2, %r3, %r4, 0x96, %p2;"
    yield from same("mov", [], ["pred", "b8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f16",
                                "bf16", "f16x2", "f32", "f64"], 2)
    yield "mov.b32 %r1, {%h1, %h2};"
    yield "mov.b32 {%h1, %h2}, %r1;"
    yield "mov.b64 %d1, {%r1, %r2};"
    yield "mov.b64 {%r1, _}, %d1;"
    yield "mov.b64 %d1, {%h1, %h2, %h3, %h4};"
    yield "mov.u32 %r1, {%h1, %h2};"
    for t in BITS + INTS + ["f32", "f64", "f16", "b8", "bf16"]:
        yield f"selp.{t} {reg(t, 1)}, {reg(t, 2)}, {reg(t, 3)}, %p1;"
    for t, c in combine(BITS + INTS + ["f32", "f64"], ["s32", "f32", "u32"]):
        for f in ("", "ftz"):
            yield f"{form('slct', f, t, c)} {reg(t, 1)}, {reg(t, 2)}, {reg(t, 3)}, %r4;"


def floats():
    for op, n in (("add", 3), ("sub", 3), ("mul", 3), ("fma", 4), ("mad", 4)):
        yield from same(op, [ROUND, ["", "ftz"], ["", "sat"]], FLOATS, n)
    for t, m in combine(FLOATS, ["relu", "ftz.relu", "oob", "oob.relu", "ftz.oob", "oob.sat", "ftz.oob.relu"]):
        yield f"fma.rn.{m}.{t} {', '.join(regs(t, 4))};"
    for op in ("min", "max"):
        yield from same(op, [["", "ftz"], ["", "NaN"], ["", "xorsign.abs"]], FLOATS, 3)
    for op in ("abs", "neg"):
        yield from same(op, [["", "ftz"]], FLOATS, 2)
    yield from same("copysign", [], FLOATS, 3)
    for op, n in (("div", 3), ("rcp", 2), ("sqrt", 2), ("rsqrt", 2)):
        yield from same(op, [["", "approx", "full", "rn", "rz", "rm", "rp"], ["", "ftz"]], ["f32", "f64", "f16"], n)
    for op in ("sin", "cos", "lg2", "ex2", "tanh"):
        yield from same(op, [["", "approx"], ["", "ftz"]], FLOATS, 2)
    for p, t in combine(["finite", "infinite", "number", "notanumber", "normal", "subnormal"], ["f32", "f64", "f16"]):
        yield f"testp.{p}.{t} %p1, {reg(t, 1)};"


def compares():
    operators = ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
                 "num", "nan"]
    types = BITS + INTS + FLOATS
    for c, t in combine(operators, types):
        pair = "%p1|%p2" if t.endswith("x2") else "%p1"
        yield f"setp.{c}.{t} {pair}, {reg(t, 1)}, {reg(t, 2)};"
    for c, b, f, t in combine(["lt", "geu"], ["", "and", "or", "xor"], ["", "ftz"], types):
        pair = "%p1|%p2"
        more = ", %p3" if b else ""
        yield f"{form('setp', c, b, f, t)} {pair}, {reg(t, 1)}, {reg(t, 2)}{more};"
    for c, b, f, d, t in combine(["lt", "geu"], ["", "and"], ["", "ftz"],
                                 ["u32", "s32", "f32", "f16", "bf16", "u16", "s16", "f16x2", "bf16x2"],
                                 ["b32", "s32", "u16", "u64"] + FLOATS):
        more = ", %p3" if b else ""
        yield f"{form('set', c, b, f, d, t)} {reg(d, 1)}, {reg(t, 2)}, {reg(t, 3)}{more};"


SPACES = ["", "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry"]
SCOPES = ["cta", "cluster", "gpu", "sys"]


def memory():
    types = ["b8", "b16", "b32", "b64", "b128", "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16",
             "f16x2", "f32", "f64", "pred"]
    orders = [""] + ["weak", "volatile", "relaxed", "acquire", "release", "relaxed.cta", "mmio.relaxed.sys"]
    orders += [f"{o}.{s}" for o in ("relaxed", "acquire", "release") for s in SCOPES]
    for op in ("ld", "st"):
        def statement(*parts, t="b32", n=1, hint=False):
            value = vec(t, n) if n > 1 else reg(t, 1)
            policy = ", %d8" if hint else ""
            both = f"{value}, [%d9]" if op == "ld" else f"[%d9], {value}"
            return f"{form(op, *parts, t)} {both}{policy};"
        for space, v, t in combine(SPACES, ["", "v2", "v4"], types):
            if t == "b128":
                continue
            yield statement(space, v, t=t, n=int(v[1:] or 1) if v else 1)
        for order, space in combine(orders, SPACES):
            yield statement(order, space)
        for cache, space in combine(["ca", "cg", "cs", "lu", "cv", "wb", "wt"], ["", "global", "shared", "local"]):
            yield statement(space, cache)
        for e in ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate"):
            for space in ("", "global", "shared"):
                yield statement(space, "L1::" + e)
            if op == "ld":
                yield statement("global", "nc", "L1::" + e)
        for space in ("", "global", "shared"):
            yield statement(space, "L2::cache_hint", hint=True)
            for p in ("L2::64B", "L2::128B", "L2::256B"):
                yield statement(space, p)
        for t, v in combine(types, ["", "v2", "v4"]):
            if op == "ld" and t not in ("b128", "pred"):
                yield statement("global", "nc", v, t=t, n=int(v[1:]) if v else 1)
        yield statement("global", "relaxed.gpu", "v2", t="u32", n=2)
        yield statement("global", "volatile", "v4", t="f32", n=4)
        yield statement("global", "nc", "cg")
    for t, v in combine(["b8", "u16", "b32", "f32", "u64", "f64"], ["", "v2", "v4"]):
        yield f"{form('ldu.global', v, t)} {vec(t, int(v[1:])) if v else reg(t, 1)}, [%d9];"
    for space in SPACES:
        yield f"{form('cvta', space, 'u64')} %d1, %d2;"
        yield f"{form('cvta.to', space, 'u64')} %d1, %d2;"
        yield f"{form('isspacep', space)} %p1, %d1;"
        yield f"{form('isspacep', space)} %p1, %r1;"
    yield "cvta.global.u32 %r1, %r2;"
    for space, level in combine(["", "global", "local", "shared"],
                                ["L1", "L2", "L2::evict_last", "L2::evict_normal", ""]):
        yield f"{form('prefetch', space, level)} [%d9];"
    yield "prefetchu.L1 [%d9];"
    yield "prefetch.const.tensormap [%d9];"
    yield "prefetch.param.tensormap [%d9];"
    yield "prefetch.tensormap [%d9];"
    yield "discard.global.L2 [%d9], 128;"
    yield "discard.L2 [%d9], 128;"
    yield "discard.global.L2 [%d9], 64;"
    yield "applypriority.global.L2::evict_normal [%d9], 128;"
    yield "applypriority.L2::evict_normal [%d9], 128;"
    for a, b in combine(["evict_last", "evict_normal", "evict_first", "evict_unchanged"],
                        ["", "evict_first", "evict_unchanged", "evict_last"]):
        yield f"{form('createpolicy.fractional', 'L2::' + a, b and 'L2::' + b, 'b64')} %d1, 0f3f000000;"
        yield f"{form('createpolicy.fractional', 'L2::' + a, b and 'L2::' + b, 'b64')} %d1;"
        for space in ("", "global", "shared"):
            yield f"{form('createpolicy.range', space, 'L2::' + a, b and 'L2::' + b, 'b64')} %d1, [%d2], %r1, 4096;"
    yield "createpolicy.cvt.L2.b64 %d1, %d2;"
    yield "createpolicy.cvt.L2.b64 %d1, 7;"
    for s, t in combine(["", "cta", "gpu"], ["shared::cluster", ""]):
        yield f"{form('mapa', t, 'u32')} %r1, %r2, 1;"
        yield f"{form('mapa', t, 'u64')} %d1, %d2, %r3;"
    for t, a in (("u32", "%r2"), ("u64", "%d2")):
        yield f"getctarank.{t} %r1, {a};"
        yield f"getctarank.shared::cluster.{t} %r1, {a};"


def atomics():
    operations = ["add", "sub", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"]
    types = ["b16", "b32", "b64", "u32", "s32", "u64", "s64", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2"]
    for op in ("atom", "red"):
        def statement(*parts, t, cas=False):
            value = f"{reg(t, 2)}, {reg(t, 3)}" if cas else reg(t, 2)
            return (f"{form('atom', *parts, t)} {reg(t, 1)}, [%d9], {value};" if op == "atom" else
                    f"{form('red', *parts, t)} [%d9], {value};")
        for space, o, f, t in combine(["", "global", "shared"], operations, ["", "noftz"], types):
            yield statement(space, o, f, t=t, cas=o == "cas")
        for order, scope, space in combine(["", "relaxed", "acquire", "release", "acq_rel"], [""] + SCOPES,
                                           ["", "global", "shared", "shared::cta", "shared::cluster", "local"]):
            yield statement(order, scope, space, "add", t="u32")
        for o, v, t in combine(["add", "min", "max"], ["v2", "v4", "v8"], ["f32", "f16", "bf16", "f16x2", "bf16x2"]):
            for f in ("", "noftz"):
                for space in ("global", "shared"):
                    n = int(v[1:])
                    data = vec(t, n, 10)
                    yield (f"{form('atom', space, o, f, v, t)} {vec(t, n, 20)}, [%d9], {data};" if op == "atom" else
                           f"{form('red', space, o, f, v, t)} [%d9], {data};").replace("%h1", "%h").replace("%h2", "%h")
        yield (f"{op}.global.add.L2::cache_hint.u32 " + ("%r1, " if op == "atom" else "") + "[%d9], %r2, %d8;")
    yield "red.async.relaxed.cluster.global.add.u32 [%d9], %r2;"
    tx = "mbarrier::complete_tx::bytes"
    wide = ".reg .b128 %q<4>; "
    for statement in ("ld.global.b128 %q1, [%d9];", "st.global.b128 [%d9], %q1;", "atom.global.exch.b128 %q1, [%d9], %q2;",
                      "atom.global.cas.b128 %q1, [%d9], %q2, %q3;", "mov.b128 %q1, {%d1, %d2};"):
        yield wide + statement
    yield f"st.async.shared.{tx}.b32 [%r8], %r2, [%r9];"
    yield f"red.async.relaxed.cluster.shared.{tx}.add.u32 [%r8], %r2, [%r9];"
    for space in ("", "shared::cluster"):
        a, b = ("%r8", "%r9") if space else ("%d8", "%d9")
        for done in (tx, ""):
            for w, v, t in combine(["", "weak"], ["", "v2", "v4"], ["b16", "b32", "u32", "s32", "f32", "b64", "u64", "s64",
                                                                   "f64", "f16x2"]):
                value = vec(t, int(v[1:])) if v else reg(t, 1)
                yield f"{form('st.async', w, space, done, v, t)} [{a}], {value}, [{b}];"
            for order, o, t in combine(["relaxed.cluster", "relaxed.gpu", ""], operations,
                                       ["b32", "u32", "s32", "b64", "u64", "s64", "f32"]):
                yield f"{form('red.async', order, space, done, o, t)} [{a}], {reg(t, 2)}, [{b}];"


def synchronisation():
    for a in ("", ".aligned"):
        yield f"barrier.sync{a} 1;"
        yield f"barrier.sync{a} 1, 64;"
        yield f"barrier.sync{a} %r1, %r2;"
        yield f"barrier.arrive{a} 1, 64;"
        yield f"barrier.cta.sync{a} 1;"
        yield f"barrier.cta.arrive{a} 1, 64;"
        for c in ("", ".cta"):
            yield f"barrier{c}.red.popc{a}.u32 %r1, 1, %p1;"
            yield f"barrier{c}.red.and{a}.pred %p2, 1, 64, %p1;"
            yield f"barrier{c}.red.or{a}.pred %p2, 1, !%p1;"
        for order in ("", ".release", ".relaxed", ".acquire"):
            yield f"barrier.cluster.arrive{order}{a};"
            yield f"barrier.cluster.wait{order}{a};"
    yield "bar.sync 0;"
    yield "bar.cta.sync 0;"
    yield "bar.sync 0, 64;"
    yield "bar.sync %r1;"
    yield "bar.arrive 0;"
    yield "bar.arrive 1, 64;"
    yield "bar.red.popc.u32 %r1, 0, %p1;"
    yield "bar.red.and.pred %p1, 0, %p2;"
    yield "bar.red.or.pred %p1, 0, 32, %p2;"
    yield "bar.warp.sync 0xffffffff;"
    yield "bar.warp.sync %r1;"
    for o in ("", "sc", "acq_rel", "acquire", "release", "weak"):
        for s in SCOPES + [""]:
            yield f"{form('fence', o, s)};"
    for s in ("cta", "gl", "sys", "gpu"):
        yield f"membar.{s};"
    for p in ("alias", "async", "async.global", "async.shared::cta", "async.shared::cluster", "generic"):
        yield f"fence.proxy.{p};"
        yield f"membar.proxy.{p};"
    for s in SCOPES:
        yield f"fence.proxy.tensormap::generic.release.{s};"
        yield f"fence.proxy.tensormap::generic.acquire.{s} [%d1], 128;"
    yield "fence.mbarrier_init.release.cluster;"
    yield "fence.mbarrier_init.release.gpu;"
    yield "fence.acquire.sync_restrict::shared::cluster.cluster;"
    yield "fence.release.sync_restrict::shared::cta.cluster;"
    yield "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;"
    yield "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"
    for m, s in combine(["up", "down", "bfly", "idx"], ["", "sync"]):
        mask = ", 0xffffffff" if s else ""
        yield f"{form('shfl', s, m, 'b32')} %r1, %r2, 1, 31{mask};"
        yield f"{form('shfl', s, m, 'b32')} %r1|%p1, %r2, %r3, %r4{mask};"
    for m, s in combine(["all", "any", "uni"], ["", "sync"]):
        mask = ", %r9" if s else ""
        yield f"{form('vote', s, m, 'pred')} %p1, !%p2{mask};"
    yield "vote.sync.ballot.b32 %r1, %p1, -1;"
    yield "vote.ballot.b32 %r1, %p1;"
    for t in BITS:
        yield f"match.any.sync.{t} %r1, {reg(t, 2)}, -1;"
        yield f"match.all.sync.{t} %r1|%p1, {reg(t, 2)}, -1;"
        yield f"match.all.sync.{t} %r1, {reg(t, 2)}, -1;"
    for o, t in combine(["add", "min", "max", "and", "or", "xor"], ["u32", "s32", "b32", "f32"]):
        yield f"redux.sync.{o}.{t} %r1, %r2, -1;"
    yield "activemask.b32 %r1;"
    yield "elect.sync %r1|%p1, -1;"
    yield "elect.sync _|%p1, %r2;"
    yield "nanosleep.u32 100;"
    yield "nanosleep.u32 %r1;"
    yield "griddepcontrol.wait;"
    yield "griddepcontrol.launch_dependents;"
    for d in ("inc", "dec"):
        yield f"setmaxnreg.{d}.sync.aligned.u32 40;"
        yield f"setmaxnreg.{d}.u32 40;"
    yield "trap;"
    yield "brkpt;"
    yield "pmevent 1;"
    yield "exit;"
    yield "ret;"
    yield "ret.uni;"
    yield "bra L%d;"
    yield "bra.uni L%d;"


def barriers():
    places = ["", "shared", "shared::cta", "shared::cluster"]
    for s in places:
        a = "[%r1]" if s else "[%d1]"
        yield f"{form('mbarrier.init', s, 'b64')} {a}, 1;"
        yield f"{form('mbarrier.inval', s, 'b64')} {a};"
        for scope in ("", "relaxed.cluster", "relaxed.cta"):
            yield f"{form('mbarrier.expect_tx', scope, s, 'b64')} {a}, 16;"
            yield f"{form('mbarrier.complete_tx', scope, s, 'b64')} {a}, 16;"
        for order in ("", "release", "relaxed", "acquire"):
            for scope in ("", "cta", "cluster", "gpu"):
                o = form(order, scope)
                for target in ("%d2", "_"):
                    yield f"{form('mbarrier.arrive', o, s, 'b64')} {target}, {a};"
                    yield f"{form('mbarrier.arrive', o, s, 'b64')} {target}, {a}, %r2;"
                    yield f"{form('mbarrier.arrive.expect_tx', o, s, 'b64')} {target}, {a}, 16;"
                    yield f"{form('mbarrier.arrive_drop', o, s, 'b64')} {target}, {a};"
                    yield f"{form('mbarrier.arrive_drop.expect_tx', o, s, 'b64')} {target}, {a}, 16;"
                for w in ("test_wait", "try_wait"):
                    yield f"{form('mbarrier', w, o, s, 'b64')} %p1, {a}, %d2;"
                    yield f"{form('mbarrier', w, 'parity', o, s, 'b64')} %p1, {a}, 0;"
                    yield f"{form('mbarrier', w, 'parity', o, s, 'b64')} %p1, {a}, %r2, 1000;"
        yield f"{form('mbarrier.arrive.noComplete', s, 'b64')} %d2, {a}, 1;"
        yield f"{form('mbarrier.arrive.noComplete', s, 'b64')} _, {a}, 1;"
        yield f"{form('mbarrier.arrive_drop.noComplete', s, 'b64')} %d2, {a}, 1;"
        for n in ("", "noinc"):
            yield f"{form('cp.async.mbarrier.arrive', n, s, 'b64')} {a};"
    yield "mbarrier.pending_count.b64 %r1, %d1;"


def copies():
    for c, h, p in combine(["ca", "cg", ""], ["", "L2::cache_hint"], ["", "L2::64B", "L2::128B", "L2::256B"]):
        for size in ("4", "8", "16", "32"):
            policy = ", %d8" if h else ""
            yield f"{form('cp.async', c, 'shared.global', h, p)} [%r1], [%d1], {size}{policy};"
            yield f"{form('cp.async', c, 'shared::cta.global', h, p)} [%r1], [%d1], {size}, %r2{policy};"
    yield "cp.async.ca.shared.global [%r1], [%d1], 4, %p1;"
    yield "cp.async.commit_group;"
    yield "cp.async.wait_group 1;"
    yield "cp.async.wait_all;"
    for h in ("", "L2::cache_hint"):
        policy = ", %d8" if h else ""
        for d, m in combine(["shared::cluster", "shared::cta"], ["", "multicast::cluster"]):
            mask = ", %h1" if m else ""
            yield (f"{form('cp.async.bulk', d, 'global.mbarrier::complete_tx::bytes', m, h)} "
                   f"[%r1], [%d1], 16, [%r2]{mask}{policy};")
        yield f"{form('cp.async.bulk.global.shared::cta.bulk_group', h)} [%d1], [%r1], 16{policy};"
        yield f"{form('cp.async.bulk.prefetch.L2.global', h)} [%d1], 16{policy};"
        for o, t in combine(["add", "min", "max", "inc", "dec", "and", "or", "xor"],
                            ["u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "b32", "b64"]):
            for f in ("", "noftz"):
                yield (f"{form('cp.reduce.async.bulk.global.shared::cta.bulk_group', h, o, f, t)} "
                       f"[%d1], [%r1], 16{policy};")
                if not h:
                    yield (f"{form('cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes', o, f, t)}"
                           f" [%r1], [%r2], 16, [%r3];")
        for n in range(1, 6):
            at = "{" + ",".join(["%r3"] * n) + "}"
            for d, m in combine(["shared::cluster", "shared::cta"], ["", "multicast::cluster"]):
                for mode in ("", "tile"):
                    mask = ", %h1" if m else ""
                    yield (f"{form('cp.async.bulk.tensor', f'{n}d', d, 'global', mode, 'mbarrier::complete_tx::bytes', m, h)} "
                           f"[%r1], [%d1, {at}], [%r2]{mask}{policy};")
            for mode in ("", "tile"):
                yield (f"{form('cp.async.bulk.tensor', f'{n}d', 'global.shared::cta', mode, 'bulk_group', h)} "
                       f"[%d1, {at}], [%r1]{policy};")
                yield f"{form('cp.async.bulk.prefetch.tensor', f'{n}d', 'L2.global', mode, h)} [%d1, {at}]{policy};"
                for o in ("add", "min", "max", "inc", "dec", "and", "or", "xor", "sub"):
                    yield (f"{form('cp.reduce.async.bulk.tensor', f'{n}d', 'global.shared::cta', o, mode, 'bulk_group', h)} "
                           f"[%d1, {at}], [%r1]{policy};")
    tx = "mbarrier::complete_tx::bytes"
    yield f"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.{tx} [%r1], [%d1, {{%r3,%r3,%r3}}], [%r2], {{%h1}};"
    yield "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%d1, {%r3,%r3,%r3}], [%r1];"
    yield "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col_no_offs.bulk_group [%d1, {%r3,%r3,%r3}], [%r1];"
    yield "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%d1, {%r3,%r3,%r3}], {%h1};"
    yield ("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r3];")
    yield "cp.async.bulk.commit_group;"
    yield "cp.async.bulk.wait_group 1;"
    yield "cp.async.bulk.wait_group.read 0;"
    for s in ("global", "shared::cta", ""):
        a = "%r1" if s.startswith("shared") else "%d1"
        for f, t, v in (("global_address", "b64", "%d2"), ("rank", "b32", "2"), ("elemtype", "b32", "2"),
                        ("interleave_layout", "b32", "0"), ("swizzle_mode", "b32", "1"), ("fill_mode", "b32", "0"),
                        ("rank", "b64", "%d2"), ("swizzle_mode", "b32", "%r2")):
            yield f"{form('tensormap.replace.tile', f, s, 'b1024', t)} [{a}], {v};"
        for f, t, v in (("box_dim", "b32", "%r2"), ("global_dim", "b32", "%r2"), ("global_stride", "b64", "%d2"),
                        ("element_stride", "b32", "1"), ("global_stride", "b32", "%r2"), ("global_dim", "b64", "%d2")):
            yield f"{form('tensormap.replace.tile', f, s, 'b1024', t)} [{a}], 1, {v};"
    for s in SCOPES:
        yield (f"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{s}.sync.aligned "
               "[%d1], [%r1], 128;")


def matrices():
    for n, t in combine(["x1", "x2", "x4", ""], ["", "trans"]):
        for s in ("shared", "shared::cta", "", "global"):
            count = int(n[1:]) if n else 1
            a = "%r9" if s.startswith("shared") else "%d9"
            for op in ("ldmatrix", "stmatrix"):
                both = f"{vec('b32', count)}, [{a}]" if op == "ldmatrix" else f"[{a}], {vec('b32', count)}"
                yield f"{form(op, 'sync.aligned.m8n8', n, t, s, 'b16')} {both};"
                yield f"{form(op, 'sync.aligned', n, 'm8n8', t, s, 'b16')} {both};"
    yield "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;"
    yield "movmatrix.sync.aligned.m8n8.b16 %r1, %r2;"
    elements = {"f16": 2, "bf16": 2, "tf32": 1, "e4m3": 4, "e5m2": 4, "s8": 4, "u8": 4}
    for a, b, k, d, c in combine(elements, elements, [4, 8, 16, 32], ["f16", "f32", "s32"], ["f16", "f32", "s32"]):
        e = elements[a]
        if k < 4 * e:
            continue
        nb = k // (4 * e)
        count = {"f16": 2}
        for s in ("", "satfinite"):
            yield (f"{form('mma.sync.aligned', f'm16n8k{k}', 'row.col', s, d, a, b, c)} {vec('b32', count.get(d, 4), 1)}, "
                   f"{vec('b32', 2 * nb, 10)}, {vec('b32', nb, 20)}, {vec('b32', count.get(c, 4), 30)};")
    for la, lb in combine(["row", "col"], ["row", "col"]):
        yield (f"mma.sync.aligned.m16n8k16.{la}.{lb}.f32.bf16.bf16.f32 {vec('b32', 4, 1)}, {vec('b32', 4, 10)}, "
               f"{vec('b32', 2, 20)}, {vec('b32', 4, 30)};")
        for d, c in combine(["f16", "f32"], ["f16", "f32"]):
            yield (f"mma.sync.aligned.m8n8k4.{la}.{lb}.{d}.f16.f16.{c} {vec('b32', 4 if d == 'f16' else 8, 1)}, "
                   f"{vec('b32', 2, 10)}, {vec('b32', 2, 20)}, {vec('b32', 4 if c == 'f16' else 8, 30)};")
        for (m, k), r in combine([(8, 4), (16, 4), (16, 8), (16, 16)], ROUND):
            yield (f"{form(f'mma.sync.aligned.m{m}n8k{k}.{la}.{lb}', r, 'f64.f64.f64.f64')} {vec('b64', m // 4, 1)}, "
                   f"{vec('b64', m * k // 32, 2)}, {vec('b64', k // 4, 3)}, {vec('b64', m // 4, 4)};")
    for (m, k, t), u, s in combine([(m, k, t) for m in (8, 16) for k, t in [(16, "s8"), (16, "u8"), (32, "s8"), (32, "s4"),
                                                                          (32, "u4"), (64, "s4"), (64, "s8"), (128, "b1"),
                                                                          (256, "b1"), (128, "s4")]],
                                   ["s8", "u8", "s4", "u4", "b1"], ["", "satfinite"]):
        nb = max(1, k * int(t[1]) // 128)
        if (m, t[1]) == (16, "8"):
            continue  # above
        for op in ("", "xor.popc", "and.popc", "or.popc") if t == "b1" else ("",):
            yield (f"{form(f'mma.sync.aligned.m{m}n8k{k}.row.col', s, 's32', t, u, 's32', op)} {vec('s32', m // 4, 1)}, "
                   f"{vec('b32', nb * m // 8, 10)}, {vec('b32', nb, 20)}, {vec('s32', m // 4, 30)};")
    for meta in ("sp", "sp::ordered_metadata"):
        yield (f"mma.{meta}.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {vec('b32', 4, 1)}, {vec('b32', 4, 10)}, "
               f"{vec('b32', 4, 20)}, {vec('b32', 4, 30)}, %r40, 0;")
    yield (f"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {vec('b32', 4, 20)}, %d1, %d2, %r40, 0, %p1, 1, 1, 0, 0;")
    wgmma = {"f16": (16, "f32 f16", "f16"), "bf16": (16, "f32 f16", "bf16"), "tf32": (8, "f32", "tf32"),
             "e4m3": (32, "f32 f16", "e4m3 e5m2"), "e5m2": (32, "f32 f16", "e4m3 e5m2"), "s8": (32, "s32", "s8 u8"),
             "u8": (32, "s32", "s8 u8")}
    for a, (k, ds, bs) in wgmma.items():
        for d, b, n in combine(ds.split() + ["s32"], bs.split(), [8, 16, 24, 40, 48, 64, 96, 128, 192, 200, 248, 256]):
            count = n // 4 if d == "f16" else n // 2
            out = vec("b32", count, 20)
            for s in ("", "satfinite"):
                scales = "" if d == "s32" else ", 1, 1"
                both = ", 0, 0" if k == 16 else ""
                one = ", 0" if k == 16 else ""
                name = form("wgmma.mma_async.sync.aligned", f"m64n{n}k{k}", d, a, b) if not s else form(
                    "wgmma.mma_async.sync.aligned", f"m64n{n}k{k}", d, a, b, s) if d != "s32" else form(
                    "wgmma.mma_async.sync.aligned", f"m64n{n}k{k}", "satfinite", d, a, b)
                yield f"{name} {out}, %d1, %d2, %p1{scales}{both};"
                if n in (8, 64):
                    yield f"{name} {out}, {vec('b32', 4, 1)}, %d2, %p1{scales}{one};"
    yield "wgmma.fence.sync.aligned;"
    yield "wgmma.commit_group.sync.aligned;"
    yield "wgmma.wait_group.sync.aligned 0;"
    shapes = ["m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4"]
    for shape, layout, s in combine(shapes, ["row", "col"], ["", "global", "shared", "shared::cta"]):
        m, n, k = map(int, re.findall(r"\d+", shape))
        a = "%r9" if s.startswith("shared") else "%d9"
        for which, types in (("a", ["f16", "bf16", "tf32", "s8", "u8", "f64", "f32"]),
                             ("b", ["f16", "bf16", "tf32", "s8", "u8", "f64"]), ("c", ["f16", "f32", "s32", "f64"])):
            for t in types:
                size = {"f64": 8, "f32": 4, "tf32": 4, "s32": 4, "f16": 2, "bf16": 2}.get(t, 1)
                elements_ = m * k if which == "a" else k * n if which == "b" else m * n
                count = max(1, elements_ * size // (32 * (8 if t == "f64" else 4)))
                if t == "f16" and which != "c":
                    count = 8
                r = vec({"f64": "f64", "f32": "float"}.get(t, "b32"), count)
                yield f"{form('wmma.load', which, 'sync.aligned', layout, shape, s, t)} {r}, [{a}], 32;"
                yield f"{form('wmma.load', which, 'sync.aligned', layout, shape, s, t)} {r}, [{a}];"
                if which == "c":
                    yield f"{form('wmma.store.d.sync.aligned', layout, shape, s, t)} [{a}], {r}, %r10;"
    for (k, types), layout, s in combine([(32, ["s4", "u4"]), (128, ["b1"])], ["row", "col"], ["", "shared", "global"]):
        a = "%r9" if s == "shared" else "%d9"
        for which, t in combine("ab", types):
            yield f"{form('wmma.load', which, 'sync.aligned', layout, f'm8n8k{k}', s, t)} {{%r1}}, [{a}], {k};"
            yield f"{form('wmma.load', which, 'sync.aligned', layout, f'm8n8k{k}', s, t)} {{%r1}}, [{a}];"
        yield f"{form('wmma.load.c.sync.aligned', layout, f'm8n8k{k}', s, 's32')} {{%r1,%r2}}, [{a}], 8;"
        yield f"{form('wmma.store.d.sync.aligned', layout, f'm8n8k{k}', s, 's32')} [{a}], {{%r1,%r2}}, %r10;"
    for la, lb, a, b, s in combine(["row", "col"], ["row", "col"], ["s4", "u4", "b1"], ["s4", "u4", "b1"], ["", "satfinite"]):
        for k, op in combine([32, 128], ["", "xor.popc", "and.popc", "or.popc"]):
            yield (f"{form('wmma.mma', op, 'sync.aligned', la, lb, f'm8n8k{k}.s32', a, b, 's32', s)} {{%r1,%r2}}, {{%r3}}, "
                   "{%r4}, {%r5,%r6};")
    for la, lb, r in combine(["row", "col"], ["row", "col"], ["rm", "rp"]):
        yield f"wmma.mma.sync.aligned.{la}.{lb}.m8n8k4.{r}.f64.f64.f64.f64 {{%d1,%d2}}, {{%d3}}, {{%d4}}, {{%d5,%d6}};"
    for shape, la, lb, s in combine(shapes, ["row", "col"], ["row", "col"], ["", "satfinite", "rn", "rz"]):
        m, n, k = map(int, re.findall(r"\d+", shape))
        for ab, d, c in combine(["f16", "bf16", "tf32", "s8", "u8", "f64"], ["f16", "f32", "s32", "f64"],
                                ["f16", "f32", "s32", "f64"]):
            size = {"f64": 8, "tf32": 4, "f16": 2, "bf16": 2}.get(ab, 1)
            w = 8 if ab == "f64" else 4

            def number(count, size):
                return max(1, count * size // (32 * w))
            na, nb = (8, 8) if ab == "f16" else (number(m * k, size), number(k * n, size))
            t = "f64" if ab == "f64" else "b32"

            def accumulator(x, first):
                return vec({"f64": "f64", "f32": "float"}.get(x, "b32"), max(1, m * n * {"f16": 2, "f64": 8}.get(x, 4) //
                                                              (32 * (8 if x == "f64" else 4))), first)
            first = 3 if ab == "f64" else 30
            types = [d, c] if ab == "f16" else [d, ab, ab, c]
            name = form("wmma.mma.sync.aligned", la, lb, shape, *types, s)
            if s in ("rn", "rz"):
                name = form("wmma.mma.sync.aligned", la, lb, shape, s, *types)
                if ab != "f64":
                    continue
            yield (f"{name} {accumulator(d, 1)}, {vec(t, na, first + 20 if ab != 'f64' else 5)}, "
                   f"{vec(t, nb, first + 40 if ab != 'f64' else 6)}, {accumulator(c, first + 60 if ab != 'f64' else 7)};")


GROUPS = {
    "Integers": integers, "Logic and moves": logic, "Floats": floats, "Comparisons": compares,
    "Memory": memory, "Atomics": atomics, "Synchronisation": synchronisation, "mbarrier": barriers,
    "Asynchronous copies and tensor maps": copies, "Matrices": matrices,
}

# Accepted by ptxas for sm_90a and outside of what the simulator has: by the start of the statement.
OUTSIDE = [
    (r"(addc|subc)\.[us]16 ", "not in the ISA's text: no carries of 16 bits"),
    (r"madc\.(lo|hi)\.[us]16 ", "not in the ISA's text: no carries of 16 bits"),
    (r"fma\.r[zmp]\.bf16", "not in the ISA's text: .rn alone"),
    (r"rcp\.r[nzmp]\.ftz\.f64", "not in the ISA's text: no .ftz of f64"),
    (r"st\.async\.(weak\.)?shared\.", "not in the ISA's text: .shared::cluster alone"),
    (r"mma\.sp|wgmma\.mma_async\.sp", "sparse matrices: no compiler of the corpora emits them"),
    (r"cp\.\S+\.im2col", "tensor maps of im2col: outside of what the simulator is for"),
    (r"\.reg \.b128", "registers of 128 bits: no compiler of the corpora emits them"),
    (r"wmma\.mma\.\S+\.(m16n16k16|m16n16k8)(\.r[nz])?\.f64", "not in the ISA's text: .m8n8k4 alone"),
]


def generate():
    seen = set()
    for group in GROUPS.values():
        for statement in group():
            if statement not in seen:
                seen.add(statement)
                yield statement


def in_scope(text, number):
    """A statement in a block of its own, on one line."""
    label = f" L{number}: " if "L%d" in text else ""
    return "{ " + label + text.replace("L%d", f"L{number}") + " }"


def refused_by_ptxas(ptxas, statements):
    """The numbers of those that ptxas refuses. A file has many; lines tell which."""
    refused = set()

    def ask(numbers):
        lines, where = HEADER.splitlines(), {}
        for start in range(0, len(numbers), 50):
            lines += (ENTRY % start).splitlines()
            for i in numbers[start:start + 50]:
                lines.append(in_scope(statements[i], i))
                where[len(lines)] = i
            lines += ["ret;", "}"]
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
            f.write("\n".join(lines) + "\n")
            f.flush()
            result = subprocess.run([ptxas, "-arch=sm_90a", "-O0", f.name, "-o", os.devnull], capture_output=True,
                                    text=True)
        if not result.returncode:
            return
        found = {where[int(n)] for n in re.findall(re.escape(f.name) + r", line (\d+); (?:error|fatal)",
                                                  result.stderr + result.stdout) if int(n) in where}
        refused.update(found)
        rest = [i for i in numbers if i not in found]
        if found:
            return ask(rest)
        if len(numbers) == 1:
            refused.update(numbers)
            return
        half = len(numbers) // 2
        ask(numbers[:half])
        ask(numbers[half:])

    for start in range(0, len(statements), 500):
        ask(list(range(start, min(start + 500, len(statements)))))
    return refused


def read():
    return [(line[0], line[2:]) for line in FORMS.read_text().splitlines() if line and line[0] in "+-~"]


def outside(statement):
    return any(re.match(pattern, statement) for pattern, _ in OUTSIDE)


def ask_all(ptxas):
    statements = list(generate())
    refused = refused_by_ptxas(ptxas, statements)
    return [("-" if i in refused else "~" if outside(s) else "+", s) for i, s in enumerate(statements)]


def text_of(entries):
    return ("# What ptxas 13.0 says of these statements for sm_90a: + accepts, - refuses, ~ accepts what the simulator has "
            "not.\n# Written by scripts/ptx_forms.py.\n" + "".join(f"{v} {s}\n" for v, s in entries))


def page():
    entries = read()
    verdict = {s: v for v, s in entries}
    out = ["# PTX that the simulator executes", "",
           "Written by `scripts/ptx_forms.py --page` from `test/Unit/ptxsim/Inputs/ptxas_forms.txt` (forms below, each of "
           "which the unit test `Forms.AgreeWithPtxas` loads; ptxas was asked about every one, refused ones included) and "
           "from `runtime/ptxsim/Opcodes.def`; every form has a test of its value in `test/Unit/ptxsim_forms`. `cvt` has a list of its own, "
           "`test/Unit/ptxsim_tensor/Inputs/cvt_forms.txt`. The spelling is that of the list; modifiers may also stand in "
           "other orders. Calls (`call`, `ret` in functions, `.callprototype`, `.calltargets`) and `brx.idx` are tested in "
           "`test/Unit/ptxsim`.", ""]
    known = re.findall(r'PTXSIM_OPCODE\("(\w+)", (\w+)\)', (ROOT / "runtime/ptxsim/Opcodes.def").read_text())
    files = {}
    for path in sorted((ROOT / "runtime/ptxsim/insn").glob("*.cpp")):
        for name in re.findall(r"bool ptxsim::(decode\w+)\(", path.read_text()):
            files[name] = path.name
    opcodes = {}
    for opcode, decode in known:
        opcodes.setdefault(opcode, [])
        if files[decode] not in opcodes[opcode]:
            opcodes[opcode].append(files[decode])
    forms = {}
    for statement, v in verdict.items():
        if v == "+":
            name = statement.split()[0].rstrip(";")
            forms.setdefault(name.split(".")[0], []).append(name)
    forms["cvt"] = ["cvt" + f.strip()[3:] for f in
                    (ROOT / "test/Unit/ptxsim_tensor/Inputs/cvt_forms.txt").read_text().splitlines() if f.strip()]
    out += ["| opcode | in `insn/` | forms |", "|---|---|---:|"]
    forms["call"] = ["call", "call.uni"]
    forms["brx"] = ["brx.idx", "brx.idx.uni"]
    opcodes["call"] = ["Call.cpp"]
    texts = [f.read_text() for f in (ROOT / "test/Unit").glob("ptxsim*/*Test.cpp") if f.name != "FormsTest.cpp"]
    for opcode in sorted(opcodes):
        used = re.compile(rf'(?<![\w.]){opcode}[.][a-zA-Z]|"{opcode}[ ;"]|[ ;]{opcode};')
        if not any(used.search(t) for t in texts):
            sys.exit(f"ptx_forms.py: error: {opcode}: expected a unit test that executes it")
        if not forms.get(opcode):
            sys.exit(f"ptx_forms.py: error: {opcode}: expected forms in {FORMS.relative_to(ROOT)}")
        out.append(f"| [`{opcode}`](#{opcode}) | {', '.join(opcodes[opcode])} | {len(dict.fromkeys(forms[opcode]))} |")
    out.append("")
    for opcode in sorted(opcodes):
        names = list(dict.fromkeys(forms.get(opcode, [])))
        out += [f"## {opcode}", ""]
        out += ["```"]
        line = ""
        for name in (n[len(opcode):] or "(none)" for n in names):
            if len(line) + len(name) > 116:
                out.append(line.rstrip())
                line = ""
            line += name + " "
        out += [line.rstrip(), "```", ""]
    out += ["## Accepted by ptxas for sm_90a and refused here", "", "| statements like | why |", "|---|---|"]
    for pattern, why in OUTSIDE:
        example = next((s for v, s in entries if v == "~" and re.match(pattern, s)), None)
        if example:
            out.append(f"| `{example.replace('|', chr(92) + '|')}` | {why} |")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("write", "check", "page", "check-page"):
        parser.add_argument("--" + name, action="store_true")
    args = parser.parse_args()
    if args.write or args.check:
        ptxas = shutil.which(os.environ.get("K2C_PTXAS") or "ptxas") or shutil.which("/usr/local/cuda/bin/ptxas") or (
            shutil.which(os.path.join(os.environ.get("CUDA_HOME", ""), "bin", "ptxas")))
        if not ptxas:
            print("skipped: there is no ptxas")
            return
        version = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
        if "release 13.0" not in version and not args.write:
            print("skipped: the file is of ptxas 13.0")
            return
        text = text_of(ask_all(ptxas))
        if args.write:
            FORMS.write_text(text)
        elif text != FORMS.read_text():
            old, new = set(FORMS.read_text().splitlines()), set(text.splitlines())
            print("\n".join(sorted(old ^ new)[:40]))
            sys.exit("ptx_forms.py: error: expected ptxas to say what the file says")
    if args.page:
        PAGE.write_text(page())
    if args.check_page and page() != PAGE.read_text():
        sys.exit("ptx_forms.py: error: expected docs/ptx.md to be up to date: run scripts/ptx_forms.py --page")


if __name__ == "__main__":
    main()
