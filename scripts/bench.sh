#!/usr/bin/env bash
# Benchmarks: bench.sh [NAME...], default all. Builds what each needs, prints a table and writes build/bench/NAME.json.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
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
