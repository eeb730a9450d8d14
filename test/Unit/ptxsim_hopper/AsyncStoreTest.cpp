// st.async and red.async: values, and the misuse that the ISA leaves undefined.

#include "test/Unit/ptxsim_hopper/Kernel.h"

using namespace hopper;
using ptxsim::Async;
using ptxsim::Dim3;

namespace {

ptxsim::DeviceOptions inMode(Async async) {
  ptxsim::DeviceOptions options;
  options.async = async;
  return options;
}

/// Two CTAs: each thread executes `send`, which stores to [%r20] (shared window
/// of the other CTA) or [%d20] (generic) and signals [%r21] or [%d21]; `bytes`
/// arrive at each CTA. Then `receive` runs, where %r22 is the own address of
/// what the other CTA's thread has sent, 16 bytes per thread.
std::string exchange(unsigned bytes, const std::string &send,
                     const std::string &receive,
                     const std::string &before = "") {
  return kernel(R"(
    mov.u32 %r10, %cluster_ctarank;
    xor.b32 %r11, %r10, 1;
    shl.b32 %r12, %r0, 4;
    add.u32 %r22, %r1, %r12;
    add.u32 %r22, %r22, 64;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [%r1], 1;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], )" +
                    std::to_string(bytes) + ";\n" + before + R"(
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    mapa.shared::cluster.u32 %r20, %r22, %r11;
    mapa.shared::cluster.u32 %r21, %r1, %r11;
    cvt.u64.u32 %d10, %r22;
    cvta.shared.u64 %d10, %d10;
    mapa.u64 %d20, %d10, %r11;
    cvt.u64.u32 %d11, %r1;
    cvta.shared.u64 %d11, %d11;
    mapa.u64 %d21, %d11, %r11;
    )" + send + R"(
  WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], 0;
    @!%p2 bra WAIT;
    mad.lo.u32 %r13, %r10, 32, %r0;
    mul.wide.u32 %d12, %r13, 16;
    add.u64 %d13, %d0, %d12;
    )" + receive + R"(
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;)",
                ".explicitcluster .reqnctapercluster 2, 1, 1");
}

struct Result {
  std::string error;
  std::vector<uint32_t> words; ///< four per thread
};
Result run(const std::string &ptx, ptxsim::DeviceOptions options = {}) {
  Program program(ptx, options);
  if (!program.loadError.empty())
    return {program.loadError, {}};
  const uint64_t out = program.buffer(std::vector<uint32_t>(64 * 4));
  std::string error = program.run(32, out, 0, 0, {}, {2, 1, 1});
  return {error, program.read<uint32_t>(out, 64 * 4)};
}

const std::string mechanism = ".mbarrier::complete_tx::bytes";

TEST(AsyncStore, EveryTypeAndVector) {
  struct Form {
    std::string type;
    unsigned words, count;
  };
  std::vector<Form> forms;
  for (const char *type : {"b32", "u32", "s32", "f32"})
    for (unsigned n : {1u, 2u, 4u})
      forms.push_back({type, 1, n});
  for (const char *type : {"b64", "u64", "s64", "f64"})
    for (unsigned n : {1u, 2u})
      forms.push_back({type, 2, n});
  for (const Form &f : forms)
    for (const char *weak : {"", ".weak"})
      for (bool generic : {false, true})
        for (Async async : {Async::Eager, Async::Lazy, Async::Random}) {
          // Word i of a thread is 1000 * CTA + 10 * thread + i.
          std::string send = "mad.lo.u32 %r30, %r10, 1000, 0;\n"
                             "mad.lo.u32 %r30, %r0, 10, %r30;\n"
                             "add.u32 %r31, %r30, 1;\nadd.u32 %r32, %r30, 2;\n"
                             "add.u32 %r33, %r30, 3;\n"
                             "mov.b64 %d14, {%r30, %r31};\n"
                             "mov.b64 %d15, {%r32, %r33};\n";
          std::string value;
          for (unsigned i = 0; i < f.count; ++i)
            value += (i ? ", " : "") + (f.words == 2
                                            ? "%d" + std::to_string(14 + i)
                                            : "%r" + std::to_string(30 + i));
          if (f.count > 1)
            value = "{" + value + "}";
          send += "st.async" + std::string(weak) +
                  (generic ? "" : ".shared::cluster") + mechanism +
                  (f.count > 1 ? ".v" + std::to_string(f.count) : "") + "." +
                  f.type +
                  (generic ? " [%d20], " + value + ", [%d21];"
                           : " [%r20], " + value + ", [%r21];");
          const unsigned words = f.words * f.count;
          std::string receive;
          for (unsigned i = 0; i < words; ++i)
            receive += "ld.shared.b32 %r40, [%r22+" + std::to_string(4 * i) +
                       "]; st.global.b32 [%d13+" + std::to_string(4 * i) +
                       "], %r40;\n";
          const Result r =
              run(exchange(32 * 4 * words, send, receive), inMode(async));
          ASSERT_EQ(r.error, "") << send;
          for (unsigned t = 0; t < 64; ++t)
            for (unsigned i = 0; i < words; ++i)
              ASSERT_EQ(r.words[4 * t + i],
                        (1 - t / 32) * 1000 + t % 32 * 10 + i)
                  << send << " thread " << t;
        }
}

