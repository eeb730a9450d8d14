#!/usr/bin/env bash
# clang-format (LLVM style) and clang-tidy over the project's C++ files.
#
#   scripts/lint.sh              both; clang-tidy looks at files that changed since it was last clean (scripts/tidy.py)
#   scripts/lint.sh --all        both; clang-tidy looks at every file (some minutes)
#   scripts/lint.sh --format     formatting only
#   scripts/lint.sh --fix        rewrite files with clang-format
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$K2C_ROOT"
# Without the precompiled header: a byte of it changed rebuilds every file of the compiler, cache or not.
mapfile -t files < <(git ls-files '*.cpp' '*.h' '*.c' ':!cmake/pch.h')
case ${1:-changed} in
  --fix) clang-format-22 -i "${files[@]}" ;;
  --format) clang-format-22 --dry-run -Werror "${files[@]}" ;;
  changed | --all)
    clang-format-22 --dry-run -Werror "${files[@]}"
    LLVM_PREFIX=$K2C_LLVM python3 scripts/tidy.py "${@:1}"
    ;;
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0" ;;
  *) echo "lint.sh: error: unknown option '$1' (see --help)" >&2; exit 1 ;;
esac
