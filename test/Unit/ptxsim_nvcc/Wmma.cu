// nvcuda::wmma: fragments loaded, multiplied and stored in several formats and
// shapes. Integers and small halves are exact; others are compared with a bound.

#include "Device.cuh"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

namespace {
/// One warp: d = a b + c over K in steps of k.
template <int M, int N, int K, class In, class Out, class LayoutA, class LayoutB,
          class Fragment = In>
__global__ void multiply(const In *a, const In *b, const Out *c, Out *d,
                         int depth, int lda, int ldb) {
  wmma::fragment<wmma::matrix_a, M, N, K, Fragment, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Fragment, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Out> acc;
  wmma::load_matrix_sync(acc, c, N, wmma::mem_row_major);
  for (int k = 0; k < depth; k += K) {
    const bool rowA = std::is_same<LayoutA, wmma::row_major>::value,
               rowB = std::is_same<LayoutB, wmma::row_major>::value;
    wmma::load_matrix_sync(fa, a + (rowA ? k : k * lda), unsigned(lda));
    wmma::load_matrix_sync(fb, b + (rowB ? k * ldb : k), unsigned(ldb));
    if (std::is_same<Fragment, wmma::precision::tf32>::value)
      for (int i = 0; i < fa.num_elements; ++i)
        fa.x[i] = wmma::__float_to_tf32(float(fa.x[i]));
    wmma::mma_sync(acc, fa, fb, acc);
  }
  wmma::store_matrix_sync(d, acc, N, wmma::mem_row_major);
}

/// Small integers, which all formats hold exactly: so is every sum of them.
template <int M, int N, int K, class In, class Out, class LayoutA, class LayoutB,
          class Fragment = In>
std::string exact(const char *what, uint32_t seed) {
  const int depth = 3 * K;
  const bool rowA = std::is_same<LayoutA, wmma::row_major>::value,
             rowB = std::is_same<LayoutB, wmma::row_major>::value;
  auto make = [&](size_t n) {
    std::vector<int> values(n);
    for (int &v : values)
      v = int(corpus::random(seed) % 15) - 7;
    return values;
  };
  const std::vector<int> a = make(size_t(M * depth)), b = make(size_t(depth * N)),
                         c = make(size_t(M * N));
  auto convert = [](const std::vector<int> &from, auto to) {
    std::vector<decltype(to)> out;
    for (int v : from)
      out.push_back(decltype(to)(float(v)));
    return out;
  };
  corpus::Buffer<In> da(convert(a, In())), db(convert(b, In()));
  corpus::Buffer<Out> dc(convert(c, Out())), dd(size_t(M * N));
  const int lda = rowA ? depth : M, ldb = rowB ? N : depth;
  multiply<M, N, K, In, Out, LayoutA, LayoutB, Fragment>
      <<<1, 32>>>(da.get(), db.get(), dc.get(), dd.get(), depth, lda, ldb);
  corpus::check(cudaDeviceSynchronize());
  std::vector<float> expected(size_t(M * N)), got;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      int sum = c[size_t(i * N + j)];
      for (int k = 0; k < depth; ++k)
        sum += a[size_t(rowA ? i * depth + k : k * M + i)] *
               b[size_t(rowB ? k * N + j : j * depth + k)];
      expected[size_t(i * N + j)] = float(sum);
    }
  for (Out v : dd.read())
    got.push_back(float(v));
  return corpus::differ(what, got, expected);
}
using Row = wmma::row_major;
using Col = wmma::col_major;
} // namespace

std::string corpus::wmmaHalf() {
  return guarded([] {
    return exact<16, 16, 16, __half, float, Row, Col>("f16 16x16x16", 1) +
           exact<16, 16, 16, __half, __half, Row, Row>("f16 rows", 2) +
           exact<32, 8, 16, __half, float, Col, Row>("f16 32x8x16", 3);
  });
}

std::string corpus::wmmaBf16() {
  return guarded([] {
    return exact<16, 16, 16, __nv_bfloat16, float, Row, Col>("bf16", 4) +
           exact<8, 32, 16, __nv_bfloat16, float, Row, Row>("bf16 8x32x16", 5);
  });
}

std::string corpus::wmmaInteger() {
  return guarded([] {
    return exact<16, 16, 16, signed char, int, Row, Col>("s8", 6) +
           exact<32, 8, 16, signed char, int, Row, Col>("s8 32x8x16", 7);
  });
}

std::string corpus::wmmaTf32() {
  return guarded([] {
    return exact<16, 16, 8, float, float, Row, Col, wmma::precision::tf32>(
               "tf32", 8) +
           exact<8, 8, 4, double, double, Row, Col>("f64", 9);
  });
}
