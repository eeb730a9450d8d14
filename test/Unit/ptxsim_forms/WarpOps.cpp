// vote, match, redux, elect, activemask, shfl: what lanes of a warp tell each
// other, by the formulas of the ISA's chapters. Each with a full warp, with two
// groups of lanes that execute the instruction apart with masks of their own,
// and where it names lanes that have exited.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"

#include <algorithm>
#include <functional>

using namespace ptxsim::forms;

namespace {

/// Three ways to split a warp into two groups, and a whole one.
const uint32_t groups[] = {0xffffffff, 0x0000ffff, 0x5a5a1234, 0x80000001};

/// What one lane gives to an instruction.
struct Lanes {
  uint64_t a[32], b[32], c[32];
};

/// Runs `statement` (of d, p, a, b, c, mask; one per line of several) with the
/// lanes of `group` and with the others apart, each group with its mask in
/// `mask`. Lanes of `exited` are gone by then. Bit 32 of a result is p.
std::vector<uint64_t> inGroups(const std::string &statement, unsigned width,
                               const Lanes &lanes, uint32_t group,
                               uint32_t exited = 0) {
  std::vector<uint64_t> in;
  for (unsigned l = 0; l < 32; ++l)
    in.insert(in.end(), {lanes.a[l], lanes.b[l], lanes.c[l]});
  const std::string w = std::to_string(width);
  std::string body = "  .reg .b" + w + R"( a;
  .reg .b32 d, b, c, mask, one, predicate;
  .reg .b64 from, result;
  .reg .pred p, q, r;
  mad.wide.u32 from, %t, 24, %p0;
  ld.global.b)" + w + R"( a, [from];
  ld.global.b32 b, [from+8];
  ld.global.b32 c, [from+16];
  mov.b32 d, 0x77777777;
  setp.ne.u32 q, b, 0;
  setp.eq.u32 p, %t, 99;
  shl.b32 one, 1, %t;
  and.b32 mask, one, )" +
                     std::to_string(exited) + R"(;
  setp.ne.u32 r, mask, 0;
  @r bra END;
  and.b32 mask, one, )" +
                     std::to_string(group) + R"(;
  setp.eq.u32 r, mask, 0;
  @r bra OTHERS;
  mov.u32 mask, )" + std::to_string(group) +
                     ";\n  " + statement + ";\n  bra JOIN;\nOTHERS:\n" +
                     "  mov.u32 mask, " + std::to_string(~group) + ";\n  " +
                     statement + R"(;
JOIN:
  selp.b32 predicate, 1, 0, p;
  mov.b64 result, {d, predicate};
  st.global.b64 [%out], result;
END:)";
  return runThreads(body, 32, in);
}

/// The result of a lane of `members`, who are its group: bit 32 is p.
using Reference =
    std::function<uint64_t(const Lanes &, uint32_t members, unsigned lane)>;

void expectInGroups(const std::string &statement, unsigned width,
                    const Lanes &lanes, const Reference &reference,
                    uint32_t exited = 0) {
  for (uint32_t group : groups) {
    const std::vector<uint64_t> got =
        inGroups(statement, width, lanes, group, exited);
    if (got.size() != 32)
      return;
    for (unsigned l = 0; l < 32; ++l) {
      if (exited >> l & 1)
        continue;
      const uint32_t members = (group >> l & 1 ? group : ~group) & ~exited;
      const uint64_t expected = reference(lanes, members, l);
      EXPECT_EQ(got[l], expected)
          << statement << " in lane " << l << std::hex << " of 0x" << members
          << ": 0x" << got[l] << ", expected 0x" << expected;
    }
  }
}

template <class F> bool allOf(uint32_t members, F holds) {
  for (unsigned l = 0; l < 32; ++l)
    if (members >> l & 1 && !holds(l))
      return false;
  return true;
}

