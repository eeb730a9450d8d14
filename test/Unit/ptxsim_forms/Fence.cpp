// fence, membar: one thread writes data, then a flag; another one sees the flag
// and reads the data. The fences between make that no race, if their scope has
// both threads: of one CTA, of two CTAs of a cluster, of two clusters. The
// checks for races say whether the ISA's memory model orders the data.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"

using namespace ptxsim;
using namespace ptxsim::forms;

namespace {

enum class Apart { Warps, Ctas, Clusters };

/// What a run in which `release` and `acquire` stand beside the accesses to
/// the flag says, and what the reader got. The reader is in another warp, CTA
/// or cluster.
std::string message(Apart apart, const std::string &release,
                    const std::string &acquire) {
  DeviceOptions options;
  options.checks.globalRaces = true;
  const bool warps = apart == Apart::Warps;
  const std::string directive =
      apart == Apart::Ctas ? ".reqnctapercluster 2, 1, 1\n" : "";
  Program program(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 flag, .param .u64 out)
)" + directive + R"({
  .reg .b32 %me, %r, %i; .reg .b64 %data, %flag, %out; .reg .pred %p;
  ld.param.u64 %data, [data];
  ld.param.u64 %flag, [flag];
  ld.param.u64 %out, [out];
)" +
                      (warps
                           ? "  mov.u32 %me, %tid.x;\n  shr.u32 %me, %me, 5;\n"
                           : "  mov.u32 %me, %ctaid.x;\n") +
                      R"(  mov.u32 %r, %tid.x;
  and.b32 %r, %r, 31;
  setp.ne.u32 %p, %r, 0;
  @%p bra END;
  setp.ne.u32 %p, %me, 0;
  @%p bra READER;
  st.global.b32 [%data], 42;
  )" + release + R"(
  st.relaxed.sys.global.b32 [%flag], 1;
  bra END;
READER:
  mov.u32 %i, 0;
AGAIN:
  add.u32 %i, %i, 1;
  setp.gt.u32 %p, %i, 10000;
  @%p bra END;
  ld.relaxed.sys.global.b32 %r, [%flag];
  setp.eq.u32 %p, %r, 0;
  @%p bra AGAIN;
  )" + acquire + R"(
  ld.global.b32 %r, [%data];
  st.global.b32 [%out], %r;
END:
  ret;
}
)",
                  options);
  EXPECT_EQ(program.loadError, "");
  if (!program.module)
    return "";
  const uint64_t data = program.buffer("data", std::vector<uint32_t>(1));
  const uint64_t flag = program.buffer("flag", std::vector<uint32_t>(1));
  const uint64_t out = program.buffer("out", std::vector<uint32_t>(1));
  const Status status = program.run(
      {data, flag, out}, {warps ? 64u : 32u, 1, 1}, {warps ? 1u : 2u, 1, 1});
  if (status.ok())
    EXPECT_EQ(program.read<uint32_t>(out, 1)[0], 42u);
  return status.message();
}

/// cta has warps of a CTA in common, cluster its CTAs, others all.
bool inScope(const std::string &scope, Apart apart) {
  return apart == Apart::Warps ||
         (apart == Apart::Ctas ? scope != "cta"
                               : scope != "cta" && scope != "cluster");
}

void testFence(const std::string &name, const std::string &scope, bool releases,
               bool acquires) {
  const std::string fence = name + ";";
  // Not the form under test.
  const std::string other =
      name == "fence.acq_rel.sys" ? "fence.sc.sys;" : "fence.acq_rel.sys;";
  using testing::HasSubstr;
  for (const Apart apart : {Apart::Warps, Apart::Ctas, Apart::Clusters}) {
    const auto expect = [&](const std::string &release,
                            const std::string &acquire, bool ordered) {
      const std::string said = message(apart, release, acquire);
      if (ordered)
        EXPECT_EQ(said, "") << name << " " << int(apart);
      else
        EXPECT_THAT(said, HasSubstr("race")) << name << " " << int(apart);
    };
    const bool in = inScope(scope, apart);
    expect(fence, other, releases && in);
    expect(other, fence, acquires && in);
    expect(fence, fence, releases && acquires && in);
  }
}

