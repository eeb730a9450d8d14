// ld, ldu: the value that reaches the register. The bytes at the address in
// little-endian order, extended to registers that are wider than the type: with
// the sign for .s8 to .s64, with zeros for the other types (ISA, "Operand Size
// Exceeding Instruction-Type Size"). All types and vectors in all state spaces,
// generic addresses into all of them; orders, scopes, cache operators and
// hints do not change the value.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"
#include "test/Unit/ptxsim_forms/Slots.h"

using namespace ptxsim::forms;

namespace {

/// 16, 32 and 64 where they hold the type; a floating-point type goes to
/// registers of bits.
std::vector<unsigned> registerWidths(unsigned bits) {
  std::vector<unsigned> widths;
  for (unsigned width : {16u, 32u, 64u})
    if (width >= bits)
      widths.push_back(width);
  return widths;
}

uint64_t extended(uint64_t value, unsigned from, unsigned to, bool sign) {
  if (sign && from < 64 && value >> (from - 1) & 1)
    value |= ~uint64_t(0) << from;
  return to < 64 ? value & ((uint64_t(1) << to) - 1) : value;
}

struct Type {
  unsigned bits, count;
  bool sign;
};

Type typeOf(const std::vector<std::string> &words) {
  return {unsigned(std::stoul(words.back().substr(1))),
          hasWord(words, "v2")   ? 2u
          : hasWord(words, "v4") ? 4u
                                 : 1u,
          words.back()[0] == 's'};
}

/// One statement per register width, each at 16 bytes of the slot of its own:
/// by register, register with a negative offset, with a positive one.
void testLoad(const std::string &name) {
  const std::vector<std::string> words = wordsOf(name);
  const Type type = typeOf(words);
  const std::vector<unsigned> widths = registerWidths(type.bits);
  const std::string policy =
      hasWord(words, "L2::cache_hint") ? ", %policy" : "";
  for (const Reach &reach : reachesOf(words, true)) {
    SlotRun run;
    run.reach = reach;
    run.form = name;
    run.uniform = words.front() == "ldu";
    // A variable's name as the address: the same in all threads.
    const bool byName = !reach.generic && !run.uniform &&
                        reach.place != Place::Global &&
                        reach.place != Place::Peer;
    run.words = (widths.size() + byName) * type.count;
    std::string body = "  .reg .b64 %policy, %far;\n"
                       "  createpolicy.fractional.L2::evict_last.b64 %policy;\n"
                       "  add.s64 %far, %a, 100;\n";
    unsigned word = 0;
    const auto statement = [&](unsigned width, unsigned number,
                               const std::string &address) {
      const std::string bank = "%s" + std::to_string(number) + "_";
      body += "  .reg .b" + std::to_string(width) + " " + bank + "<4>;\n";
      std::string registers;
      for (unsigned i = 0; i < type.count; ++i) {
        const std::string r = bank + std::to_string(i);
        body += "  mov.b" + std::to_string(width) + " " + r + ", 0x5a5a;\n";
        registers += (i ? ", " : "") + r;
      }
      if (type.count > 1)
        registers = "{" + registers + "}";
      body += "  " + name + " " + registers + ", [" + address + "]" + policy +
              ";\n";
      for (unsigned i = 0; i < type.count; ++i)
        body += "  st.global.b" + std::to_string(width) + " [%out+" +
                std::to_string(8 * word++) + "], " + bank + std::to_string(i) +
                ";\n";
    };
    const char *addresses[] = {"%a", "%far+-84", "%a+32"};
    for (unsigned i = 0; i < widths.size(); ++i)
      statement(widths[i], i, addresses[i]);
    if (byName)
      statement(widths[0], 3, "area+48");
    run.body = body;
    run.slots = patternBytes(run.threads() * slotBytes, 1);
    const std::vector<uint8_t> before = run.slots;
    if (!run.run())
      continue;
    for (size_t t = 0; t < run.threads(); ++t)
      for (unsigned s = 0; s < widths.size() + byName; ++s) {
        const bool named = s == widths.size();
        const size_t from = (named ? 48 : run.slotOf(t) * slotBytes + 16 * s);
        for (unsigned i = 0; i < type.count; ++i) {
          const unsigned width = named ? widths[0] : widths[s];
          const uint64_t expected = extended(
              numberAt(before, from + i * type.bits / 8, type.bits / 8),
              type.bits, width, type.sign);
          EXPECT_EQ(run.out[t * run.words + s * type.count + i], expected)
              << name << " thread " << t << " statement " << s << " element "
              << i << " place " << int(reach.place) << std::hex
              << " expected 0x" << expected;
        }
      }
  }
}

void load(const std::vector<std::string> &names) {
  for (const std::string &name : names)
    if (!registered().count(name))
      form(name, [=] { testLoad(name); });
}

} // namespace

FORMS(loads) {
  const std::vector<std::string> spaces = {
      "",      "global", "shared", "shared::cta", "shared::cluster",
      "local", "const",  "param",  "param::entry"};
  load(namesOf({{"ld"}, spaces, {"", "v2"}, singleTypes()}));
  load(namesOf({{"ld"}, spaces, {"v4"}, quadTypes()}));
  load(namesOf({{"ld.global.nc"}, {"", "v2"}, singleTypes()}));
  load(namesOf({{"ld.global.nc.v4"}, quadTypes()}));
  load(namesOf({{"ldu.global"}, {"", "v2"}, singleTypes()}));
  load(namesOf({{"ldu.global.v4"}, quadTypes()}));
}

FORMS(orderedLoads) {
  load(namesOf({{"ld.weak"},
                {"", "global", "shared", "shared::cta", "shared::cluster",
                 "local", "const", "param", "param::entry"},
                {"b32"}}));
  load(namesOf({{"ld.volatile"}, strongSpaces(), {"b32", "u32"}}));
  load(namesOf(
      {{"ld"}, {"relaxed", "acquire"}, scopes(), strongSpaces(), {"b32"}}));
  load(namesOf({{"ld.mmio.relaxed.sys"}, {"", "global"}, {"b32"}}));
  // Forms that compilers emit besides.
  load({"ld.acquire.gpu.u32", "ld.relaxed.gpu.v2.u32",
        "ld.global.relaxed.gpu.v2.u32", "ld.global.volatile.v4.f32"});
}

FORMS(hintedLoads) {
  load(namesOf({{"ld"},
                {"", "global", "shared", "local"},
                {"ca", "cg", "cs", "lu", "cv"},
                {"b32"}}));
  load(namesOf({{"ld.global"}, {"ca", "cg", "cs", "lu", "cv"}, {"f32"}}));
  load(namesOf({{"ld", "ld.global", "ld.global.nc"},
                {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                 "L1::evict_last", "L1::no_allocate"},
                {"b32"}}));
  load(namesOf({{"ld", "ld.global"},
                {"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"},
                {"b32"}}));
  load({"ld.global.nc.cg.b32"});
}
