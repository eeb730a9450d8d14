// CUB's device-wide algorithms. Scan and select look back at earlier CTAs'
// results while those run.

#include "Device.cuh"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <numeric>

namespace {
/// CUB's two calls: how much temporary memory, then the work.
template <class F> void run(F call) {
  size_t bytes = 0;
  corpus::check(call(nullptr, bytes));
  corpus::Buffer<uint8_t> temporary(std::max<size_t>(bytes, 1));
  corpus::check(call(temporary.get(), bytes));
}

struct DividesByThree {
  __host__ __device__ bool operator()(uint32_t x) const { return x % 3 == 0; }
};
} // namespace

std::string corpus::cubScan() {
  return guarded([] {
    std::string difference;
    for (int n : {1, 1000, 20000}) {
      const std::vector<uint32_t> in = randoms(size_t(n), 1);
      Buffer<uint32_t> a(in), b(in.size());
      run([&](void *t, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(t, bytes, a.get(), b.get(), n);
      });
      std::vector<uint32_t> expected(in.size());
      std::partial_sum(in.begin(), in.end(), expected.begin());
      difference += differ("inclusive sum", b.read(), expected);
    }
    return difference;
  });
}

std::string corpus::cubReduce() {
  return guarded([] {
    std::string difference;
    for (int n : {1, 777, 50000}) {
      const std::vector<uint32_t> in = randoms(size_t(n), 2);
      Buffer<uint32_t> a(in), out(1);
      run([&](void *t, size_t &bytes) {
        return cub::DeviceReduce::Sum(t, bytes, a.get(), out.get(), n);
      });
      difference += differ("sum", out.read(),
                           {std::accumulate(in.begin(), in.end(), 0u)});
      run([&](void *t, size_t &bytes) {
        return cub::DeviceReduce::Max(t, bytes, a.get(), out.get(), n);
      });
      difference += differ("maximum", out.read(),
                           {*std::max_element(in.begin(), in.end())});
    }
    return difference;
  });
}

std::string corpus::cubSortKeys() {
  return guarded([] {
    std::string difference;
    // One CTA, then several passes of many.
    for (int n : {500, 12000}) {
      std::vector<uint32_t> keys = randoms(size_t(n), 3);
      Buffer<uint32_t> a(keys), b(keys.size());
      run([&](void *t, size_t &bytes) {
        return cub::DeviceRadixSort::SortKeys(t, bytes, a.get(), b.get(), n);
      });
      std::sort(keys.begin(), keys.end());
      difference += differ("sorted key", b.read(), keys);
    }
    return difference;
  });
}

std::string corpus::cubSortPairs() {
  return guarded([] {
    const int n = 9000;
    // Few keys: equal ones must keep their order. Bits 0 to 9 only.
    const std::vector<uint32_t> keys = randoms(n, 4, 385);
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    Buffer<uint32_t> k(keys), v(order), sortedK(n), sortedV(n);
    run([&](void *t, size_t &bytes) {
      return cub::DeviceRadixSort::SortPairs(t, bytes, k.get(), sortedK.get(),
                                             v.get(), sortedV.get(), n, 0, 9);
    });
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t x, uint32_t y) { return keys[x] < keys[y]; });
    return differ("sorted value", sortedV.read(), order);
  });
}

std::string corpus::cubSelect() {
  return guarded([] {
    const int n = 15000;
    const std::vector<uint32_t> in = randoms(n, 5);
    Buffer<uint32_t> a(in), b(n), count(1);
    run([&](void *t, size_t &bytes) {
      return cub::DeviceSelect::If(t, bytes, a.get(), b.get(), count.get(), n,
                                   DividesByThree());
    });
    std::vector<uint32_t> expected;
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected),
                 DividesByThree());
    std::string difference =
        differ("count", count.read(), {uint32_t(expected.size())});
    return difference + differ("selected", b.read(), expected);
  });
}
