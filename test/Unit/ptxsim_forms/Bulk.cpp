// cp.async.bulk and cp.reduce.async.bulk of bytes: to global memory, to the
// shared memory of the CTA, of another one and of several, and the waits of
// bulk groups.

#include "test/Unit/ptxsim_forms/Deliveries.h"
#include "test/Unit/ptxsim_forms/Reduction.h"

using namespace ptxsim::forms;

namespace {

const std::string arrives = ".mbarrier::complete_tx::bytes",
                  several = ".multicast::cluster", hint = ".L2::cache_hint";

/// 48 bytes from in0 + 32 to 80 in shared memory.
void load(To to, const std::string &name, bool hasPolicy) {
  Setup setup;
  setup.in0 = numbers(64, 6), setup.in1 = numbers(64, 7);
  const Words got = deliver(
      {to, name, "[%d5+32], 48", hasPolicy ? ", %d8" : "", 80, 48, 256}, setup);
  Words expected;
  for (unsigned cta = 0; cta < ctas(to); ++cta) {
    Words shared = setup.in1;
    if (receives(to, cta))
      std::copy_n(setup.in0.begin() + 8, 12, shared.begin() + 20);
    expected.insert(expected.end(), shared.begin(), shared.end());
  }
  EXPECT_EQ(got, expected);
}

/// 80 bytes from 32 in shared memory to in0 + 64.
void store(const std::string &name, bool hasPolicy) {
  Setup setup;
  setup.in0 = numbers(64, 8), setup.in1 = numbers(64, 9);
  Words expected = setup.in0;
  std::copy_n(setup.in1.begin() + 8, 20, expected.begin() + 16);
  EXPECT_EQ(
      send(name + " [%d1+64], [%r1+32], 80" + (hasPolicy ? ", %d8;" : ";"),
           setup),
      expected);
}

/// Elements in the memory and in the source, and how they end.
void operands(const std::string &op, const std::string &type, Words &memory,
              Words &source, Words &result) {
  std::mt19937_64 random(op.size() + type.size());
  const unsigned bytes = reductionBytes(type);
  for (size_t at = 0; at < memory.size() * 4; at += bytes) {
    const uint64_t m = pickOperand(op, type, random),
                   s = at % 64 == 0 ? m : pickOperand(op, type, random);
    put(memory, at, m, bytes), put(source, at, s, bytes);
    put(result, at, reduced(op, type, m, s), bytes);
  }
}

/// 256 bytes, between others that stay.
void reduceGlobal(const std::string &name, const std::string &op,
                  const std::string &type, bool hasPolicy) {
  Words memory(64), source(64), result(64);
  operands(op, type, memory, source, result);
  Setup setup;
  setup.in1 = source;
  setup.in0 = numbers(72, 10);
  Words expected = setup.in0;
  std::copy(memory.begin(), memory.end(), setup.in0.begin() + 4);
  std::copy(result.begin(), result.end(), expected.begin() + 4);
  EXPECT_EQ(send(name + " [%d1+16], [%r1], 256" + (hasPolicy ? ", %d8;" : ";"),
                 setup),
            expected);
}

/// From CTA 0 to the memory of CTA 1: the source is behind the destination.
void reduceShared(const std::string &name, const std::string &op,
                  const std::string &type) {
  Words memory(64), source(64), result(64);
  operands(op, type, memory, source, result);
  Setup setup;
  setup.in1 = memory;
  setup.in1.insert(setup.in1.end(), source.begin(), source.end());
  const Words got =
      deliver({To::Other, name, "[%r1+256], 256", "", 0, 256, 512}, setup);
  Words expected = setup.in1;
  expected.insert(expected.end(), result.begin(), result.end());
  expected.insert(expected.end(), source.begin(), source.end());
  EXPECT_EQ(got, expected);
}

/// Two copies to global memory; what is read behind the waits, and written to
/// their source in shared memory.
void groups(const std::string &commit, const std::string &firstWait,
            const std::string &secondWait, bool onlyRead) {
  Setup setup;
  setup.options = lazily();
  setup.in0 = numbers(64, 11), setup.in1 = numbers(64, 12);
  setup.out.resize(2);
  const std::string use[] = {"ld.global.b32 %r5, [%d1+4];\n"
                             "st.global.b32 [%d0], %r5;\n",
                             "ld.global.b32 %r5, [%d1+132];\n"
                             "st.global.b32 [%d0+4], %r5;\n"},
                    overwrite[] = {"st.shared.b32 [%r1+4], 5;\n",
                                   "st.shared.b32 [%r1+68], 5;\n"};
  const std::string *then = onlyRead ? overwrite : use;
  const std::string copy = "cp.async.bulk.global.shared::cta.bulk_group ";
  const Memory got = launch(
      fillShared(256) + "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra END;\n" + copy +
          "[%d1], [%r1], 64;\n" + commit + copy + "[%d1+128], [%r1+64], 64;\n" +
          "cp.async.bulk.commit_group;\n" + firstWait +
          (firstWait.empty() ? "" : then[0]) + secondWait + then[0] + then[1] +
          "cp.async.bulk.wait_group 0;\nEND:",
      setup);
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(got.in0[i], setup.in1[i]);
    EXPECT_EQ(got.in0[32 + i], setup.in1[16 + i]);
  }
  if (!onlyRead) {
    EXPECT_EQ(got.out, (Words{setup.in1[1], setup.in1[17]}));
  }
}

} // namespace

