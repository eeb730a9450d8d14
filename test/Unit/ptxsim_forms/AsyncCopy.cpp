// cp.async of 4, 8 and 16 bytes, whole, with a source size (the rest is zero)
// and with the source ignored (all is zero); groups and mbarriers that wait for
// them, in the mode in which a copy is done no earlier than that.

#include "test/Unit/ptxsim_forms/Machine.h"

using namespace ptxsim::forms;

namespace {

void copies(const std::string &name, const std::vector<unsigned> &sizes,
            bool hasPolicy) {
  // Lane l copies from in0 + 32 l to the chunk 31 - l of region after region.
  const std::string policy = hasPolicy ? ", %d8" : "";
  Setup setup;
  setup.in0 = numbers(256, 4);
  const unsigned regions = unsigned(sizes.size()) * 3;
  setup.in1.assign(regions * 256, 0xeeeeeeee);
  setup.out.resize(regions * 256);
  std::string body = fillShared(regions * 1024) + R"(
  createpolicy.fractional.L2::evict_first.b64 %d8, 1.0;
  mad.wide.u32 %d5, %r0, 32, %d1;
  sub.u32 %r4, 31, %r0;
  mad.lo.u32 %r5, %r4, 32, %r1;
  and.b32 %r6, %r0, 1;
  setp.ne.u32 %p1, %r6, 0;
)";
  Words expected = setup.in1;
  unsigned at = 0;
  for (unsigned size : sizes) {
    const std::string bytes = std::to_string(size);
    body += "rem.u32 %r7, %r0, " + std::to_string(size + 1) + ";\n";
    for (const char *source : {"", ", %r7", ", %p1"}) {
      const std::string last = *source || hasPolicy ? source + policy : "";
      body += name + " [%r5+" + std::to_string(at) + "], [%d5], " + bytes +
              last + ";\n";
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned taken = *source == 0       ? size
                               : source[3] == 'r' ? lane % (size + 1)
                               : lane % 2         ? 0
                                                  : size;
        for (unsigned i = 0; i < size; ++i)
          put(expected, at + (31 - lane) * 32 + i,
              i < taken ? get(setup.in0, lane * 32 + i, 1) : 0, 1);
      }
      at += 1024;
    }
  }
  body += "cp.async.wait_all;\n" + dumpShared(regions * 1024);
  EXPECT_EQ(launch(body, setup).out, expected);
}

/// Each lane copies 16 bytes twice (A, B) and stores a word of each; the texts
/// stand between.
void waits(const std::string &afterA, const std::string &afterB,
           const std::string &beforeA, const std::string &beforeB,
           uint32_t flag = 1) {
  Setup setup;
  setup.options = lazily();
  setup.in0 = numbers(512, 5);
  setup.in1.assign(256, 0xeeeeeeee);
  setup.out.resize(96);
  Words expected(96);
  for (unsigned lane = 0; lane < 32; ++lane) {
    expected[lane * 3] = setup.in0[lane * 4 + 1];
    expected[lane * 3 + 1] = setup.in0[lane * 4 + 128 + 2];
    expected[lane * 3 + 2] = flag;
  }
  EXPECT_EQ(launch(R"(
  setp.eq.u32 %p0, %r0, 0;
  add.u32 %r2, %r1, 2048;
  cvt.u64.u32 %d9, %r2;
  cvta.shared.u64 %d9, %d9;
  @%p0 mbarrier.init.shared.b64 [%r2], 32;
  mov.pred %p1, 1;
)" + fillShared(1024) +
                       R"(
  mad.wide.u32 %d5, %r0, 16, %d1;
  mad.wide.u32 %d6, %r0, 12, %d0;
  mad.lo.u32 %r5, %r0, 16, %r1;
  cp.async.cg.shared.global [%r5], [%d5], 16;
)" + afterA + "cp.async.cg.shared.global [%r5+512], [%d5+512], 16;\n" +
                       afterB + beforeA + R"(
  ld.shared.b32 %r6, [%r5+4];
  st.global.b32 [%d6], %r6;
)" + beforeB + R"(
  ld.shared.b32 %r6, [%r5+520];
  st.global.b32 [%d6+4], %r6;
  selp.b32 %r7, 1, 0, %p1;
  st.global.b32 [%d6+8], %r7;
)",
                   setup)
                .out,
            expected);
}

} // namespace

FORMS(asyncCopy) {
  for (const char *shared : {".shared", ".shared::cta"})
    for (const char *hint : {"", ".L2::cache_hint"})
      for (const char *fetch : {"", ".L2::64B", ".L2::128B", ".L2::256B"}) {
        const std::string rest = shared + std::string(".global") + hint + fetch;
        form("cp.async.ca" + rest,
             [=] { copies("cp.async.ca" + rest, {4, 8, 16}, *hint); });
        form("cp.async.cg" + rest,
             [=] { copies("cp.async.cg" + rest, {16}, *hint); });
      }
  const std::string commit = "cp.async.commit_group;\n";
  for (const char *name : {"cp.async.commit_group", "cp.async.wait_group"})
    form(name, [=] {
      waits(commit, commit, "cp.async.wait_group 1;\n",
            "cp.async.wait_group 0;\n");
      waits("", commit, "cp.async.wait_group 0;\n", "");
    });
  form("cp.async.wait_all", [=] {
    waits(commit, "", "cp.async.wait_all;\n", "");
    waits("", "", "cp.async.wait_all;\n", "");
  });
  // .noinc takes one of the 32 expected arrivals; without it the count is
  // raised by the one that follows, so that the threads' own are needed, and
  // exactly one phase completes.
  for (const char *space : {"", ".shared", ".shared::cta"})
    for (bool noinc : {false, true}) {
      const std::string name = std::string("cp.async.mbarrier.arrive") +
                               (noinc ? ".noinc" : "") + space + ".b64";
      form(name, [=] {
        const std::string arrive = name + (*space ? " [%r2];\n" : " [%d9];\n");
        waits("",
              arrive + (noinc ? "" : "mbarrier.arrive.shared.b64 _, [%r2];"),
              await("%r2") +
                  "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0;\n",
              "");
        // However often it joins, one phase ends and the next stays open.
        if (!noinc)
          waits("", arrive + arrive + "mbarrier.arrive.shared.b64 _, [%r2];",
                await("%r2") + "mbarrier.test_wait.parity.shared.b64 %p1, "
                               "[%r2], 1;\n",
                "", 0);
      });
    }
}
