// CUDA's libm against the host's in the next wider precision: within the errors
// that NVIDIA documents. Large arguments of sinf make it use local memory.

#include "Device.cuh"

#include <cmath>
#include <cstring>

namespace {
constexpr int functions = 12;

template <class T> __host__ __device__ T function(int f, T x) {
  switch (f) {
  case 0:
    return exp(x);
  case 1:
    return log(fabs(x));
  case 2:
    return sin(x);
  case 3:
    return cos(x);
  case 4:
    return tanh(x);
  case 5:
    return erf(x);
  case 6:
    return cbrt(x);
  case 7:
    return sqrt(fabs(x));
  case 8:
    return pow(fabs(x), T(1.25));
  case 9:
    return T(1) / x;
  case 10:
    return atan(x);
  default:
    return expm1(x);
  }
}
/// Of the CUDA C++ programming guide, single and double precision: ulps from
/// the correctly rounded result.
constexpr double bounds[functions][2] = {
    {1, 1}, {1, 1}, {2, 2}, {2, 2}, {2, 1}, {2, 2},
    {1, 1}, {0, 0}, {4, 2}, {0, 0}, {2, 2}, {1, 1}};

template <class T> __global__ void all(const T *in, T *out) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  for (int f = 0; f < functions; ++f)
    out[i * functions + f] = function(f, in[i]);
}

template <class T, class Wide>
std::string compare(const std::vector<T> &in, int precision) {
  corpus::Buffer<T> a(in), b(in.size() * functions);
  all<<<unsigned(in.size() / 64), 64>>>(a.get(), b.get());
  corpus::check(cudaDeviceSynchronize());
  const std::vector<T> got = b.read();
  for (size_t i = 0; i < in.size(); ++i)
    for (int f = 0; f < functions; ++f) {
      const Wide want = function(f, Wide(in[i]));
      const T g = got[i * functions + size_t(f)];
      // Roots and quotients are exact on the host too; the wider type would
      // round twice.
      const T near =
          bounds[f][precision] == 0 ? function(f, in[i]) : T(want);
      if (near == g || (std::isinf(near) && std::isinf(g)))
        continue;
      const T ulp = std::nextafter(std::fabs(near), T(INFINITY)) - std::fabs(near);
      const double error = double(std::fabs(g - near) / ulp);
      if (!(error <= bounds[f][precision]))
        return "function " + std::to_string(f) + " of " +
               std::to_string(in[i]) + ": expected " +
               std::to_string(double(want)) + ", but got " +
               std::to_string(double(g)) + ": " + std::to_string(error) +
               " ulp";
    }
  return {};
}

template <class T> std::vector<T> arguments(int n) {
  std::vector<T> in;
  uint32_t state = 15;
  for (int i = 0; i < n; ++i) {
    const T unit = T(corpus::random(state)) / T(4294967296.0) * 2 - 1;
    in.push_back(unit * T(std::pow(10.0, int(corpus::random(state) % 9) - 3)));
  }
  return in;
}
} // namespace

std::string corpus::mathSingle() {
  return guarded([] { return compare<float, double>(arguments<float>(2048), 0); });
}

std::string corpus::mathDouble() {
  return guarded(
      [] { return compare<double, long double>(arguments<double>(1024), 1); });
}
