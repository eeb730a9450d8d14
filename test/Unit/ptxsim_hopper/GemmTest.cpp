// A kernel of nvcc's with TMA, mbarriers and wgmma (Inputs/gemm_sm90.cu)
// against a reference in double, with copies that arrive at once and as late as
// allowed.

#include "test/Unit/ptxsim_hopper/Kernel.h"

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

using namespace ptxsim;

namespace {

std::string readFile(const std::string &name) {
  std::ifstream in(K2C_SOURCE_DIR "/test/Unit/ptxsim_hopper/Inputs/" + name);
  EXPECT_TRUE(in.good()) << name;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<uint16_t> randomBF16(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> v(n);
  for (uint16_t &h : v)
    h = uint16_t(std::bit_cast<uint32_t>(normal(random)) >> 16);
  return v;
}
double value(uint16_t h) { return std::bit_cast<float>(uint32_t(h) << 16); }

TensorMap mapOf(uint64_t address, int rows, int columns) {
  TensorMapDesc d;
  d.type = TensorMapDesc::BFloat16;
  d.rank = 2;
  d.address = address;
  d.dims = {uint64_t(columns), uint64_t(rows)};
  d.strides = {uint64_t(columns) * 2};
  d.box = {64, 128};
  d.swizzle = TensorMapDesc::Swizzle128B;
  auto map = encodeTiled(d);
  EXPECT_EQ(map.message(), "");
  return *map;
}

/// `text` with every `from` replaced.
std::string edit(std::string text, const std::string &from,
                 const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  for (; at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// The launch's error, or empty; then `out` is compared.
std::string run(const std::string &ptx, int M, int N, int K,
                DeviceOptions options) {
  Device device(options);
  auto module = device.loadModule(ptx, "gemm_sm90.ptx");
  if (!module)
    return module.message();
  auto a = randomBF16(size_t(M) * K, 1), b = randomBF16(size_t(N) * K, 2);
  auto upload = [&](const auto &v, const char *name) {
    auto p = device.allocate(v.size() * sizeof v[0], name);
    EXPECT_TRUE(device.copyToDevice(*p, v.data(), v.size() * sizeof v[0]).ok());
    return *p;
  };
  uint64_t pa = upload(a, "A"), pb = upload(b, "B");
  uint64_t out = upload(std::vector<uint32_t>(size_t(M) * N, ~0u), "out");
  TensorMap mapA = mapOf(pa, M, K), mapB = mapOf(pb, N, K);
  const void *params[] = {&mapA, &mapB, &out, &M, &N, &K};
  Counters counters;
  const Dim3 grid{uint32_t(N + 127) / 128, uint32_t(M + 127) / 128, 1};
  Status status =
      device.launch(**module, *(*module)->find("gemm"), grid, {384, 1, 1},
                    3 * 32768 + 2048, params, &counters);
  if (!status)
    return status.message();
  EXPECT_EQ(counters.tensorFlops,
            uint64_t(grid.x) * grid.y * 2 * 128 * 128 * uint64_t(K));
  std::vector<float> c(size_t(M) * N);
  EXPECT_TRUE(device.copyToHost(c.data(), out, c.size() * 4).ok());
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0, magnitude = 0;
      for (int k = 0; k < K; ++k) {
        double p = value(a[size_t(i) * K + k]) * value(b[size_t(j) * K + k]);
        sum += p, magnitude += std::fabs(p);
      }
      // A rounding of 2^-24 of the partial sum for each product.
      const double error = std::fabs(c[size_t(i) * N + j] - sum);
      if (!(error <= magnitude * K * 0x1p-24))
        return "wrong result";
    }
  return "";
}

TEST(HopperGemm, AgreesWithDouble) {
  const std::string ptx = readFile("gemm_sm90.ptx");
  for (Schedule schedule :
       {Schedule::RoundRobin, Schedule::Reverse, Schedule::Random})
    for (bool lazy : {false, true}) {
      DeviceOptions options;
      options.schedule = schedule, options.lazyAsync = lazy;
      EXPECT_EQ(run(ptx, 128, 128, 64, options), "");
      EXPECT_EQ(run(ptx, 128, 128, 320, options), "");
      EXPECT_EQ(run(ptx, 200, 152, 448, options), "");
    }
}

TEST(HopperGemm, FaultsPutIntoItAreFound) {
  const std::string ptx = readFile("gemm_sm90.ptx");
  DeviceOptions lazy;
  lazy.lazyAsync = true;
  // More or fewer bytes than the copies bring: the wait never ends.
  for (const char *bytes : {", 32752;", ", 32784;"})
    EXPECT_THAT(run(edit(ptx, ", 32768;", bytes), 128, 128, 64, lazy),
                testing::HasSubstr("deadlock"));
  EXPECT_NE(run(edit(ptx, "wgmma.wait_group.sync.aligned 0;",
                     "wgmma.wait_group.sync.aligned 1;"),
                128, 128, 128, lazy),
            "");
  EXPECT_THAT(
      run(edit(ptx, "wgmma.fence.sync.aligned;", ""), 128, 128, 128, lazy),
      testing::HasSubstr("wgmma.fence"));
}

} // namespace
