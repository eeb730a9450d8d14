// The timeline of --profile: valid trace JSON, disjoint slices on a track,
// pairs of events, and clocks that follow who waits for whom.

#include "runtime/ptxsim/counting/Timeline.h"
#include "test/Unit/ptxsim_count/Counted.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace counted;
using nlohmann::json;

namespace {

json traceOf(const std::string &body, uint32_t threads, Dim3 grid = {},
             std::optional<Dim3> cluster = std::nullopt,
             size_t limit = 100000) {
  DeviceOptions options;
  options.checks.uninitialisedShared = false;
  Device device(options);
  Timeline timeline(limit);
  device.observe({&timeline});
  auto module = device.loadModule(kernel(body), "k.ptx");
  EXPECT_TRUE(module) << module.message();
  if (!module)
    return {};
  const uint64_t in = *device.allocate(65536, "in");
  const void *params[] = {&in, &in};
  const Status status =
      device.launch(**module, (*module)->kernels()[0], grid, {threads, 1, 1}, 0,
                    params, nullptr, cluster);
  EXPECT_TRUE(status) << status.message();
  return json::parse(timeline.json());
}

/// What the format wants of every trace.
void expectValid(const json &trace) {
  ASSERT_TRUE(trace["traceEvents"].is_array());
  std::map<std::pair<int, int>, std::vector<std::pair<uint64_t, uint64_t>>>
      tracks;
  std::map<int, json> open;
  std::set<int> named;
  for (const json &e : trace["traceEvents"]) {
    const std::string phase = e["ph"];
    ASSERT_TRUE(e["name"].is_string() && e["pid"].is_number_integer()) << e;
    if (phase == "M") {
      ASSERT_TRUE(e["args"]["name"].is_string());
      if (e["name"] == "process_name")
        named.insert(e["pid"].get<int>());
      continue;
    }
    ASSERT_TRUE(e["tid"].is_number_integer() && e["ts"].is_number_unsigned());
    EXPECT_TRUE(named.contains(e["pid"].get<int>()));
    if (phase == "X") {
      const uint64_t begin = e["ts"], length = e["dur"];
      tracks[{e["pid"], e["tid"]}].push_back({begin, begin + length});
    } else if (phase == "b") {
      EXPECT_TRUE(open.emplace(e["id"].get<int>(), e).second);
    } else if (phase == "e") {
      const auto it = open.find(e["id"].get<int>());
      ASSERT_NE(it, open.end());
      EXPECT_EQ(it->second["name"], e["name"]);
      EXPECT_EQ(it->second["cat"], e["cat"]);
      EXPECT_EQ(it->second["pid"], e["pid"]);
      EXPECT_LE(it->second["ts"].get<uint64_t>(), e["ts"].get<uint64_t>());
      open.erase(it);
    } else {
      EXPECT_EQ(phase, "i");
    }
  }
  EXPECT_TRUE(open.empty());
  for (auto &[track, slices] : tracks) {
    std::sort(slices.begin(), slices.end());
    for (size_t i = 1; i < slices.size(); ++i)
      EXPECT_LE(slices[i - 1].second, slices[i].first)
          << "pid " << track.first << " tid " << track.second;
  }
}

std::vector<json> named(const json &trace, const std::string &name) {
  std::vector<json> found;
  for (const json &e : trace["traceEvents"])
    if (e["name"] == name)
      found.push_back(e);
  return found;
}

TEST(Timeline, BarrierTakesTheEarlyWarpToTheLateOne) {
  // Warp 0 arrives after 7 instructions, warp 1 after 9.
  const json t = traceOf(R"(
  setp.lt.u32 %p0, %r0, 32;
  @%p0 bra MEET;
  add.u32 %r2, %r0, 1;
  add.u32 %r2, %r2, 1;
MEET:
  bar.sync 3;
  add.u32 %r2, %r0, 1;)",
                         64);
  expectValid(t);
  const std::vector<json> waits = named(t, "barrier 3");
  ASSERT_EQ(waits.size(), 2u); // a wait, and the release
  EXPECT_EQ(waits[0]["tid"], 0);
  EXPECT_EQ(waits[0]["ts"], 7);
  EXPECT_EQ(waits[0]["dur"], 2);
  EXPECT_EQ(waits[1]["ph"], "i");
  EXPECT_EQ(waits[1]["ts"], 9);
  EXPECT_EQ(named(t, "thread_name").size(), 2u);
}