/// All 32 threads of the other CTA reduce into one word (or two).
std::vector<uint32_t> reduced(const std::string &form, const char *initial,
                              const char *values, unsigned bytes,
                              ptxsim::DeviceOptions options) {
  const std::string at = bytes == 8 ? "%d14" : "%r30";
  const Result r = run(
      exchange(32 * bytes,
               values +
                   std::string("mapa.shared::cluster.u32 %r24, %r25, "
                               "%r11;\n") +
                   "red.async.relaxed.cluster.shared::cluster" + mechanism +
                   "." + form + " [%r24], " + at + ", [%r21];",
               "ld.shared.b32 %r40, [%r25]; st.global.b32 [%d13], %r40;\n"
               "ld.shared.b32 %r40, [%r25+4]; st.global.b32 [%d13+4], %r40;\n",
               "add.u32 %r25, %r1, 32;\n" + std::string(initial)),
      options);
  EXPECT_EQ(r.error, "") << form;
  return {r.words[0], r.words[1]};
}

TEST(AsyncStore, Reductions) {
  using testing::ElementsAre;
  const std::string zero = "@%p0 st.shared.v2.b32 [%r25], {0, 0};\n",
                    ones = "@%p0 st.shared.v2.b32 [%r25], {-1, -1};\n",
                    five = "@%p0 st.shared.v2.b32 [%r25], {5, 0};\n",
                    thread = "mov.u32 %r30, %r0;\n",
                    less = "sub.u32 %r30, %r0, 16;\n",
                    bit = "shl.b32 %r30, 1, %r0;\n",
                    other = "shl.b32 %r30, 1, %r0; not.b32 %r30, %r30;\n"
                            "or.b32 %r30, %r30, 0xffff;\n",
                    wide = "mov.b32 %r31, 1; mov.b32 %r30, 0x80000000;\n"
                           "mov.b64 %d14, {%r30, %r31};\n",
                    limit = "mov.u32 %r30, 6;\n";
  for (Async async : {Async::Eager, Async::Lazy, Async::Random}) {
    const auto options = inMode(async);
    const auto of = [&](const char *form, const std::string &initial,
                        const std::string &values, unsigned bytes = 4) {
      return reduced(form, initial.c_str(), values.c_str(), bytes, options);
    };
    // 0 + 1 + ... + 31
    EXPECT_THAT(of("add.u32", five, thread), ElementsAre(501u, 0u));
    // -16 - 15 ... + 15
    EXPECT_THAT(of("add.s32", five, less), ElementsAre(uint32_t(5 - 16), 0u));
    // 32 * 0x1'80000000
    EXPECT_THAT(of("add.u64", five, wide, 8), ElementsAre(5u, 48u));
    EXPECT_THAT(of("add.s64", five, wide, 8), ElementsAre(5u, 48u));
    EXPECT_THAT(of("min.u32", ones, thread), ElementsAre(0u, ~0u));
    EXPECT_THAT(of("min.s32", five, less), ElementsAre(uint32_t(-16), 0u));
    EXPECT_THAT(of("max.u32", five, less), ElementsAre(~0u, 0u));
    EXPECT_THAT(of("max.s32", five, less), ElementsAre(15u, 0u));
    EXPECT_THAT(of("and.b32", ones, other), ElementsAre(0xffffu, ~0u));
    EXPECT_THAT(of("or.b32", zero, bit), ElementsAre(~0u, 0u));
    EXPECT_THAT(of("xor.b32", five, bit), ElementsAre(~5u, 0u));
    // 5 6 0 1 ... : of 32 steps in a cycle of 7.
    EXPECT_THAT(of("inc.u32", five, limit), ElementsAre((5u + 32) % 7, 0u));
    EXPECT_THAT(of("dec.u32", five, limit),
                ElementsAre((5u + 7 * 5 - 32) % 7, 0u));
  }
}

