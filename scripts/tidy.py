#!/usr/bin/env python3
"""Runs clang-tidy on the project's .cpp files, two at a time, and remembers the clean ones.

    scripts/tidy.py [--all] [PATH...]     PATH: a file or folder (default: dialects lib runtime tools); --all forgets what was clean

A file is looked at again when it, a project header it reaches, or .clang-tidy has changed: the stamps are in build/tidy. Needs build/compile_commands.json and the generated
headers (a finished build). Exit 1 if there is a finding. A file takes 1 to 3 seconds.
"""
import argparse
import hashlib
import json
import os
import re
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


def tidy(path):
    """-> what clang-tidy says about one file; empty if nothing or known to be clean."""
    stamp = STAMPS / f"{path.relative_to(ROOT)}.ok"
    key = key_of(path)
    if stamp.is_file() and stamp.read_text() == key:
        return ""
    result = subprocess.run(["nice", str(LLVM / "bin/clang-tidy"), "--quiet", "--warnings-as-errors=*", "-p", str(BUILD), str(path)], capture_output=True, text=True)
    if result.returncode == 0:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(key)
        return ""
    return result.stdout or result.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="forget what was clean")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("paths", nargs="*", default=["dialects", "lib", "runtime", "tools"])
    args = parser.parse_args()
    database = BUILD / "compile_commands.json"
    if not database.is_file():
        sys.exit(f"tidy.py: error: {database.relative_to(ROOT)}: expected a configured build, but got none: run scripts/build.sh")
    built = {Path(entry["file"]).resolve() for entry in json.loads(database.read_text())}
    wanted = [Path(p).resolve() for p in args.paths]
    files = sorted(f for f in built if any(f == w or w in f.parents for w in wanted) and ROOT in f.parents and BUILD not in f.parents)
    if args.all:
        for stamp in STAMPS.rglob("*.ok"):
            stamp.unlink()
    findings = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for text in pool.map(tidy, files):
            if text:
                findings += 1
                print(text, flush=True)
    print(f"clang-tidy: {len(files)} files, {findings} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
