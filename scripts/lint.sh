#!/usr/bin/env bash
# clang-format (LLVM style) and clang-tidy over the project's C++ files.
#
#   scripts/lint.sh              both
#   scripts/lint.sh --format     formatting only
#   scripts/lint.sh --fix        rewrite files with clang-format
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$K2C_ROOT"
mapfile -t files < <(git ls-files '*.cpp' '*.h')
case ${1:-all} in
  --fix) clang-format-22 -i "${files[@]}" ;;
  --format) clang-format-22 --dry-run -Werror "${files[@]}" ;;
  all)
    clang-format-22 --dry-run -Werror "${files[@]}"
    "$K2C_LLVM/bin/run-clang-tidy" -clang-tidy-binary "$K2C_LLVM/bin/clang-tidy" -quiet -p build "$K2C_ROOT/(dialects|lib|runtime|tools)/"
    ;;
  *) echo "lint.sh: error: unknown option '$1'" >&2; exit 1 ;;
esac
