#!/usr/bin/env bash
# Builds k2c and runs its tests. The last line is `N passed, N failed` (and `, N skipped` when some could not run here).
#
#   scripts/test.sh            everything: build, unit tests, lit, golden cases, style and dependency rules, the build without LLVM
#   scripts/test.sh --quick    unit tests and lit only, on the existing build (under two minutes)
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$K2C_ROOT"

quick=0
for arg in "$@"; do
  case $arg in
    --quick) quick=1 ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "test.sh: error: unknown option '$arg' (see --help)" >&2; exit 1 ;;
  esac
done

[ $quick = 1 ] || scripts/bootstrap.sh --triton
scripts/build.sh release
exec "$K2C_VENV/bin/python" scripts/run_tests.py $([ $quick = 1 ] && echo --quick)