FORMS(bulk) {
  for (bool hasPolicy : {false, true}) {
    const std::string policy = hasPolicy ? hint : "";
    const std::string own =
                          "cp.async.bulk.shared::cta.global" + arrives + policy,
                      other = "cp.async.bulk.shared::cluster.global" + arrives,
                      out = "cp.async.bulk.global.shared::cta.bulk_group" +
                            policy,
                      ahead = "cp.async.bulk.prefetch.L2.global" + policy;
    form(own, [=] { load(To::Own, own, hasPolicy); });
    form(other + policy, [=] {
      load(To::Other, other + policy, hasPolicy);
      load(To::Own, other + policy, hasPolicy);
    });
    form(other + several + policy,
         [=] { load(To::Several, other + several + policy, hasPolicy); });
    form(out, [=] { store(out, hasPolicy); });
    form(
        ahead,
        [=] {
          Setup setup;
          setup.in0 = numbers(64, 13);
          EXPECT_EQ(send(ahead + " [%d1+16], 64" + (hasPolicy ? ", %d8;" : ";"),
                         setup),
                    setup.in0);
        },
        Effect::Unseen);
  }
  const std::string within =
      "cp.async.bulk.shared::cluster.shared::cta" + arrives;
  form(within, [=] {
    Setup setup;
    setup.in1 = numbers(64, 14);
    Words expected = setup.in1, received = setup.in1;
    std::copy_n(setup.in1.begin() + 4, 12, received.begin() + 32);
    expected.insert(expected.end(), received.begin(), received.end());
    EXPECT_EQ(
        deliver({To::Other, within, "[%r1+16], 48", "", 128, 48, 256}, setup),
        expected);
  });
  const std::string commit = "cp.async.bulk.commit_group;\n",
                    wait = "cp.async.bulk.wait_group ",
                    read = "cp.async.bulk.wait_group.read ";
  for (const char *name :
       {"cp.async.bulk.commit_group", "cp.async.bulk.wait_group"})
    form(name, [=] {
      groups(commit, wait + "1;\n", wait + "0;\n", false);
      groups("", "", wait + "0;\n", false);
    });
  form("cp.async.bulk.wait_group.read", [=] {
    groups(commit, read + "1;\n", read + "0;\n", true);
    groups("", "", read + "0;\n", true);
  });
}

FORMS(bulkReduce) {
  const std::string types[][2] = {
      {"and", "b32"},  {"and", "b64"}, {"or", "b32"},   {"or", "b64"},
      {"xor", "b32"},  {"xor", "b64"}, {"inc", "u32"},  {"dec", "u32"},
      {"add", "u32"},  {"add", "s32"}, {"add", "u64"},  {"add", "f16"},
      {"add", "f32"},  {"add", "f64"}, {"add", "bf16"}, {"min", "u32"},
      {"min", "s32"},  {"min", "u64"}, {"min", "s64"},  {"min", "f16"},
      {"min", "bf16"}, {"max", "u32"}, {"max", "s32"},  {"max", "u64"},
      {"max", "s64"},  {"max", "f16"}, {"max", "bf16"}};
  for (const auto &[op, type] : types) {
    const std::string kind =
        "." + op +
        (op == "add" && reductionBytes(type) == 2 ? ".noftz." : ".") + type;
    for (bool hasPolicy : {false, true}) {
      const std::string name =
          "cp.reduce.async.bulk.global.shared::cta.bulk_group" +
          (hasPolicy ? hint : "") + kind;
      form(name, [=, op = op, type = type] {
        reduceGlobal(name, op, type, hasPolicy);
      });
    }
    if (type[0] == 'f' || type == "bf16" || type == "s64" ||
        (reductionBytes(type) == 8 && op != "add"))
      continue; // not to shared memory
    const std::string name = "cp.reduce.async.bulk.shared::cluster."
                             "shared::cta" +
                             arrives + kind;
    form(name, [=, op = op, type = type] { reduceShared(name, op, type); });
  }
}
