"""Mutants of gemm_nt (nvcc's, test/Unit/ptxsim_tensor/Inputs/gemm.ptx): each has one synchronisation dropped or moved, or one constant changed, and counts
as killed if the simulator reports it or the result is wrong, eagerly, lazily or with the warps in reverse. mutants.py PTXSIM GEMM.PTX NUMBER [SEED]"""
import random
import re
import subprocess
import sys

tool, path, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
M, N, K = 128, 128, 160


def bf16(count):
    # Small integers: every order of summation gives the same sum.
    return "u16[]=" + ",".join(str({-1: 0xBF80, 0: 0, 1: 0x3F80, 2: 0x4000}[rng.choice([-1, 0, 1, 2])]) for _ in range(count))


args = [bf16(M * K), bf16(N * K), f"u32[{M * N}]=zero", f"i32={M}", f"i32={N}", f"i32={K}"]
modes = [[], ["--async=lazy"], ["--async=lazy", "--schedule=reverse"]]


def run(text, mode):
    with open("mutant.ptx", "w") as f:
        f.write(text)
    command = [tool, "mutant.ptx", "--entry=gemm_nt", "--grid=2,2", "--block=128", "--threads=1", "--print=all", *mode]
    try:
        r = subprocess.run(command + [f"--arg={a}" for a in args], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "hang", ""
    return ("" if r.returncode == 0 else r.stderr.strip() or "failed"), r.stdout


lines = open(path).read().split("\n")
begin = next(i for i, l in enumerate(lines) if ".entry gemm_nt(" in l)
end = next(i for i in range(begin, len(lines)) if lines[i].startswith("}"))


def build(change):
    out = list(lines)
    change(out)
    return "\n".join(out)


expected = [run("\n".join(lines), mode) for mode in modes]
assert all(e == "" for e, _ in expected) and len({o for _, o in expected}) == 1, [e for e, _ in expected]
answer = expected[0][1]

candidates = []
for i in range(begin, end):
    text = lines[i].strip()
    if re.match(r"(@\S+ )?(bar\.|barrier|cp\.async\.(wait|commit)|fence|membar)", text):
        kind = text.split()[0].rstrip(";")
        candidates.append((f"drop {kind}", i, lambda out, i=i: out.__setitem__(i, "")))
        for to in (i - 20, i + 20, i + 60):
            # Only inside its block: a label or a branch ends the move.
            between = lines[min(i, to):max(i, to) + 1]
            if begin < to < end and not any(re.match(r"\s*(\$|@|bra|ret|\{|\}|\))", l) for l in between):
                candidates.append((f"move {kind} to line {to + 1}", i,
                                   lambda out, i=i, to=to: out.insert(to, out.pop(i))))
        if "wait_group" in text:
            candidates.append((f"weaken {kind}", i,
                               lambda out, i=i: out.__setitem__(i, re.sub(r"(\d+);", lambda m: f"{int(m[1]) + 1};", out[i]))))
    m = re.match(r"(add|xor|and|or|shl|shr|mad|sub)\S*\s.*?[ ,](-?\d+);$", text)
    if m and "%" in text and ".b32" in text + ".b32":
        for delta in (1, 16):
            candidates.append((f"{m[1]} constant {m[2]} ^ {delta}", i, lambda out, i=i, d=delta: out.__setitem__(
                i, re.sub(r"(-?\d+);$", lambda k: f"{int(k[1]) ^ d};", out[i]))))

sync = [c for c in candidates if "constant" not in c[0]]
rest = [c for c in candidates if "constant" in c[0]]
chosen = sync + rng.sample(rest, min(len(rest), max(number - len(sync), 0)))
chosen = chosen[:number]
killed, survivors, how = 0, [], {"reported": 0, "wrong": 0, "refused": 0}
for name, i, change in chosen:
    text = build(change)
    fate = None
    for mode in modes:
        error, out = run(text, mode)
        if error:
            fate = "reported" if "fault" in error or error == "hang" else "refused"
        elif out != answer:
            fate = "wrong"
        if fate:
            break
    if fate:
        killed += 1
        how[fate] += 1
    else:
        survivors.append(f"line {i + 1}: {name}: {lines[i].strip()}")
print(f"{killed} of {len(chosen)} mutants killed ({how['reported']} reported, {how['wrong']} wrong results, {how['refused']} refused)")
for s in survivors:
    print("survivor:", s)
