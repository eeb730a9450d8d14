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
  [ -n "${K2C_BENCH_NO_BUILD:-}" ] || bash scripts/build.sh
  python3 "bench/$name/bench.py" --bin build/bin --out "build/bench/$name.json"
done