/// As above, with data and flag in the shared memory of the writer's CTA.
std::string sharedMessage(const std::string &release,
                          const std::string &acquire) {
  Program program(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqnctapercluster 2, 1, 1
{
  .shared .b32 data[2];
  .reg .b32 %r, %i, %at; .reg .b64 %out; .reg .pred %p;
  ld.param.u64 %out, [out];
  st.shared.b32 [data], 0;
  st.shared.b32 [data+4], 0;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %at, data;
  mov.u32 %r, %cluster_ctarank;
  setp.ne.u32 %p, %r, 0;
  @%p bra READER;
  st.shared.b32 [data], 42;
  )" + release + R"(
  st.relaxed.cluster.shared::cta.b32 [data+4], 1;
  bra END;
READER:
  mapa.shared::cluster.u32 %at, %at, 0;
  mov.u32 %i, 0;
AGAIN:
  add.u32 %i, %i, 1;
  setp.gt.u32 %p, %i, 10000;
  @%p bra END;
  ld.relaxed.cluster.shared::cluster.b32 %r, [%at+4];
  setp.eq.u32 %p, %r, 0;
  @%p bra AGAIN;
  )" + acquire + R"(
  ld.shared::cluster.b32 %r, [%at];
  st.global.b32 [%out], %r;
END:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
}
)");
  EXPECT_EQ(program.loadError, "");
  if (!program.module)
    return "";
  const uint64_t out = program.buffer("out", std::vector<uint32_t>(1));
  const Status status = program.run({out}, {1, 1, 1}, {2, 1, 1});
  if (status.ok())
    EXPECT_EQ(program.read<uint32_t>(out, 1)[0], 42u);
  return status.message();
}

void testRestricted(const std::string &name, bool releases) {
  const std::string fence = name + ";", other = "fence.acq_rel.cluster;";
  EXPECT_EQ(
      releases ? sharedMessage(fence, other) : sharedMessage(other, fence), "");
  EXPECT_THAT(releases ? sharedMessage(other, fence)
                       : sharedMessage(fence, other),
              testing::HasSubstr("race"));
}

const std::string restrictedAcquire =
    "fence.acquire.sync_restrict::shared::cluster.cluster";
const std::string restrictedRelease =
    "fence.release.sync_restrict::shared::cta.cluster";

} // namespace

FORMS(fences) {
  for (const std::string &scope :
       std::vector<std::string>{"cta", "cluster", "gpu", "sys"}) {
    for (const std::string sem : {"", ".sc", ".acq_rel"})
      form("fence" + sem + "." + scope,
           [=] { testFence("fence" + sem + "." + scope, scope, true, true); });
    form("fence.acquire." + scope,
         [=] { testFence("fence.acquire." + scope, scope, false, true); });
    form("fence.release." + scope,
         [=] { testFence("fence.release." + scope, scope, true, false); });
  }
  for (const auto &[level, scope] :
       {std::pair<std::string, std::string>{"cta", "cta"},
        {"gl", "gpu"},
        {"sys", "sys"}}) {
    const std::string name = "membar." + level, as = scope;
    form(name, [=] { testFence(name, as, true, true); });
  }
  form(restrictedAcquire, [] { testRestricted(restrictedAcquire, false); });
  form(restrictedRelease, [] { testRestricted(restrictedRelease, true); });
}

// Those of the asynchronous proxy order the generic one too.
TEST(Fences, OfTheAsynchronousProxyOrderTheGenericOne) {
  for (const bool releases : {false, true}) {
    std::string name = releases ? restrictedRelease : restrictedAcquire;
    name.insert(std::string("fence").size(), ".proxy.async::generic");
    check(name, [=] { testRestricted(name, releases); });
  }
}
