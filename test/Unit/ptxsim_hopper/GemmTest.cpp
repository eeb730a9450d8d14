// A kernel of nvcc's with TMA, mbarriers and wgmma (Inputs/gemm_sm90.cu)
// against a reference in double, with copies that arrive at once and as late as
// allowed.

#include "test/Unit/ptxsim_hopper/Kernel.h"

#include <cmath>
#include <fstream>
#include <map>
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

struct Reference {
  std::vector<double> sums, magnitudes;
};
/// Computed once for each size: the input depends on nothing else.
const Reference &referenceOf(int M, int N, int K,
                             const std::vector<uint16_t> &a,
                             const std::vector<uint16_t> &b) {
  static std::map<std::array<int, 3>, Reference> known;
  auto [it, isNew] = known.try_emplace({M, N, K});
  Reference &r = it->second;
  if (isNew)
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < K; ++k) {
          double p = value(a[size_t(i) * K + k]) * value(b[size_t(j) * K + k]);
          sum += p, magnitude += std::fabs(p);
        }
        r.sums.push_back(sum), r.magnitudes.push_back(magnitude);
      }
  return r;
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
  if (counters.tensorFlops !=
      uint64_t(grid.x) * grid.y * 2 * 128 * 128 * uint64_t(K))
    return "wrong number of tensor operations";
  std::vector<float> c(size_t(M) * N);
  EXPECT_TRUE(device.copyToHost(c.data(), out, c.size() * 4).ok());
  const Reference &reference = referenceOf(M, N, K, a, b);
  for (size_t i = 0; i < c.size(); ++i)
    // A rounding of 2^-24 of the partial sum for each product.
    if (!(std::fabs(c[i] - reference.sums[i]) <=
          reference.magnitudes[i] * K * 0x1p-24))
      return "wrong result";
  return "";
}

TEST(HopperGemm, AgreesWithDouble) {
  const std::string ptx = readFile("gemm_sm90.ptx");
  for (Schedule schedule :
       {Schedule::RoundRobin, Schedule::Reverse, Schedule::Random})
    for (bool lazy : {false, true}) {
      DeviceOptions options;
      options.schedule = schedule,
      options.async = lazy ? ptxsim::Async::Lazy : ptxsim::Async::Eager;
      EXPECT_EQ(run(ptx, 128, 128, 64, options), "");
      EXPECT_EQ(run(ptx, 128, 128, 320, options), "");
      EXPECT_EQ(run(ptx, 200, 152, 448, options), "");
    }
}

TEST(HopperGemm, FaultsPutIntoItAreFound) {
  const std::string ptx = readFile("gemm_sm90.ptx");
  DeviceOptions lazy;
  lazy.async = ptxsim::Async::Lazy;
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

/// The first error under all schedules and both kinds of copies.
std::string runAll(const std::string &ptx, int K) {
  for (Schedule schedule :
       {Schedule::RoundRobin, Schedule::Reverse, Schedule::Random})
    for (bool lazy : {false, true}) {
      DeviceOptions options;
      options.threads = 1, options.instructionLimit = 3'000'000;
      options.schedule = schedule,
      options.async = lazy ? ptxsim::Async::Lazy : ptxsim::Async::Eager;
      if (std::string error = run(ptx, 128, 128, K, options); !error.empty())
        return error;
    }
  return "";
}

TEST(HopperGemm, WaitOfOneWarpCoversItsWarpgroup) {
  // Without the barrier, one thread gives the stage back after its own wait:
  // the warps of a warpgroup compute together.
  EXPECT_EQ(
      runAll(edit(readFile("gemm_sm90.ptx"), "bar.sync %r7, 128;", ""), 640),
      "");
}

TEST(HopperGemm, EveryDroppedInstructionIsFound) {
  const std::string ptx = readFile("gemm_sm90.ptx");
  int dropped = 0;
  bool isFenced = false;
  for (size_t at = 0, end; at < ptx.size(); at = end + 1) {
    end = ptx.find('\n', at);
    const std::string line = ptx.substr(at, end - at);
    auto has = [&](const char *text) {
      return line.find(text) != std::string::npos;
    };
    if (!has("mbarrier.") && !has("wgmma.") && !has("bar") && !has("cp.async"))
      continue;
    if (has("//") || has(".reg"))
      continue;
    // Without effect: fences between wgmma of one shape on the same registers,
    // all but the first; the barrier of the test above; the arrival in the loop
    // for the last steps, which nobody waits for.
    if ((has("wgmma.fence") && std::exchange(isFenced, true)) ||
        has("bar.sync %r7") ||
        (has("mbarrier.arrive.shared") && ptx.find(line, end) == ptx.npos))
      continue;
    ++dropped;
    EXPECT_NE(runAll(ptx.substr(0, at) + ptx.substr(end), 640), "")
        << "without line: " << line;
  }
  EXPECT_GT(dropped, 50);
}

} // namespace
