#!/usr/bin/env bash
# Installs what k2c builds and tests with, on Debian 12: LLVM/MLIR 22, CMake, Ninja, ccache, header libraries, GoogleTest, a Python
# environment for the tests, and ptxas. Does nothing for what is there already.
#
#   scripts/bootstrap.sh [--runtime-only] [--triton]
#     --runtime-only   no LLVM/MLIR development files (enough for -DK2C_BUILD_COMPILER=OFF)
#     --triton         also Triton, whose PTX tests the simulator (a download of 440 MB, 600 MB on disk); goes on without it when
#                      the package index cannot be reached, and those tests are skipped then
#
# ptxas comes from $K2C_PTXAS, $CUDA_HOME/bin or PATH; when none has it, the Python package nvidia-cuda-nvcc is installed into k2c's own
# environment and linked as ${XDG_CACHE_HOME:-~/.cache}/k2c/bin/ptxas, where k2c looks last.
set -euo pipefail
. "$(dirname "$0")/env.sh"

runtime_only=0
triton=0
for arg in "$@"; do
  case $arg in
    --runtime-only) runtime_only=1 ;;
    --triton) triton=1 ;;
    -h | --help) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "bootstrap.sh: error: unknown option '$arg' (see --help)" >&2; exit 1 ;;
  esac
done

packages=(cmake ninja-build ccache clang-22 lld-22 llvm-22 llvm-22-tools nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev libgmock-dev
          libbenchmark-dev python3 python3-venv git clang-format-22)
[ $runtime_only = 1 ] || packages+=(llvm-22-dev libmlir-22-dev mlir-22-tools clang-tidy-22 zlib1g-dev libxml2-dev libffi-dev)

missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || { echo "bootstrap.sh: error: these packages are needed, and apt-get is not here to install them: ${missing[*]}" >&2; exit 1; }
  root=()
  [ "$(id -u)" = 0 ] || root=(sudo)
  echo "installing: ${missing[*]}"
  "${root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ ! -x "$K2C_VENV/bin/python" ]; then
  # The environment is made beside its final place and renamed: an interrupted run leaves none that is half made.
  base=/usr/bin/python3
  [ -x $base ] || base=python3
  rm -rf "$K2C_VENV"
  "$base" -m venv "$K2C_VENV"
fi
"$K2C_VENV/bin/python" -c 'import numpy, safetensors, jsonschema' 2>/dev/null ||
  "$K2C_VENV/bin/pip" -q --disable-pip-version-check install numpy safetensors jsonschema

if ! k2c_find_ptxas >/dev/null; then
  "$K2C_VENV/bin/pip" -q --disable-pip-version-check install nvidia-cuda-nvcc==13.0.88
  found=$(find "$K2C_VENV"/lib -path '*/nvidia/*/bin/ptxas' | head -n 1)
  [ -n "$found" ] || { echo "bootstrap.sh: error: the package nvidia-cuda-nvcc has no ptxas" >&2; exit 1; }
  mkdir -p "$K2C_CACHE/bin"
  ln -sf "$found" "$K2C_CACHE/bin/ptxas"
fi
if [ $triton = 1 ] && [ ! -d "$K2C_CACHE/triton/triton" ]; then
  # In a folder of its own (lit.cfg.py finds it there), made beside its place and renamed. What it has for other GPUs and for machine
  # code is not needed for PTX.
  rm -rf "$K2C_CACHE/triton.new"
  if timeout 600 "$K2C_VENV/bin/pip" -q --disable-pip-version-check install --no-deps --target "$K2C_CACHE/triton.new" triton==3.9.0; then
    (cd "$K2C_CACHE/triton.new/triton/backends" && rm -rf amd/lib nvidia/lib/cupti* nvidia/bin)
    mv "$K2C_CACHE/triton.new" "$K2C_CACHE/triton"
  else
    rm -rf "$K2C_CACHE/triton.new"
    echo "Triton cannot be installed here: tests with its PTX will be skipped"
  fi
fi
echo "ready: clang $(clang++-22 -dumpversion), $(k2c_find_ptxas) ($("$(k2c_find_ptxas)" --version | grep -o 'release [0-9.]*'))"
