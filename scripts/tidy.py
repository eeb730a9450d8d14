#!/usr/bin/env python3
"""Runs clang-tidy on the project's .cpp files, two groups at a time, and remembers the clean ones.

    scripts/tidy.py [--all] [--group=N] [PATH...]     PATH: a file or folder (default: dialects lib runtime tools); --all forgets what was clean

A file is looked at again when it, a project header it reaches, or .clang-tidy has changed: the stamps are in build/tidy. Needs build/compile_commands.json and the generated
headers (a finished build). Exit 1 if there is a finding. Eight files of the compiler, looked at as one, take about 15 seconds, one alone 10; one of the runtime 1 to 3.
"""
import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
STAMPS = BUILD / "tidy"
LLVM = Path(os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22"))
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
SEARCH = [ROOT, ROOT / "include", ROOT / "runtime/include"]


@lru_cache(maxsize=None)
def direct_headers(path):
    found = []
    for name in INCLUDE.findall(path.read_text()):
        found += [p for p in [(path.parent / name), *(folder / name for folder in SEARCH)] if p.is_file()][:1]
    return tuple(p.resolve() for p in found)


def key_of(path):
    reached, work = {path}, [path]
    while work:
        for header in direct_headers(work.pop()):
            if header not in reached:
                reached.add(header)
                work.append(header)
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for p in sorted(reached):
        digest.update(p.read_bytes())
    return digest.hexdigest()


def stamp_of(path):
    return STAMPS / f"{path.relative_to(ROOT)}.ok"


def is_clean(path):
    return stamp_of(path).is_file() and stamp_of(path).read_text() == key_of(path)


def tidy(files):
    """-> what clang-tidy says about files that are compiled alike. Several are looked at as one, which includes them: reading MLIR's headers takes nine tenths of the time of one
    file. What cannot be compiled as one (two static functions of one name) is halved."""
    keys = [key_of(f) for f in files]
    command = ["nice", str(LLVM / "bin/clang-tidy"), "--quiet", "--warnings-as-errors=*"]
    if len(files) == 1:
        command += ["-p", str(BUILD), str(files[0])]
    else:
        digest = hashlib.sha256("".join(map(str, files)).encode()).hexdigest()[:16]
        together = STAMPS / f"{digest}.cpp"
        together.write_text("".join(f'#include "{f}"\n' for f in files))
        command += ["--checks=-bugprone-suspicious-include", str(together), "--", *arguments_of(files[0])]
    result = subprocess.run(command, cwd=BUILD, capture_output=True, text=True)
    if result.returncode == 0:
        for f, key in zip(files, keys):
            stamp_of(f).parent.mkdir(parents=True, exist_ok=True)
            stamp_of(f).write_text(key)
        return ""
    if len(files) > 1 and "clang-diagnostic-error" in result.stdout:
        half = len(files) // 2
        return tidy(files[:half]) + tidy(files[half:])
    return result.stdout or result.stderr


@lru_cache(maxsize=1)
def database():
    entries = {Path(entry["file"]).resolve(): entry for entry in json.loads((BUILD / "compile_commands.json").read_text())}
    return {path: entry for path, entry in entries.items() if path.is_file()} # not those that are gone since


@lru_cache(maxsize=None)
def arguments_of(path):
    """The compiler's options, without launcher, input and output."""
    words = shlex.split(database()[path]["command"])
    words = words[next(i for i, w in enumerate(words) if "clang" in Path(w).name) + 1:]
    kept, skip = [], 0
    for word in words:
        if skip:
            skip -= 1
        elif word in ("-o", "-c", "-MF", "-MT"):
            skip = 1
        elif word != "-MD":
            kept.append(word)
    return tuple(kept)


def names_of(path):
    """What a file seems to define for itself, at the start of a line."""
    lines = [line for line in path.read_text().splitlines() if line[:1].isalpha() and not line.startswith(("namespace", "template", "using"))]
    return {n for line in lines for n in re.findall(r"(?<!::)\b(\w+)(?:\(| =|(?= (?:final )?[:{]))", line)[:1]}


def groups_of(files, size):
    """Files of one folder with the same options and without names in common, `size` at most."""
    groups = []
    for f in files:
        names = names_of(f)
        for group, taken in groups:
            if len(group) < size and group[0].parent == f.parent and arguments_of(group[0]) == arguments_of(f) and not names & taken:
                group.append(f)
                taken |= names
                break
        else:
            groups.append(([f], names))
    return [group for group, _ in groups]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="forget what was clean")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--group", type=int, default=8, help="files looked at as one (1: each alone)")
    parser.add_argument("paths", nargs="*", default=["dialects", "lib", "runtime", "tools"])
    args = parser.parse_args()
    if not (BUILD / "compile_commands.json").is_file():
        sys.exit("tidy.py: error: build/compile_commands.json: expected a configured build, but got none: run scripts/build.sh")
    wanted = [Path(p).resolve() for p in args.paths]
    files = sorted(f for f in database() if any(f == w or w in f.parents for w in wanted) and ROOT in f.parents and BUILD not in f.parents)
    if args.all:
        for stamp in STAMPS.rglob("*.ok"):
            stamp.unlink()
    STAMPS.mkdir(parents=True, exist_ok=True)
    changed = [f for f in files if not is_clean(f)]
    findings = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for text in pool.map(tidy, groups_of(changed, args.group)):
            if text:
                findings += 1
                print(text, flush=True)
    print(f"clang-tidy: {len(changed)} of {len(files)} files, " + (f"{findings} groups with findings" if findings else "no findings"))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