uint32_t ballot(const Lanes &lanes, uint32_t members) {
  uint32_t bits = 0;
  for (unsigned l = 0; l < 32; ++l)
    bits |= uint32_t(members >> l & 1 && lanes.b[l]) << l;
  return bits;
}

/// Operand b as the predicate q: in all lanes, none, and some.
std::vector<Lanes> predicates() {
  std::vector<Lanes> all;
  for (uint32_t bits :
       {0xffffffffu, 0u, 0x0000ffffu, 0x5a5a1234u, 0x80000000u, 0xfffffffeu}) {
    Lanes lanes{};
    for (unsigned l = 0; l < 32; ++l)
      lanes.b[l] = bits >> l & 1;
    all.push_back(lanes);
  }
  return all;
}

void testVote(const std::string &name) {
  const std::vector<std::string> words = wordsOf(name);
  for (const bool negated : {false, true})
    for (Lanes lanes : predicates()) {
      const std::string source = negated ? "!q" : "q";
      const auto reference = [&](const Lanes &given, uint32_t members,
                                 unsigned) -> uint64_t {
        const uint32_t yes = negated ? members & ~ballot(given, members)
                                     : ballot(given, members);
        const uint64_t d = 0x77777777;
        if (hasWord(words, "ballot"))
          return yes;
        if (hasWord(words, "all"))
          return d | uint64_t(yes == members) << 32;
        if (hasWord(words, "any"))
          return d | uint64_t(yes != 0) << 32;
        return d | uint64_t(yes == 0 || yes == members) << 32; // uni
      };
      const std::string d = hasWord(words, "ballot") ? "d" : "p";
      expectInGroups(name + " " + d + ", " + source + ", mask", 32, lanes,
                     reference);
    }
}

/// Values of which some are equal, differing in their upper halves only too.
Lanes matching(unsigned kind) {
  Lanes lanes{};
  for (unsigned l = 0; l < 32; ++l)
    lanes.a[l] = kind == 0   ? 7
                 : kind == 1 ? uint64_t(l % 3) << 32 | (l % 5)
                 : kind == 2 ? uint64_t(l / 16) << 40 | 3
                             : l / 16;
  return lanes;
}

void testMatch(const std::string &name, bool all, unsigned width) {
  for (unsigned kind = 0; kind < 4; ++kind)
    for (const bool withPredicate : {false, true}) {
      if (withPredicate && !all)
        continue;
      const uint64_t bits = width == 64 ? ~uint64_t(0) : 0xffffffff;
      const auto reference = [&](const Lanes &lanes, uint32_t members,
                                 unsigned lane) -> uint64_t {
        uint32_t same = 0;
        for (unsigned l = 0; l < 32; ++l)
          if (members >> l & 1 && (lanes.a[l] & bits) == (lanes.a[lane] & bits))
            same |= 1u << l;
        if (!all)
          return same;
        const bool everybody = same == members;
        return (everybody ? members : 0) | uint64_t(everybody && withPredicate)
                                               << 32;
      };
      const std::string statement =
          name + (withPredicate ? " d|p, a, mask" : " d, a, mask");
      expectInGroups(statement, width, matching(kind), reference);
      expectInGroups(statement, width, matching(kind), reference, 0x00f0000f);
    }
}

void testRedux(const std::string &name) {
  const std::vector<std::string> words = wordsOf(name);
  const bool isSigned = words.back() == "s32";
  for (uint32_t seed : {1u, 2u, 3u}) {
    Lanes lanes{};
    for (unsigned l = 0; l < 32; ++l) {
      const uint32_t random = (l + 1) * 2654435761u * seed;
      // Close to all ones, to zeros, and in between: and, or and add differ.
      lanes.a[l] = seed == 1   ? random
                   : seed == 2 ? 0xffff0000 | random >> 16
                               : random & 0x000f0001;
    }
    const auto reference = [&](const Lanes &given, uint32_t members,
                               unsigned) -> uint64_t {
      bool first = true;
      uint32_t result = 0;
      for (unsigned l = 0; l < 32; ++l) {
        if (!(members >> l & 1))
          continue;
        const uint32_t x = uint32_t(given.a[l]);
        const auto least = [&] {
          return isSigned ? uint32_t(std::min(int32_t(result), int32_t(x)))
                          : std::min(result, x);
        };
        result = first                   ? x
                 : hasWord(words, "add") ? result + x
                 : hasWord(words, "and") ? result & x
                 : hasWord(words, "or")  ? result | x
                 : hasWord(words, "xor") ? result ^ x
                 : hasWord(words, "min") ? least()
                                         : (least() == result ? x : result);
        first = false;
      }
      return result;
    };
    expectInGroups(name + " d, a, mask", 32, lanes, reference);
    expectInGroups(name + " d, a, mask", 32, lanes, reference, 0x10000001);
  }
}

