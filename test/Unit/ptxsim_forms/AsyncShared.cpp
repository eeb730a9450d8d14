// st.async, red.async: 32 threads of each CTA of a cluster write into the other
// one's shared memory, and so many bytes are completed at an mbarrier there.
// Who waits for its phase sees the values; without them it never completes.
// AsyncStore.cpp has the forms one by one, with a single thread.

#include "test/Unit/ptxsim_forms/AtomicReference.h"
#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"
#include "test/Unit/ptxsim_forms/Slots.h"

using namespace ptxsim::forms;

namespace {

/// `statements` between an mbarrier that expects `bytes` in each CTA, the other
/// one's address in %there, and the wait for it.
std::string exchanged(const std::string &statements, size_t bytes,
                      bool generic) {
  return R"(  .shared .align 8 .b64 arrived;
  .reg .b64 %here, %there;
  .reg .b32 %turns;
  .reg .pred %first, %done;
  mov.u64 %here, arrived;
  setp.eq.u32 %first, %t, 0;
  @%first mbarrier.init.shared.b64 [%here], 1;
  @%first mbarrier.arrive.expect_tx.shared.b64 _, [%here], )" +
         std::to_string(bytes) + R"(;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  mapa.shared::cluster.u64 %there, %here, %peer;
)" + (generic ? "  cvta.shared::cluster.u64 %there, %there;\n" : "") +
         statements + R"(
  mov.u32 %turns, 0;
WAIT:
  add.u32 %turns, %turns, 1;
  setp.gt.u32 %done, %turns, 50;
  @%done bra ARRIVED;
  mbarrier.try_wait.parity.acquire.cluster.shared.b64 %done, [%here], 0;
  @!%done bra WAIT;
ARRIVED:
)";
}

void testStore(const std::string &name) {
  const std::vector<std::string> words = wordsOf(name);
  const unsigned bits = unsigned(std::stoul(words.back().substr(1)));
  const unsigned count = hasWord(words, "v2")   ? 2
                         : hasWord(words, "v4") ? 4
                                                : 1;
  const bool generic = !hasWord(words, "shared::cluster");
  for (const bool lazy : {false, true}) {
    SlotRun run;
    run.reach = {Place::Peer, generic};
    run.form = name;
    run.lazy = lazy;
    const std::string width = std::to_string(bits);
    std::string body = "  .reg .b64 %value;\n  .reg .b" + width +
                       " %v<4>;\n"
                       "  mad.wide.u32 %value, %thread, 32, %values;\n";
    std::string list;
    for (unsigned i = 0; i < count; ++i) {
      const std::string v = "%v" + std::to_string(i);
      body += "  ld.global.nc.b" + width + " " + v + ", [%value+" +
              std::to_string(8 * i) + "];\n";
      list += (i ? ", " : "") + v;
    }
    if (count > 1)
      list = "{" + list + "}";
    run.body =
        exchanged(body + "  " + name + " [%a+32], " + list + ", [%there];\n",
                  32 * count * bits / 8, generic);
    run.slots = patternBytes(run.threads() * slotBytes, 5);
    const std::vector<uint8_t> random = patternBytes(run.threads() * 32, 6);
    for (size_t at = 0; at < random.size(); at += 8)
      run.values.push_back(numberAt(random, at, 8));
    std::vector<uint8_t> expected = run.slots;
    for (size_t t = 0; t < run.threads(); ++t)
      for (unsigned i = 0; i < count; ++i)
        setNumberAt(expected, run.slotOf(t) * slotBytes + 32 + i * bits / 8,
                    bits / 8, run.values[4 * t + i]);
    if (run.run())
      EXPECT_EQ(run.slots, expected) << name;
  }
}

/// At addresses of their own, on numbers at which the operations differ, and
/// all at one.
void testReduction(const std::string &name) {
  const std::vector<std::string> words = wordsOf(name);
  const bool generic = !hasWord(words, "shared::cluster");
  AtomicElement element;
  element.operation = words[words.size() - 2];
  element.type = words.back();
  element.bits = unsigned(std::stoul(element.type.substr(1)));
  const unsigned bytes = element.bits / 8;
  const std::vector<AtomicCase> cases = atomicCases(element);
  const Contention together = contention(element, false, 0);
  for (const bool lazy : {false, true}) {
    SlotRun run;
    run.reach = {Place::Peer, generic};
    run.form = name;
    run.lazy = lazy;
    const std::string width = std::to_string(element.bits);
    std::string body = "  .reg .b64 %value;\n  .reg .b" + width +
                       " %v;\n"
                       "  mad.wide.u32 %value, %thread, 32, %values;\n";
    const char *addresses[] = {"%a", "%a+16", "%a+32", "%common+48"};
    for (unsigned s = 0; s < 4; ++s)
      body += "  ld.global.nc.b" + width + " %v, [%value+" +
              std::to_string(8 * s) + "];\n  " + name + " [" + addresses[s] +
              "], %v, [%there];\n";
    run.body = exchanged(body, 32 * 4 * bytes, generic);
    run.slots = patternBytes(run.threads() * slotBytes, 7);
    std::vector<uint8_t> expected = run.slots;
    for (size_t t = 0; t < run.threads(); ++t) {
      for (unsigned s = 0; s < 3; ++s) {
        const AtomicCase &c = cases[(t * 3 + s) % cases.size()];
        const size_t at = run.slotOf(t) * slotBytes + 16 * s;
        setNumberAt(run.slots, at, bytes, c.old);
        setNumberAt(expected, at, bytes, element.apply(c.old, c.b));
        run.values.push_back(c.b);
      }
      const size_t at = run.commonSlot(t) * slotBytes + 48;
      const uint64_t b = together.operands[t % 32].b;
      if (t % 32 == 0) {
        setNumberAt(run.slots, at, bytes, together.first);
        setNumberAt(expected, at, bytes, together.first);
      }
      setNumberAt(expected, at, bytes,
                  element.apply(numberAt(expected, at, bytes), b));
      run.values.push_back(b);
    }
    if (run.run())
      EXPECT_EQ(run.slots, expected) << name;
  }
}

const std::string completes = "mbarrier::complete_tx::bytes";
const std::vector<std::string> spaces = {"", "shared::cluster"};

} // namespace

TEST(AsyncShared, StoresOfManyThreads) {
  const std::vector<std::string> types = {"b32", "u32", "s32", "f32",
                                          "b64", "u64", "s64", "f64"};
  std::vector<std::string> stores = namesOf(
      {{"st.async"}, {"", "weak"}, spaces, {completes}, {"", "v2"}, types});
  for (const std::string &name : namesOf({{"st.async"},
                                          {"", "weak"},
                                          spaces,
                                          {completes},
                                          {"v4"},
                                          {"b32", "u32", "s32", "f32"}}))
    stores.push_back(name);
  for (const std::string &name : stores)
    check(name, [=] { testStore(name); });
}

TEST(AsyncShared, ReductionsOfManyThreads) {
  for (const std::string &name :
       namesOf({{"red.async.relaxed.cluster"},
                spaces,
                {completes},
                {"add.u32", "add.s32", "add.u64", "add.s64", "min.u32",
                 "min.s32", "max.u32", "max.s32", "inc.u32", "dec.u32",
                 "and.b32", "or.b32", "xor.b32"}}))
    check(name, [=] { testReduction(name); });
}
