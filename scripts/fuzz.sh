#!/usr/bin/env bash
# Builds the libFuzzer targets (preset fuzz) and runs each: scripts/fuzz.sh [seconds for each, default 600]
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$K2C_ROOT"
seconds=${1:-600}
readers=(SafetensorsHeader Manifest Ptx)
# The reader of config.json needs LLVM's headers.
[ ! -d "$K2C_LLVM/include/llvm" ] || readers+=(Config)
scripts/build.sh fuzz "${readers[@]/#/Fuzz}"
for reader in "${readers[@]}"; do
  corpus=build-fuzz/corpus/$reader
  mkdir -p "$corpus"
  seeds=(test/Fuzz/Seeds/$reader)
  [ $reader != Config ] || seeds+=(test/configs)
  [ $reader != Ptx ] || seeds+=(test/Unit/ptxsim_tensor/Inputs test/Unit/ptxsim_hopper/Inputs)
  # New inputs go to the first folder. Leaks are looked for at the end only: it is faster.
  build-fuzz/bin/Fuzz$reader -max_total_time="$seconds" -max_len=20000 -timeout=10 -dict=test/Fuzz/$reader.dict \
    -artifact_prefix=build-fuzz/$reader- -print_final_stats=1 -verbosity=0 "$corpus" "${seeds[@]}"
done
