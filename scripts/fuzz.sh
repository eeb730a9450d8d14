#!/usr/bin/env bash
# Builds the libFuzzer targets (preset fuzz) and runs each: scripts/fuzz.sh [seconds for each, default 600]
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$K2C_ROOT"
seconds=${1:-600}
scripts/build.sh fuzz FuzzSafetensorsHeader FuzzManifest
for target in SafetensorsHeader:safetensors Manifest:manifest; do
  reader=${target%:*}
  mkdir -p build-fuzz/corpus/$reader
  # New inputs go to the first folder. Leaks are looked for at the end only: it is faster.
  build-fuzz/bin/Fuzz$reader -max_total_time="$seconds" -max_len=20000 -timeout=10 -dict=test/Fuzz/${target#*:}.dict \
    -artifact_prefix=build-fuzz/$reader- -print_final_stats=1 -verbosity=0 build-fuzz/corpus/$reader test/Fuzz/Seeds/$reader
done