TEST(AsyncStore, CompletesTheBytesThatItStores) {
  // Only half of the expected bytes come.
  const std::string send =
      "st.async.shared::cluster" + mechanism + ".b32 [%r20], %r0, [%r21];";
  EXPECT_EQ(run(exchange(128, send, "")).error, "");
  EXPECT_THAT(run(exchange(256, send, "")).error, HasSubstr("deadlock"));
}

TEST(AsyncStore, TheWaitIsNeeded) {
  // A read without it.
  const std::string send = "st.async.shared::cluster" + mechanism +
                           ".b32 [%r20], %r0, [%r21];\n"
                           "ld.shared.b32 %r40, [%r22];\n";
  for (Async async : {Async::Eager, Async::Lazy})
    EXPECT_THAT(run(exchange(128, send, ""), inMode(async)).error,
                testing::AnyOf(HasSubstr("race"), HasSubstr("never written")));
}

TEST(AsyncStore, FaultsNameTheRule) {
  const std::string st = "st.async.shared::cluster" + mechanism;
  EXPECT_THAT(run(exchange(128, st + ".b32 [%r22], %r0, [%r1];", "")).error,
              HasSubstr("is in the CTA's own shared memory, expected that of "
                        "another CTA of the cluster"));
  EXPECT_THAT(run(exchange(128, st + ".b32 [%r20], %r0, [%r1];", "")).error,
              HasSubstr("of the cluster, expected that of the destination"));
  EXPECT_THAT(run(exchange(128, st + ".b32 [%r20], %r0, [%r21+8];", "")).error,
              HasSubstr("there is no mbarrier at address"));
  EXPECT_THAT(run(exchange(128, st + ".b64 [%r20+4], %d10, [%r21];", "")).error,
              HasSubstr("is not 8-byte aligned"));
  EXPECT_THAT(
      run(exchange(128, st + ".v4.b64 [%r20], {%d1,%d1,%d1,%d1}, [%r21];", ""))
          .error,
      HasSubstr("st.async.shared::cluster"));
  EXPECT_THAT(
      run(exchange(128, "st.async" + mechanism + ".b32 [%d0], %r0, [%d21];",
                   ""))
          .error,
      HasSubstr("is not in shared memory"));
}

TEST(AsyncStore, BelongsToTheGenericProxy) {
  // What it has stored a bulk copy may read behind a proxy fence.
  const std::string send = "st.async.shared::cluster" + mechanism +
                           ".v4.b32 [%r20], {%r0, %r0, %r0, %r0}, [%r21];";
  const auto copy = [](const std::string &fence) {
    return fence +
           "cp.async.bulk.global.shared::cta.bulk_group [%d13], [%r22], 16;\n"
           "cp.async.bulk.commit_group;\n"
           "cp.async.bulk.wait_group 0;\n";
  };
  EXPECT_THAT(run(exchange(512, send, copy(""))).error,
              HasSubstr("no fence.proxy.async has followed its last write"));
  const Result r =
      run(exchange(512, send, copy("fence.proxy.async.shared::cta;\n")));
  ASSERT_EQ(r.error, "");
  for (unsigned t = 0; t < 64; ++t)
    EXPECT_EQ(r.words[4 * t], t % 32);
}

} // namespace
