#!/usr/bin/env bash
# Puts faults into correct PTX kernels and counts how many the simulator finds: mutants.sh [NUMBER, default 1000]. Prints the score by kind of fault and by
# kernel, and the mutants that nothing has found. K2C_MUTANTS_LIST=1: what found each. K2C_MUTANTS_CORPUS=FILE: more kernels (test/Unit/ptxsim_mutants/Corpus.h
# has the format). K2C_MUTANTS_SEEDS=N: the correct kernels in N random orders.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
[ -n "${K2C_MUTANTS_NO_BUILD:-}" ] || bash scripts/build.sh release ptxsim_mutants_test >/dev/null
K2C_MUTANTS=${1:-1000} exec build/test/Unit/ptxsim_mutants_test
