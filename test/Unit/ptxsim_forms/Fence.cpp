// fence, membar: one thread writes data, then a flag; another one sees the flag
// and reads the data. The fences between make that no race, if their scope has
// both threads: of one CTA, of two CTAs of a cluster, of two clusters. The
// checks for races say whether the ISA's memory model orders the data.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Message.h"
#include "test/Unit/ptxsim_forms/Names.h"

using namespace ptxsim;
using namespace ptxsim::forms;

namespace {

/// With `release` before the flag is set, and `acquire` when it has been seen.
std::string fencedMessage(Apart apart, const std::string &release,
                          const std::string &acquire) {
  return message(apart, {".global", false},
                 release + "\n  st.relaxed.sys.global.b32 [%flag], 1;",
                 "ld.relaxed.sys.global.b32 %r, [%flag];", acquire);
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
      const std::string said = fencedMessage(apart, release, acquire);
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
  for (const std::string &scope : scopes()) {
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
