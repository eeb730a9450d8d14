// More of CUB's device-wide algorithms.

#include "Device.cuh"

#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <numeric>

namespace {
template <class F> void run(F call) {
  size_t bytes = 0;
  corpus::check(call(nullptr, bytes));
  corpus::Buffer<uint8_t> temporary(std::max<size_t>(bytes, 1));
  corpus::check(call(temporary.get(), bytes));
}

struct Less {
  __host__ __device__ bool operator()(uint32_t a, uint32_t b) const {
    return a < b;
  }
};
} // namespace

std::string corpus::cubHistogram() {
  return guarded([] {
    const int n = 20000, bins = 385;
    const std::vector<uint32_t> in = randoms(n, 16, bins);
    Buffer<int> samples(std::vector<int>(in.begin(), in.end())), counts(bins);
    run([&](void *t, size_t &bytes) {
      return cub::DeviceHistogram::HistogramEven(t, bytes, samples.get(),
                                                 counts.get(), bins + 1, 0,
                                                 bins, n);
    });
    std::vector<int> expected(bins);
    for (uint32_t x : in)
      ++expected[x];
    return differ("bin", counts.read(), expected);
  });
}

std::string corpus::cubMergeSort() {
  return guarded([] {
    const int n = 7000;
    std::vector<uint32_t> keys = randoms(n, 17);
    Buffer<uint32_t> a(keys);
    run([&](void *t, size_t &bytes) {
      return cub::DeviceMergeSort::SortKeys(t, bytes, a.get(), n, Less());
    });
    std::sort(keys.begin(), keys.end());
    return differ("sorted key", a.read(), keys);
  });
}

std::string corpus::cubRunLength() {
  return guarded([] {
    const int n = 10000;
    std::vector<uint32_t> in = randoms(n, 18, 3);
    Buffer<uint32_t> a(in), values(n), lengths(n), count(1);
    run([&](void *t, size_t &bytes) {
      return cub::DeviceRunLengthEncode::Encode(t, bytes, a.get(), values.get(),
                                                lengths.get(), count.get(), n);
    });
    std::vector<uint32_t> wantValues, wantLengths;
    for (uint32_t x : in) {
      if (wantValues.empty() || wantValues.back() != x)
        wantValues.push_back(x), wantLengths.push_back(0);
      ++wantLengths.back();
    }
    return differ("runs", count.read(), {uint32_t(wantValues.size())}) +
           differ("value", values.read(), wantValues) +
           differ("length", lengths.read(), wantLengths);
  });
}

std::string corpus::cubSegments() {
  return guarded([] {
    const int segments = 40;
    std::vector<int> offsets(1, 0);
    uint32_t state = 19;
    for (int i = 0; i < segments; ++i)
      offsets.push_back(offsets.back() + int(random(state) % 500));
    const std::vector<uint32_t> in = randoms(size_t(offsets.back()), 20);
    Buffer<uint32_t> a(in), sums(segments);
    Buffer<int> at(offsets);
    run([&](void *t, size_t &bytes) {
      return cub::DeviceSegmentedReduce::Sum(t, bytes, a.get(), sums.get(),
                                             segments, at.get(), at.get() + 1);
    });
    std::vector<uint32_t> expected;
    for (int i = 0; i < segments; ++i)
      expected.push_back(std::accumulate(in.begin() + offsets[size_t(i)],
                                         in.begin() + offsets[size_t(i) + 1],
                                         0u));
    return differ("segment", sums.read(), expected);
  });
}
