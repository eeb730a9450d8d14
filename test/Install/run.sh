#!/usr/bin/env bash
# run.sh BUILD: installs the runtime of a build folder into BUILD/install-test and builds and runs a project that finds it there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
root=$build/install-test
rm -rf "$root"
cmake --install "$build" --component Runtime --prefix "$root/prefix" >"$root.log"
cmake -S "$here" -B "$root/project" -G Ninja -DCMAKE_PREFIX_PATH="$root/prefix" \
  -DCMAKE_C_COMPILER="$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")" \
  -DCMAKE_CXX_COMPILER="$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")" >>"$root.log"
cmake --build "$root/project" >>"$root.log"
if grep -rlF "$here/../.." "$root/prefix/lib/cmake"; then
  echo "the installed package names the source tree" >&2
  exit 1
fi
[ "$("$root/project/simulate")" = 42 ]
[ "$("$root/project/driver")" = "H200, 1 launch" ]
[ -e "$root/prefix/lib/ptxsim/libcuda.so.1" ]
[ "$("$root/project/run" "$here/../Runtime/Inputs/tiny.art")" = "hidden_size $(sed -n 's/.*"hidden_size": *\([0-9]*\).*/\1/p' "$here/../Runtime/Inputs/tiny.art/manifest.json" | head -n 1)" ]
status=0
message=$("$root/project/run" /nonexistent.art 2>&1) || status=$?
[ "$status" = 1 ] && [[ $message == *nonexistent.art* ]]
"$root/prefix/bin/ptxsim" --help >/dev/null
"$root/prefix/bin/k2-run" --help >/dev/null
echo "an installed k2c is found, linked and run"
