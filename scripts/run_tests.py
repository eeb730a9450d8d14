#!/usr/bin/env python3
"""Runs the test suites on a finished build and adds up their results.

Suites: GoogleTest binaries (through ctest), lit, and, without --quick, the repository's own rules (dependencies, formatting), the
build of runtime and simulator without LLVM, and their unit tests under sanitizers. Prints failures as they come; the last line is `N passed, N failed[, N skipped]`.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
REPORTS = BUILD / "test-reports"
LLVM = Path(os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22"))


class Totals:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, passed, failed, skipped=0):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped


def add_xml(totals, path):
    """Adds one JUnit file; -> number of tests in it."""
    count = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        count += 1
        failed = case.find("failure") is not None or case.find("error") is not None
        skipped = case.find("skipped") is not None or case.get("result") == "skipped" or case.get("status") == "notrun"
        totals.add(not failed and not skipped, failed, skipped and not failed)
    return count


def run_suite(totals, name, command, report_dir, env=None, timeout=1500):
    """Runs a suite that writes JUnit files into report_dir; a suite that writes none counts as one failure."""
    shutil.rmtree(report_dir, ignore_errors=True)
    report_dir.mkdir(parents=True)
    start = time.time()
    before = (totals.passed, totals.failed)
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, **(env or {})}, timeout=timeout).returncode
    count = sum(add_xml(totals, f) for f in sorted(report_dir.glob("*.xml")))
    if count == 0 or (code != 0 and totals.failed == before[1]):
        print(f"{name}: exit {code} and {count} tests reported")
        totals.add(0, 1)
    print(f"-- {name}: {totals.passed - before[0]} passed, {totals.failed - before[1]} failed ({time.time() - start:.0f} s)", flush=True)


def run_check(totals, name, command):
    """One command that is one test."""
    start = time.time()
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        print(result.stdout[-6000:])
    print(f"-- {name}: {'passed' if result.returncode == 0 else 'FAILED'} ({time.time() - start:.0f} s)", flush=True)
    totals.add(result.returncode == 0, result.returncode != 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="unit tests and lit only")
    args = parser.parse_args()
    jobs = str(os.cpu_count() or 2)
    totals = Totals()
    full = {} if args.quick else {"K2C_FULL_TESTS": "1"}
    run_suite(totals, "unit tests", ["ctest", "--test-dir", "build", "-j", jobs, "--output-on-failure"], REPORTS / "unit",
              {"GTEST_OUTPUT": f"xml:{REPORTS / 'unit'}/", **full})
    lit = [str(LLVM / "bin" / "lit"), "-s", "-v", "-j", jobs, "--xunit-xml-output", str(REPORTS / "lit" / "lit.xml"), str(BUILD / "test")]
    run_suite(totals, "lit", lit, REPORTS / "lit", full)
    if not args.quick:
        run_check(totals, "dependency rules", [sys.executable, "scripts/check_dependencies.py"])
        run_check(totals, "reference pages are fresh", [sys.executable, "scripts/reference.py", "--check"])
        run_check(totals, "formatting", ["bash", "scripts/lint.sh", "--format"])
        run_check(totals, "fuzzed readers", ["bash", "scripts/fuzz.sh", "5"])
        run_check(totals, "unit tests under sanitizers", ["bash", "scripts/sanitize.sh"])
        run_check(totals, "build without LLVM", ["bash", "scripts/build.sh", "runtime"])
        run_check(totals, "install and find_package", ["bash", "test/Install/run.sh", "build-runtime"])
    print(f"{totals.passed} passed, {totals.failed} failed" + (f", {totals.skipped} skipped" if totals.skipped else ""))
    return 1 if totals.failed or not totals.passed else 0


if __name__ == "__main__":
    sys.exit(main())
