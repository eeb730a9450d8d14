#!/usr/bin/env bash
# Benchmarks: bench.sh [--list | NAME...], default all. Builds what each needs, prints a table and writes build/bench/NAME.json.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
if [ "${1:-}" = --list ]; then
  for file in bench/*/bench.py; do
    printf '%-12s %s\n' "$(basename "$(dirname "$file")")" "$(sed -n '2s/^"""//p' "$file")"
  done
  exit 0
fi
[ $# -gt 0 ] || set -- $(cd bench && ls -d */ | tr -d /)
mkdir -p build/bench
for name in "$@"; do
  if [ ! -f "bench/$name/bench.py" ]; then
    echo "bench.sh: error: NAME: expected one of $(cd bench && ls -d */ | tr -d / | xargs), but got $name" >&2
    exit 1
  fi
  if [ -z "${K2C_BENCH_NO_BUILD:-}" ]; then
    if [ -f "bench/$name/CMakeLists.txt" ]; then
      # A program of its own is all that it needs.
      [ -f build/build.ninja ] || bash scripts/build.sh release -t targets >/dev/null
      cmake -B build -DK2C_BUILD_BENCH=ON >/dev/null
      bash scripts/build.sh release "$name-bench"
    else
      bash scripts/build.sh
    fi
  fi
  python3 "bench/$name/bench.py" --bin build/bin --out "build/bench/$name.json"
done
