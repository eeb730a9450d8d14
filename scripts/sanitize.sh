#!/usr/bin/env bash
# Builds the runtime and the simulator with AddressSanitizer and UBSan (preset asan) and runs their unit tests.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$K2C_ROOT"
scripts/build.sh asan UnitTests
ctest --test-dir build-asan -j "$(nproc)" --output-on-failure
