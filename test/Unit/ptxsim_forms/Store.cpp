// st: the bytes in memory. The low bytes of the register, whatever its width,
// in little-endian order; not a byte beside them. All types and vectors in all
// state spaces, generic addresses into all of them; orders, scopes, cache
// operators and hints do not change the bytes.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"
#include "test/Unit/ptxsim_forms/Slots.h"

using namespace ptxsim::forms;

namespace {

/// One statement per register width, each at 16 bytes of the slot of its own.
void testStore(const std::string &name) {
  const std::vector<std::string> words = wordsOf(name);
  const unsigned bits = unsigned(std::stoul(words.back().substr(1)));
  const unsigned count = hasWord(words, "v2")   ? 2
                         : hasWord(words, "v4") ? 4
                                                : 1;
  std::vector<unsigned> widths;
  for (unsigned width : {16u, 32u, 64u})
    if (width >= bits)
      widths.push_back(width);
  const std::string policy =
      hasWord(words, "L2::cache_hint") ? ", %policy" : "";
  for (const Reach &reach : reachesOf(words, false)) {
    SlotRun run;
    run.reach = reach;
    run.form = name;
    std::string body = "  .reg .b64 %policy, %far, %value, %v<4>;\n"
                       "  createpolicy.fractional.L2::evict_last.b64 %policy;\n"
                       "  add.s64 %far, %a, 100;\n"
                       "  mad.wide.u32 %value, %thread, 32, %values;\n";
    for (unsigned i = 0; i < 4; ++i)
      body += "  ld.global.nc.u64 %v" + std::to_string(i) + ", [%value+" +
              std::to_string(8 * i) + "];\n";
    const char *addresses[] = {"%a", "%far+-84", "%a+32"};
    for (unsigned s = 0; s < widths.size(); ++s) {
      const std::string width = std::to_string(widths[s]);
      const std::string bank = "%s" + std::to_string(s) + "_";
      body += "  .reg .b" + width + " " + bank + "<4>;\n";
      std::string registers;
      for (unsigned i = 0; i < count; ++i) {
        const std::string r = bank + std::to_string(i);
        const std::string value = "%v" + std::to_string(i);
        body += widths[s] == 64
                    ? "  mov.b64 " + r + ", " + value + ";\n"
                    : "  cvt.u" + width + ".u64 " + r + ", " + value + ";\n";
        registers += (i ? ", " : "") + r;
      }
      if (count > 1)
        registers = "{" + registers + "}";
      body += "  " + name + " [" + addresses[s] + "], " + registers + policy +
              ";\n";
    }
    run.body = body;
    run.slots = patternBytes(run.threads() * slotBytes, 2);
    const std::vector<uint8_t> random = patternBytes(run.threads() * 32, 3);
    for (size_t at = 0; at < random.size(); at += 8)
      run.values.push_back(numberAt(random, at, 8));
    std::vector<uint8_t> expected = run.slots;
    for (size_t t = 0; t < run.threads(); ++t)
      for (unsigned s = 0; s < widths.size(); ++s)
        for (unsigned i = 0; i < count; ++i)
          setNumberAt(expected,
                      run.slotOf(t) * slotBytes + 16 * s + i * bits / 8,
                      bits / 8, run.values[4 * t + i]);
    if (!run.run())
      continue;
    for (size_t at = 0; at < expected.size(); at += 8)
      EXPECT_EQ(numberAt(run.slots, at, 8), numberAt(expected, at, 8))
          << name << " slot " << at / slotBytes << " byte " << at % slotBytes
          << " place " << int(reach.place);
  }
}

void store(const std::vector<std::string> &names) {
  for (const std::string &name : names)
    if (!registered().count(name))
      form(name, [=] { testStore(name); });
}

} // namespace

FORMS(stores) {
  const std::vector<std::string> spaces = {
      "", "global", "shared", "shared::cta", "shared::cluster", "local"};
  store(namesOf({{"st"}, spaces, {"", "v2"}, singleTypes()}));
  store(namesOf({{"st"}, spaces, {"v4"}, quadTypes()}));
}

FORMS(orderedStores) {
  store(namesOf(
      {{"st.weak"},
       {"", "global", "shared", "shared::cta", "shared::cluster", "local"},
       {"b32"}}));
  store(namesOf({{"st.volatile"}, strongSpaces(), {"b32", "u32"}}));
  store(namesOf(
      {{"st"}, {"relaxed", "release"}, scopes(), strongSpaces(), {"b32"}}));
  store(namesOf({{"st.mmio.relaxed.sys"}, {"", "global"}, {"b32"}}));
  // Forms that compilers emit besides.
  store({"st.relaxed.gpu.v2.u32", "st.global.relaxed.gpu.v2.u32",
         "st.global.volatile.v4.f32"});
}

FORMS(hintedStores) {
  store(namesOf({{"st"},
                 {"", "global", "shared", "local"},
                 {"cg", "cs", "wb", "wt"},
                 {"b32"}}));
  store(namesOf({{"st", "st.global"},
                 {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                  "L1::evict_last", "L1::no_allocate", "L2::cache_hint"},
                 {"b32"}}));
  store({"st.global.wt.f32", "st.global.wb.v2.s32", "st.global.cg.v4.f32",
         "st.global.cs.v4.f32"});
}
