#ifndef TEST_UNIT_PTXSIM_NVCC_DEVICE_CUH
#define TEST_UNIT_PTXSIM_NVCC_DEVICE_CUH

#include "Corpus.h"

#include <cstdint>
#include <cuda_runtime_api.h>
#include <stdexcept>
#include <vector>

namespace corpus {

/// Throws what the runtime says.
inline void check(cudaError_t code) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(cudaGetErrorName(code)) + ": " +
                             cudaGetErrorString(code));
}

/// Runs `f`, which throws or gives the first difference.
template <class F> std::string guarded(F f) {
  try {
    std::string difference = f();
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    return difference;
  } catch (const std::exception &e) {
    return e.what();
  }
}

template <class T> class Buffer {
public:
  explicit Buffer(size_t n) : n(n) {
    check(cudaMalloc(reinterpret_cast<void **>(&p), n * sizeof(T)));
  }
  explicit Buffer(const std::vector<T> &values) : Buffer(values.size()) {
    check(cudaMemcpy(p, values.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(p); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  T *get() const { return p; }
  std::vector<T> read() const {
    std::vector<T> values(n);
    check(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

private:
  size_t n;
  T *p = nullptr;
};

template <class T>
std::string differ(const char *what, const std::vector<T> &got,
                   const std::vector<T> &expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(got[i] == expected[i]))
      return std::string(what) + " at " + std::to_string(i) + ": expected " +
             std::to_string(expected[i]) + ", but got " +
             std::to_string(got[i]);
  return {};
}

/// The same numbers every time.
inline uint32_t random(uint32_t &state) {
  state = state * 1664525u + 1013904223u;
  return state ^ state >> 15;
}

inline std::vector<uint32_t> randoms(size_t n, uint32_t seed,
                                     uint32_t below = 0) {
  std::vector<uint32_t> values(n);
  for (uint32_t &v : values) {
    v = random(seed);
    if (below)
      v %= below;
  }
  return values;
}

} // namespace corpus

#endif // TEST_UNIT_PTXSIM_NVCC_DEVICE_CUH
