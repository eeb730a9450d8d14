"""Random C programs, compiled by clang for the host and for NVPTX: ptxsim must give what the host gives.

usage: random_programs.py CLANG FIRST LAST FOLDER

Every lane runs the program on inputs of its own, so that branches, loops and switches diverge. The programs have no undefined behaviour:
shift amounts are masked, divisions guarded, conversions from floating point clamped; they avoid what C leaves open (NaN bits, min and max of zeros).
"""
import ctypes
import os
import random
import subprocess
import sys

LANES = 32
INTEGERS = ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"]
FLOATS = ["float", "double"]
C_TYPES = dict(zip(INTEGERS, ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long long", "unsigned long long"]))


def width(t):
    return int("".join(c for c in t if c.isdigit()))


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.vars = [("a", "uint64_t"), ("b", "uint64_t"), ("c", "int32_t"), ("x", "float"), ("y", "double")]
        self.lines = []
        self.count = 0
        self.statements(self.r.randint(8, 20), "  ", 0)

    # --- expressions ---

    def literal(self, t):
        if t in FLOATS:
            return self.r.choice(["0.5", "1.25", "(-3.0)", "1e10", "0.1", "7.0"])
        return "(%s)%s" % (t, self.r.choice(["0", "1", "-1", "3", "7", "31", "0x55", "0x1234", "0x7fffffff", "-100", "0x123456789abcdef"]))

    def leaf(self, t):
        same = [v for v in self.vars if v[1] == t]
        if same and self.r.random() < 0.7:
            return self.r.choice(same)[0]
        if self.r.random() < 0.5:
            name, of = self.r.choice(self.vars)
            if of in FLOATS and t not in FLOATS:
                return "((%s)(int64_t)clamp_double(%s))" % (t, name)
            return "((%s)%s)" % (t, name)
        return "((%s)%s)" % (t, self.literal(t))

    def expr(self, t, depth):
        if depth <= 0 or self.r.random() < 0.15:
            return self.leaf(t)
        return self.float_expr(t, depth - 1) if t in FLOATS else self.int_expr(t, depth - 1)

    def float_expr(self, t, d):
        e = lambda: self.expr(t, d)
        f = "f" if t == "float" else ""
        op = self.r.choice(["+", "-", "*", "/", "sqrt", "fma", "neg", "abs", "sign", "select", "order"])
        if op in "+-*/":
            return "(%s %s %s)" % (e(), op, e())
        if op == "sqrt":
            return "sqrt_%s(%s)" % (t, e())
        if op == "fma":
            return "__builtin_fma%s(%s, %s, %s)" % (f, e(), e(), e())
        if op == "neg":
            return "(- %s)" % e()
        if op == "abs":
            return "__builtin_fabs%s(%s)" % (f, e())
        if op == "sign":
            return "__builtin_copysign%s(%s, number_%s(%s))" % (f, e(), t, e())
        if op == "order":
            p, q = e(), e()
            return "(%s %s %s ? %s : %s)" % (p, self.r.choice("<>"), q, p, q)
        return "(%s ? %s : %s)" % (self.condition(d), e(), e())

    def int_expr(self, t, d):
        e = lambda: self.expr(t, d)
        u32 = lambda: self.expr("uint32_t", d)
        op = self.r.choice(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "select", "not", "convert", "order", "rotate", "popcount", "clz", "swap"])
        if op in ("+", "-", "*"):
            u = "uint64_t" if width(t) == 64 else "uint32_t"
            return "((%s)((%s)%s %s (%s)%s))" % (t, u, e(), op, u, e())
        if op in ("&", "|", "^"):
            return "((%s)(%s %s %s))" % (t, e(), op, e())
        if op == "<<":
            return "((%s)((uint64_t)%s << (%s & %d)))" % (t, e(), u32(), width(t) - 1)
        if op == ">>":
            return "((%s)(%s >> (%s & %d)))" % (t, e(), u32(), width(t) - 1)
        if op in ("/", "%"):
            return "%s_%s(%s, %s)" % ("quotient" if op == "/" else "remainder", t, e(), e())
        if op == "select":
            return "(%s ? %s : %s)" % (self.condition(d), e(), e())
        if op == "not":
            return "((%s)~%s)" % (t, e())
        if op == "convert":
            return "((%s)%s)" % (t, self.expr(self.r.choice(INTEGERS), d))
        if op == "order":
            p, q = e(), e()
            return "(%s %s %s ? %s : %s)" % (p, self.r.choice("<>"), q, p, q)
        if op == "rotate":
            return "((%s)__builtin_rotateleft32(%s, %s))" % (t, u32(), u32())
        if op == "popcount":
            return "((%s)__builtin_popcountll(%s))" % (t, self.expr("uint64_t", d))
        if op == "clz":
            return "((%s)__builtin_clz(%s | 1))" % (t, u32())
        return "((%s)__builtin_bswap32(%s))" % (t, u32())

    def condition(self, d):
        t = self.r.choice(INTEGERS + FLOATS)
        return "(%s %s %s)" % (self.expr(t, d), self.r.choice(["<", "<=", ">", ">=", "==", "!="]), self.expr(t, d))

    # --- statements ---

    def line(self, indent, text):
        self.lines.append(indent + text)

    def statements(self, n, indent, depth):
        for _ in range(n):
            self.statement(indent, depth)

    def statement(self, indent, depth):
        r, inner = self.r, indent + "  "
        kind = r.random()
        if kind < 0.45:
            if depth == 0:
                t, name = r.choice(INTEGERS + FLOATS), "v%d" % self.count
                self.count += 1
                self.line(indent, "%s %s = %s;" % (t, name, self.expr(t, r.randint(1, 3))))
                self.vars.append((name, t))
            else:
                name, t = r.choice(self.vars)
                self.line(indent, "%s = %s;" % (name, self.expr(t, 3)))
        elif kind < 0.55:
            self.line(indent, "array[%s & 15] ^= %s;" % (self.expr("uint32_t", 2), self.expr("uint64_t", 2)))
        elif kind < 0.6:
            name, t = r.choice([v for v in self.vars if v[1] not in FLOATS])
            self.line(indent, "%s = (%s)array[%s & 15];" % (name, t, self.expr("uint32_t", 2)))
        elif kind < 0.78 and depth < 3:
            self.line(indent, "if %s {" % self.condition(2))
            self.statements(r.randint(1, 3), inner, depth + 1)
            if r.random() < 0.5:
                self.line(indent, "} else {")
                self.statements(r.randint(1, 2), inner, depth + 1)
            self.line(indent, "}")
        elif kind < 0.9 and depth < 3:
            i = "i%d" % self.count
            self.count += 1
            self.line(indent, "for (int %s = 0; %s < (int)(%s & 7); ++%s) {" % (i, i, self.expr("uint32_t", 1), i))
            self.statements(r.randint(1, 3), inner, depth + 1)
            if r.random() < 0.4:
                self.line(inner, "if %s break;" % self.condition(1))
            if r.random() < 0.3:
                self.line(inner, "if %s continue;" % self.condition(1))
                self.statements(1, inner, depth + 1)
            self.line(indent, "}")
        elif depth < 2:
            self.line(indent, "switch (%s & 7) {" % self.expr("uint32_t", 2))
            for case in range(r.randint(4, 7)):
                self.line(indent, "case %d:" % case)
                self.statements(r.randint(1, 2), inner, depth + 1)
                if r.random() < 0.7:
                    self.line(inner, "break;")
            self.line(indent, "}")

    # --- the whole text ---

    def text(self):
        inline = "static inline __attribute__((always_inline)) "
        out = ["typedef %s %s;" % (C_TYPES[t], t) for t in INTEGERS]
        out.append(inline + "double clamp_double(double v) { return v != v ? 0 : v < -100 ? -100 : v > 100 ? 100 : v; }")
        for t in FLOATS:
            # The sign of a NaN is the processor's.
            out.append(inline + "%s number_%s(%s v) { return v != v ? 0 : v; }" % (t, t, t))
            out.append(inline + "%s sqrt_%s(%s v) { return __builtin_elementwise_sqrt(__builtin_elementwise_abs(v)); }" % (t, t, t))
        for t in INTEGERS:
            minus = "(%s)-1 < 0 && b == (%s)-1" % (t, t)
            out.append(inline + "%s quotient_%s(%s a, %s b) { return b == 0 ? 7 : %s ? (%s)(0 - (uint64_t)a) : (%s)(a / b); }" % (t, t, t, t, minus, t, t))
            out.append(inline + "%s remainder_%s(%s a, %s b) { return b == 0 ? 5 : %s ? 0 : (%s)(a %% b); }" % (t, t, t, t, minus, t))
        out.append(inline + "void body(const uint64_t *in, uint64_t *result, int lane) {")
        out.append("  uint64_t a = in[lane * 4], b = in[lane * 4 + 1]; int32_t c = (int32_t)in[lane * 4 + 2];")
        out.append("  float x = (float)(int32_t)in[lane * 4 + 3] * 0.37f; double y = (double)(int64_t)in[lane * 4 + 1] * 0.001;")
        out.append("  uint64_t array[16]; for (int i = 0; i < 16; ++i) array[i] = a * (uint64_t)(i + 1) + b;")
        out += self.lines
        out.append("  uint64_t hash = 0;")
        for name, t in self.vars:
            if t in FLOATS:
                u = "uint32_t" if t == "float" else "uint64_t"
                out.append("  { %s q = %s; %s u = 1; if (q == q) __builtin_memcpy(&u, &q, sizeof(q)); hash = hash * 1099511628211ull + u; }" % (t, name, u))
            else:
                out.append("  hash = hash * 1099511628211ull + (uint64_t)%s;" % name)
        out.append("  for (int i = 0; i < 16; ++i) hash = hash * 1099511628211ull + array[i];")
        out.append("  result[lane] = hash;\n}\n#ifdef __NVPTX__")
        out.append("__attribute__((device_kernel)) void kernel(const uint64_t *in, uint64_t *result) { body(in, result, __nvvm_read_ptx_sreg_tid_x()); }")
        out.append("#else\nvoid host(const uint64_t *in, uint64_t *result, int lanes) { for (int l = 0; l < lanes; ++l) body(in, result, l); }\n#endif")
        return "\n".join(out) + "\n"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s" % (" ".join(command)[:200], done.stderr[:2000]))
    return done.stdout


def check(clang, seed, folder):
    source, library, ptx = (os.path.join(folder, "p%d%s" % (seed, ending)) for ending in (".c", ".so", ".ptx"))
    with open(source, "w") as f:
        f.write(Program(seed).text())
    flags = ["-w", "-ffp-contract=off", source, "-o"]
    run([clang, "-O1", "-shared", "-fPIC"] + flags + [library])
    r = random.Random(seed)
    data = [r.choice([r.getrandbits(64), r.getrandbits(8), r.getrandbits(32), 0, 2**64 - 1]) for _ in range(4 * LANES)]
    expected = (ctypes.c_uint64 * LANES)()
    ctypes.CDLL(os.path.abspath(library)).host((ctypes.c_uint64 * len(data))(*data), expected, LANES)
    for level in ("-O0", "-O1", "-O3"):
        run([clang, level, "--target=nvptx64-nvidia-cuda", "-march=sm_90a", "-Xclang", "-target-feature", "-Xclang", "+ptx84", "-S"] + flags + [ptx])
        out = run(["ptxsim", ptx, "--entry=kernel", "--block=%d" % LANES, "--arg=u64[]=%s" % ",".join(map(str, data)), "--arg=u64[%d]=zero" % LANES, "--print=all"])
        got = [int(v) for v in out.splitlines()[1].split("[")[1].rstrip("]").split(",")]
        wrong = [l for l in range(LANES) if got[l] != expected[l]]
        if wrong:
            sys.exit("seed %d %s: lanes %s differ" % (seed, level, wrong))


def main():
    clang, first, last, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    os.makedirs(folder, exist_ok=True)
    for seed in range(first, last):
        check(clang, seed, folder)
    print("%d programs agree" % (last - first))


main()