// The one that arrives last in the simulation may be the one that waits.
TEST(Timeline, WaitOfTheWarpThatReleases) {
  const json t = traceOf(R"(
  setp.ge.u32 %p0, %r0, 32;
  @%p0 bra MEET;
  add.u32 %r2, %r0, 1;
  add.u32 %r2, %r2, 1;
MEET:
  bar.sync 3;
  add.u32 %r2, %r0, 1;)",
                         64);
  expectValid(t);
  const std::vector<json> waits = named(t, "barrier 3");
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[1]["tid"], 1);
  EXPECT_EQ(waits[1]["ts"], 7);
  EXPECT_EQ(waits[1]["dur"], 2);
}

const std::string pipeline = R"(
  setp.eq.u32 %p0, %r0, 0;
  add.u32 %r20, %r1, 16384;
  @%p0 mbarrier.init.shared.b64 [%r20], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  setp.ge.u32 %p2, %r0, 32;
  @%p2 bra CONSUME;
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 256, [%r20];
  bra END;
CONSUME:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;
  @!%p1 bra CONSUME;
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r2,%r2,%r2,%r2}, {%r2,%r2}, {%f0,%f1,%f2,%f3};
END:)";

TEST(Timeline, RolesAndCopies) {
  for (const Dim3 grid : {Dim3{1, 1, 1}, Dim3{3, 1, 1}}) {
    const json t = traceOf(pipeline, 64, grid);
    expectValid(t);
    std::multiset<std::string> roles;
    for (const json &e : named(t, "thread_name"))
      roles.insert(e["args"]["name"]);
    EXPECT_EQ(roles.count("warp 0 (producer)"), grid.x);
    EXPECT_EQ(roles.count("warp 1 (tensor)"), grid.x);
    const std::vector<json> copies = named(t, "bulk load");
    ASSERT_EQ(copies.size(), 2u * grid.x);
    EXPECT_EQ(copies[0]["args"]["bytes"], 256);
    EXPECT_EQ(named(t, "tensor").size(), grid.x);
  }
  EXPECT_EQ(named(traceOf(pipeline, 64), "process_name")[0]["args"]["name"],
            "k cta (0,0,0)");
}

TEST(Timeline, ClusterBarrier) {
  // Rank 0 arrives at 8 and is through with its wait at 9, rank 1 arrives
  // at 11.
  const json t = traceOf(R"(
  mov.u32 %r3, %cluster_ctarank;
  setp.eq.u32 %p0, %r3, 0;
  @%p0 bra MEET;
  add.u32 %r2, %r0, 1;
  add.u32 %r2, %r0, 2;
  add.u32 %r2, %r0, 3;
MEET:
  barrier.cluster.arrive;
  barrier.cluster.wait;)",
                         32, {2, 1, 1}, Dim3{2, 1, 1});
  expectValid(t);
  const std::vector<json> waits = named(t, "cluster barrier");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0]["pid"], 1);
  EXPECT_EQ(waits[0]["ts"], 9);
  EXPECT_EQ(waits[0]["dur"], 2);
}

TEST(Timeline, CopyGroups) {
  const json t = traceOf(R"(
  mad.lo.u32 %r2, %r0, 16, %r1;
  cp.async.cg.shared.global [%r2], [%d0], 16;
  cp.async.commit_group;
  cp.async.cg.shared.global [%r2+512], [%d0], 16;
  cp.async.commit_group;
  cp.async.wait_group 1;
  cp.async.wait_group 0;)",
                         32);
  expectValid(t);
  const std::vector<json> copies = named(t, "cp.async");
  ASSERT_EQ(copies.size(), 4u);
  // Issued as instructions 5 and 7, waited for by 9 and 10.
  EXPECT_EQ(copies[0]["ts"], 5);
  EXPECT_EQ(copies[1]["ts"], 10);
  EXPECT_EQ(copies[2]["ts"], 7);
  EXPECT_EQ(copies[3]["ts"], 11);
}

TEST(Timeline, LimitIsSaid) {
  const json t =
      traceOf("  bar.sync 0;\n  bar.sync 0;", 64, {}, std::nullopt, 3);
  EXPECT_EQ(t["otherData"]["truncated"], true);
  expectValid(t);
}

} // namespace
