#!/usr/bin/env python3
"""table.py ROOT LLVM: what every op, attribute, type, pass and dialect of the tree must have, read from the .td files.

Op: summary, description, an mlir example of itself, words on rounding where it computes, a test that has it. Attribute and type: summary and description. Pass: summary,
description with before and after, *Requires*, *Guarantees*, `Numerics:`, a sentence for each option, a lit test that runs it. Dialect: Rationale.md, Spec.md and a reference page.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT, LLVM = Path(sys.argv[1]), Path(sys.argv[2])
MLIR_BLOCK = re.compile(r"```mlir\n(.*?)```", re.S)
NUMERICS_WORDS = re.compile(r"\b(exact|exactly|rounds?|rounded|rounding|roundings|accumulat\w+|float32|f32)\b", re.I)
# Families whose ops compute, and what in them only names or moves values.
COMPUTING = {"K2NormOps.td", "K2PositionOps.td", "K2LinearOps.td", "K2AttentionOps.td", "K2CacheOps.td", "K2MoEOps.td", "K2EndsOps.td", "TileComputeOps.td"}
NUMERICS_LINE = re.compile(r"^\s*Numerics: (exact|reassociates|changes rounding)\b", re.M)

problems = []
counts = {"ops": 0, "attributes and types": 0, "passes": 0, "dialects": 0}


def expect(condition, name, what):
    if not condition:
        problems.append(f"{name}: expected {what}")


def records(td):
    command = [str(LLVM / "bin/llvm-tblgen"), "-dump-json", f"-I{ROOT}", f"-I{LLVM / 'include'}", str(td)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def of_class(table, name):
    return [table[record] for record in table["!instanceof"].get(name, []) if not record.startswith("anonymous")]


def check_summary(name, record):
    summary = (record.get("summary") or "").strip()
    expect(summary, name, "a summary")
    expect("\n" not in summary and not summary.endswith("."), name, "a summary of one line without a final period")
    expect((record.get("description") or "").strip(), name, "a description")
    return record.get("description") or ""


def check_op(name, op, tests):
    counts["ops"] += 1
    description = check_summary(name, op)
    examples = "".join(MLIR_BLOCK.findall(description))
    expect(re.search(rf"\b{re.escape(name)}\b", examples), name, "an mlir example of the op in its description")
    family = op["!locs"][0].split(":")[0].split("/")[-1]
    if family in COMPUTING:
        expect(NUMERICS_WORDS.search(description), name, "words on accumulation and rounding in its description")
    expect(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", tests), name, "a test that has it")


def check_dialect(folder, tests):
    counts["dialects"] += 1
    td = re.search(r"^k2c_dialect\(\w+ (\S+)\)", (folder / "CMakeLists.txt").read_text(), re.M).group(1)
    table = records(folder / td)
    dialect = folder.name.lower()
    for file in ("Rationale.md", "Spec.md"):
        expect((folder / file).is_file(), dialect, f"dialects/{folder.name}/{file}")
    expect((ROOT / f"docs/reference/{folder.name}.md").is_file(), dialect, f"docs/reference/{folder.name}.md")
    for record in of_class(table, "Dialect"):
        if record["name"] == dialect:
            check_summary(dialect, record)
    for op in of_class(table, "Op"):
        if table[op["opDialect"]["def"]]["name"] == dialect:
            check_op(f"{dialect}.{op['opName']}", op, tests)
    for definition in of_class(table, "AttrDef") + of_class(table, "TypeDef"):
        if table[definition["dialect"]["def"]]["name"] == dialect and not definition["mnemonic"] is None:
            counts["attributes and types"] += 1
            check_summary(f"{dialect}.{definition['mnemonic']}", definition)


def check_pass(record, table, run_lines):
    counts["passes"] += 1
    name = record["argument"]
    description = check_summary(name, record)
    if "-verify-" in name:
        expect("Nothing is changed" in description, name, "'Nothing is changed' in the description of a verify pass")
    else:
        examples = MLIR_BLOCK.findall(description)
        expect(len(examples) > 1 or any(re.search(r"// (after|becomes|inserted|unchanged)", e) for e in examples), name, "an mlir example with before and after")
    for word in ("*Requires*:", "*Guarantees*:"):
        expect(word in description, name, f"'{word}' in the description")
    expect(NUMERICS_LINE.search(description), name, "a line 'Numerics: exact | reassociates | changes rounding'")
    for option in record["options"]:
        definition = table[option["def"]]
        expect(definition["description"].strip(), name, f"a sentence for the option '{definition['argument']}'")
    expect(re.search(rf"[-(,\s]{re.escape(name)}(?![\w-])", run_lines), name, "a lit test whose RUN line has it")


def main():
    lines = [line for f in (ROOT / "test").rglob("*") if f.suffix in (".mlir", ".test") for line in f.read_text().splitlines()]
    run_lines = "\n".join(line for line in lines if "RUN:" in line)
    code = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
    for cmake in sorted((ROOT / "dialects").glob("*/CMakeLists.txt")):
        check_dialect(cmake.parent, code)
    for td in sorted((ROOT / "include/k2c").rglob("Passes.td")):
        table = records(td)
        for record in of_class(table, "Pass"):
            check_pass(record, table, run_lines)
    print("\n".join(problems) or ", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if problems or not all(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
