#!/usr/bin/env python3
"""rules.py ROOT: the rule ids of Spec.md, of the verifiers' comments and of the tests are the same lists."""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
ID = r"\b([a-z][a-z0-9_]*_c[0-9]+)\b"
spec = re.findall(rf"^\| {ID} \|", (root / "dialects/Tile/Spec.md").read_text(), re.M)
code = {i for f in sorted((root / "dialects/Tile").glob("*.cpp")) for i in re.findall(rf"^\s*// {ID}$", f.read_text(), re.M)}
tests = {i for f in sorted((root / "test/Dialect/Tile").glob("invalid*.mlir")) for i in re.findall(rf"@{ID}\(", f.read_text())}
problems = [f"{i}: twice in Spec.md" for i in sorted({i for i in spec if spec.count(i) > 1})]
for name, ids in (("the verifiers", code), ("the tests", tests)):
    problems += [f"{i}: in Spec.md, but not in {name}" for i in sorted(set(spec) - ids)]
    problems += [f"{i}: in {name}, but not in Spec.md" for i in sorted(ids - set(spec))]
print("\n".join(problems) or f"{len(spec)} rules")
sys.exit(bool(problems) or not spec)