/// One leader per mask, whom all lanes name, the same every time.
void testElect() {
  const Lanes lanes{};
  for (uint32_t group : groups) {
    std::vector<uint64_t> first;
    for (const char *statement :
         {"elect.sync d|p, mask", "elect.sync _|p, mask",
          "mov.b32 d, 5; setp.eq.u32 p, d, d; elect.sync d|p, mask"}) {
      const std::vector<uint64_t> got = inGroups(statement, 32, lanes, group);
      if (got.size() != 32)
        return;
      for (uint32_t members : {group, ~group}) {
        if (!members)
          continue;
        uint32_t leaders = 0;
        for (unsigned l = 0; l < 32; ++l)
          leaders |= uint32_t(members >> l & 1 && got[l] >> 32) << l;
        EXPECT_EQ(std::popcount(leaders), 1) << statement;
        for (unsigned l = 0; l < 32; ++l)
          if (members >> l & 1)
            EXPECT_EQ(uint32_t(got[l]),
                      statement[11] == '_'
                          ? 0x77777777u
                          : unsigned(std::countr_zero(leaders)))
                << statement << " in lane " << l;
      }
      // Deterministic: the same leader for the same mask.
      std::vector<uint64_t> leads;
      for (uint64_t lane : got)
        leads.push_back(lane >> 32);
      if (first.empty())
        first = leads;
      EXPECT_EQ(leads, first);
    }
  }
}

/// Which lanes are together is not laid down, but each is one of its mask, all
/// of them are in the same branch, and they agree.
void testActivemask() {
  for (uint32_t group : groups) {
    const std::vector<uint64_t> got =
        inGroups("activemask.b32 d", 32, Lanes{}, group, 0x00f00000);
    if (got.size() != 32)
      return;
    for (unsigned l = 0; l < 32; ++l) {
      if (0x00f00000 >> l & 1)
        continue;
      const uint32_t members = (group >> l & 1 ? group : ~group) & ~0x00f00000u;
      const uint32_t mask = uint32_t(got[l]);
      EXPECT_TRUE(mask >> l & 1) << "lane " << l;
      EXPECT_EQ(mask & ~members, 0u) << "lane " << l;
      for (unsigned other = 0; other < 32; ++other)
        if (mask >> other & 1)
          EXPECT_EQ(uint32_t(got[other]), mask)
              << "lanes " << l << ", " << other;
    }
  }
  // A guard takes lanes out too.
  const std::vector<uint64_t> got = runThreads(
      R"(.reg .b32 d; .reg .pred p; mov.b32 d, 0xffffffff;
  setp.lt.u32 p, %t, 5; @p activemask.b32 d; st.global.b32 [%out], d;)",
      32);
  for (unsigned l = 0; l < got.size(); ++l)
    EXPECT_EQ(got[l] & ~(l < 5 ? 0x1full : ~0ull), 0u) << "lane " << l;
}

