#!/usr/bin/env python3
"""rules.py ROOT: the rule ids of Spec.md, of the code's comments and of the tests are the same lists."""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
ID = r"([a-z]+_c[0-9]+)"
spec = re.findall(rf"^\| {ID} \|", (root / "dialects/Plan/Spec.md").read_text(), re.M)
code = [i for folder in ("dialects/Plan", "lib/Transforms/Plan") for f in sorted((root / folder).glob("*.cpp"))
        for i in re.findall(rf"^\s*// {ID}$", f.read_text(), re.M)]
tests = {i for name in ("Dialect/Plan/invalid.mlir", "Transforms/Plan/verify-complete.mlir")
         for i in re.findall(rf"@{ID}\b", (root / "test" / name).read_text())}
problems = [f"{i}: twice in {where}" for where, ids in (("Spec.md", spec), ("the code", code)) for i in sorted({i for i in ids if ids.count(i) > 1})]
for where, ids in (("the code", set(code)), ("the tests", tests)):
    problems += [f"{i}: in Spec.md, but not in {where}" for i in sorted(set(spec) - ids)]
    problems += [f"{i}: in {where}, but not in Spec.md" for i in sorted(ids - set(spec))]
print("\n".join(problems) or f"{len(spec)} rules")
sys.exit(bool(problems) or not spec)
