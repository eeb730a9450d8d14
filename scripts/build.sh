#!/usr/bin/env bash
# Configures and builds: scripts/build.sh [preset, default release] [ninja targets...]
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$K2C_ROOT"
preset=${1:-release}
[ $# -eq 0 ] || shift
dir=build
[ "$preset" = release ] || dir=build-$preset
if [ ! -f "$dir/build.ninja" ]; then
  mkdir -p "$dir"
  cmake --preset "$preset" -DMLIR_DIR="$K2C_LLVM/lib/cmake/mlir" >"$dir/configure.log" 2>&1 || { cat "$dir/configure.log" >&2; exit 1; }
fi
ninja -C "$dir" "$@"