/// The ISA's formula.
uint64_t shuffled(const std::string &mode, const Lanes &lanes, unsigned lane,
                  bool withPredicate) {
  const int bval = int(lanes.b[lane] & 31), cval = int(lanes.c[lane] & 31);
  const int mask = int(lanes.c[lane] >> 8 & 31), self = int(lane);
  const int maxLane = (self & mask) | (cval & ~mask & 31);
  const int minLane = self & mask;
  int j = 0;
  bool inside = false;
  if (mode == "up") {
    j = self - bval;
    inside = j >= maxLane;
  } else if (mode == "down") {
    j = self + bval;
    inside = j <= maxLane;
  } else if (mode == "bfly") {
    j = self ^ bval;
    inside = j <= maxLane;
  } else {
    j = minLane | (bval & ~mask & 31);
    inside = j <= maxLane;
  }
  return (lanes.a[inside ? j : self] & 0xffffffff) |
         uint64_t(inside && withPredicate) << 32;
}

void testShfl(const std::string &name, const std::string &mode) {
  for (unsigned round = 0; round < 12; ++round)
    for (const bool withPredicate : {false, true}) {
      Lanes lanes{};
      for (unsigned l = 0; l < 32; ++l) {
        lanes.a[l] = 0x1000 + l * 0x01010101u;
        // One distance for all, then one for each lane; bits above the fifth
        // are not looked at.
        lanes.b[l] = round < 6 ? round * 7 + 1 : (l * 11 + round * 5) % 64;
        // Segments of 32, 16, 8, .. lanes; ends in the middle of one.
        const unsigned segment = 32 - (32 >> round % 6);
        const unsigned clamp = mode == "up" ? (round > 8 ? 3 : 0)
                               : round > 8  ? 21
                                            : 31;
        lanes.c[l] = segment << 8 | clamp | (round % 2 ? 0xe0 : 0);
      }
      const std::vector<uint64_t> got = inGroups(
          name + (withPredicate ? " d|p, a, b, c, mask" : " d, a, b, c, mask"),
          32, lanes, 0xffffffff);
      for (unsigned l = 0; l < got.size(); ++l)
        EXPECT_EQ(got[l], shuffled(mode, lanes, l, withPredicate))
            << name << " round " << round << " lane " << l << std::hex
            << ": b = 0x" << lanes.b[l] << ", c = 0x" << lanes.c[l];
    }
  // Two halves apart, each within itself; operands as immediates.
  Lanes lanes{};
  for (unsigned l = 0; l < 32; ++l) {
    lanes.a[l] = 100 + l;
    lanes.b[l] = 3;
    lanes.c[l] = mode == "up" ? 0x1000 : 0x101f;
  }
  const std::string c = mode == "up" ? "0x1000" : "0x101f";
  const std::vector<uint64_t> got =
      inGroups(name + " d|p, a, 3, " + c + ", mask", 32, lanes, 0xffff);
  for (unsigned l = 0; l < got.size(); ++l)
    EXPECT_EQ(got[l], shuffled(mode, lanes, l, true)) << name << " lane " << l;
}

} // namespace

FORMS(warp) {
  for (const std::string &name :
       {"vote.sync.all.pred", "vote.sync.any.pred", "vote.sync.uni.pred",
        "vote.sync.ballot.b32", "vote.ballot.sync.b32"})
    form(name, [=] { testVote(name); });
  for (const bool all : {false, true})
    for (unsigned width : {32u, 64u}) {
      const std::string name = std::string("match.") + (all ? "all" : "any") +
                               ".sync.b" + std::to_string(width);
      form(name, [=] { testMatch(name, all, width); });
    }
  for (const std::string &name :
       namesOf({{"redux.sync"}, {"add", "min", "max"}, {"u32", "s32"}}))
    form(name, [=] { testRedux(name); });
  for (const std::string &name :
       namesOf({{"redux.sync"}, {"and", "or", "xor"}, {"b32"}}))
    form(name, [=] { testRedux(name); });
  form("elect.sync", testElect);
  form("activemask.b32", testActivemask);
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    const std::string name = "shfl.sync." + mode + ".b32";
    form(name, [=] { testShfl(name, mode); });
  }
}
