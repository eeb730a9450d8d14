"""inputs.py SOURCE: the tests that docs/inputs.md names exist, and every case but those for later has one."""
import re
import sys
from pathlib import Path

source = Path(sys.argv[1])
declared = set()
for path in source.glob("test/**/*.cpp"):
    for suite, name in re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(), re.M):
        declared |= {f"{suite}.{name}", f"{suite}.*"}
failed, cases = 0, []
for line in (source / "docs/inputs.md").read_text().splitlines():
    if not re.match(r"\| \d+ \|", line):
        continue
    number, _, what, tests = [cell.strip() for cell in line.strip("|").split(" | ")]
    cases.append(int(number))
    found = re.findall(r"`([\w./*-]+)`", tests)
    for test in found:
        if test not in declared and not (source / "test" / test).exists() and not test.startswith("--"):
            failed += 1
            print(f"case {number}: {test}: no such test")
    if not found and "later" not in what:
        failed += 1
        print(f"case {number}: no test")
if cases != list(range(1, len(cases) + 1)):
    failed += 1
    print("cases are not numbered in order")
print(f"{len(cases)} cases, {failed} mistakes")
sys.exit(failed != 0)
