# Sourced by the other scripts: where tools and caches are. Sets K2C_CACHE, K2C_VENV, K2C_LLVM and the function k2c_find_ptxas.
K2C_CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/k2c
K2C_VENV=$K2C_CACHE/venv
K2C_LLVM=${LLVM_PREFIX:-/usr/lib/llvm-22}
K2C_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

k2c_find_ptxas() {
  local p
  for p in "${K2C_PTXAS:-}" "${CUDA_HOME:+$CUDA_HOME/bin/ptxas}" "$(command -v ptxas || true)" "$K2C_CACHE/bin/ptxas"; do
    if [ -n "$p" ] && [ -x "$p" ]; then
      echo "$p"
      return 0
    fi
  done
  return 1
}
