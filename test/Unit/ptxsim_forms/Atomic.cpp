// atom, red: 32 threads at addresses of their own, on numbers at which the
// operations differ (carries, signs, ties, subnormals, zeros of both signs,
// overflow), and 32 threads at one address, where some order has to explain
// the old values and the result. All operations in global and shared memory
// (of the own CTA, of another one) and through generic addresses; orders,
// scopes and hints do not change the values.

#include "test/Unit/ptxsim_forms/AtomicReference.h"
#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"
#include "test/Unit/ptxsim_forms/Slots.h"

using namespace ptxsim::forms;

namespace {

struct Shape {
  AtomicElement element;
  unsigned registers = 1; ///< 1 to 8
  unsigned packed = 1;    ///< elements in a register

  unsigned elements() const { return registers * packed; }
  unsigned registerBits() const { return element.bits * packed; }
};

Shape shapeOf(const std::vector<std::string> &words) {
  Shape shape;
  for (const char *operation :
       {"add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"})
    if (hasWord(words, operation))
      shape.element.operation = operation;
  for (unsigned n : {2, 4, 8})
    if (hasWord(words, "v" + std::to_string(n)))
      shape.registers = n;
  std::string type = words.back();
  if (type.ends_with("x2")) {
    shape.packed = 2;
    type.resize(type.size() - 2);
  }
  shape.element.type = type;
  shape.element.bits =
      unsigned(std::stoul(type.substr(type.find_first_of("0123456789"))));
  return shape;
}

constexpr unsigned statements = 4; // three at own addresses, one at a common
constexpr unsigned setWords = 9;   // eight registers b, and c

std::string bodyOf(const std::string &name,
                   const std::vector<std::string> &words, const Shape &shape) {
  const bool atom = words.front() == "atom";
  const std::string width = std::to_string(shape.registerBits());
  std::string body = "  .reg .b64 %policy, %set, %addr;\n  .reg .b" + width +
                     " %d<8>, %b<8>, %c;\n"
                     "  createpolicy.fractional.L2::evict_last.b64 %policy;\n"
                     "  mad.wide.u32 %set, %thread, " +
                     std::to_string(8 * statements * setWords) + ", %values;\n";
  const auto list = [&](const std::string &bank) {
    std::string text;
    for (unsigned i = 0; i < shape.registers; ++i)
      text += (i ? ", " : "") + bank + std::to_string(i);
    return shape.registers > 1 ? "{" + text + "}" : text;
  };
  for (unsigned s = 0; s < statements; ++s) {
    for (unsigned i = 0; i < shape.registers; ++i)
      body += "  ld.global.b" + width + " %b" + std::to_string(i) + ", [%set+" +
              std::to_string(8 * (s * setWords + i)) + "];\n  mov.b" + width +
              " %d" + std::to_string(i) + ", 0x5a5a;\n";
    body += "  ld.global.b" + width + " %c, [%set+" +
            std::to_string(8 * (s * setWords + 8)) + "];\n  add.s64 %addr, " +
            (s == 3 ? "%common" : "%a") + ", " + std::to_string(16 * s) +
            ";\n  " + name + (atom ? " " + list("%d") + "," : "") +
            " [%addr], " + list("%b") +
            (shape.element.operation == "cas" ? ", %c" : "") +
            (hasWord(words, "L2::cache_hint") ? ", %policy" : "") + ";\n";
    for (unsigned i = 0; atom && i < shape.registers; ++i)
      body += "  st.global.b" + width + " [%out+" +
              std::to_string(8 * (s * shape.registers + i)) + "], %d" +
              std::to_string(i) + ";\n";
  }
  return body;
}

void testAtomic(const std::string &name) {
  const std::vector<std::string> words = wordsOf(name);
  const bool atom = words.front() == "atom";
  Shape shape = shapeOf(words);
  const unsigned bytes = shape.element.bits / 8;
  std::vector<Reach> reaches = reachesOf(words, false);
  if (shape.registers > 1) // vectors: in global memory only
    reaches.resize(1);
  for (const Reach &reach : reaches) {
    AtomicElement &element = shape.element;
    element.flush = element.type == "f32" && reach.place == Place::Global;
    const std::vector<AtomicCase> cases = atomicCases(element);
    SlotRun run;
    run.reach = reach;
    run.form = name;
    run.body = bodyOf(name, words, shape);
    run.words = statements * shape.registers;
    run.slots = patternBytes(run.threads() * slotBytes, 4);
    std::vector<uint8_t> values(run.threads() * statements * setWords * 8);
    const auto setOf = [&](size_t t, unsigned s) {
      return (t * statements + s) * setWords * 8;
    };
    // The operands of element e lie in register e / packed.
    const auto operandOf = [&](size_t t, unsigned s, unsigned e) {
      return setOf(t, s) + e / shape.packed * 8 + e % shape.packed * bytes;
    };
    const auto caseOf = [&](size_t t, unsigned s, unsigned e) {
      return cases[(t * 3 + s + e * 5) % cases.size()];
    };
    std::vector<Contention> contentions;
    for (unsigned e = 0; e < shape.elements(); ++e)
      contentions.push_back(contention(element, atom, e * 5));
    for (size_t t = 0; t < run.threads(); ++t)
      for (unsigned e = 0; e < shape.elements(); ++e) {
        for (unsigned s = 0; s < 3; ++s) {
          const AtomicCase c = caseOf(t, s, e);
          setNumberAt(run.slots, run.slotOf(t) * slotBytes + 16 * s + e * bytes,
                      bytes, c.old);
          setNumberAt(values, operandOf(t, s, e), bytes, c.b);
          setNumberAt(values, setOf(t, s) + 64, bytes, c.c);
        }
        const AtomicCase c = contentions[e].operands[t % 32];
        setNumberAt(run.slots, run.commonSlot(t) * slotBytes + 48 + e * bytes,
                    bytes, contentions[e].first);
        setNumberAt(values, operandOf(t, 3, e), bytes, c.b);
        setNumberAt(values, setOf(t, 3) + 64, bytes, c.c);
      }
    for (size_t at = 0; at < values.size(); at += 8)
      run.values.push_back(numberAt(values, at, 8));
    std::vector<uint8_t> expected = run.slots;
    if (!run.run())
      continue;

    const auto got = [&](size_t t, unsigned s, unsigned e) {
      const uint64_t word =
          run.out[t * run.words + s * shape.registers + e / shape.packed];
      const uint64_t value = word >> e % shape.packed * element.bits;
      return element.bits == 64 ? value
                                : value & ((uint64_t(1) << element.bits) - 1);
    };
    for (size_t t = 0; t < run.threads(); ++t)
      for (unsigned e = 0; e < shape.elements(); ++e)
        for (unsigned s = 0; s < 3; ++s) {
          const AtomicCase c = caseOf(t, s, e);
          const size_t at = run.slotOf(t) * slotBytes + 16 * s + e * bytes;
          const uint64_t last = numberAt(run.slots, at, bytes);
          const uint64_t wanted = element.apply(c.old, c.b, c.c);
          if (atom)
            EXPECT_EQ(got(t, s, e), c.old) << name << " old value";
          EXPECT_TRUE(last == wanted ||
                      (element.isNan(last) && element.isNan(wanted)))
              << name << " place " << int(reach.place) << std::hex << ": 0x"
              << c.old << " with 0x" << c.b << ", 0x" << c.c << " gives 0x"
              << last << ", expected 0x" << wanted;
          setNumberAt(expected, at, bytes, last);
        }
    for (size_t cta = 0; cta < run.threads(); cta += 32)
      for (unsigned e = 0; e < shape.elements(); ++e) {
        const size_t at = run.commonSlot(cta) * slotBytes + 48 + e * bytes;
        const uint64_t last = numberAt(run.slots, at, bytes);
        if (atom) {
          std::vector<uint64_t> olds;
          for (size_t t = cta; t < cta + 32; ++t)
            olds.push_back(got(t, 3, e));
          EXPECT_TRUE(explains(element, contentions[e], olds, last))
              << name << ": no order explains the results at one address";
        } else {
          uint64_t wanted = contentions[e].first;
          for (const AtomicCase &c : contentions[e].operands)
            wanted = element.apply(wanted, c.b, c.c);
          EXPECT_EQ(last, wanted) << name << " at one address";
        }
        setNumberAt(expected, at, bytes, last);
      }
    EXPECT_EQ(run.slots, expected) << name << " changes other bytes";
  }
}

void atomic(const std::vector<std::string> &names) {
  for (const std::string &name : names)
    if (!registered().count(name))
      form(name, [=] { testAtomic(name); });
}

const std::vector<std::string> both = {"atom", "red"};

} // namespace

FORMS(atomics) {
  const std::vector<std::string> spaces = {"", "global", "shared"};
  atomic(namesOf({both, spaces, {"add"}, {"u32", "s32", "u64", "f32", "f64"}}));
  atomic(namesOf(
      {both, spaces, {"add.noftz"}, {"f16", "f16x2", "bf16", "bf16x2"}}));
  atomic(namesOf({both, spaces, {"min", "max"}, {"u32", "s32", "u64", "s64"}}));
  atomic(namesOf({both, spaces, {"and", "or", "xor"}, {"b32", "b64"}}));
  atomic(namesOf({both, spaces, {"inc", "dec"}, {"u32"}}));
  atomic(namesOf({{"atom"}, spaces, {"exch"}, {"b32", "b64"}}));
  atomic(namesOf({{"atom"}, spaces, {"cas"}, {"b16", "b32", "b64"}}));
}

FORMS(vectorAtomics) {
  atomic(namesOf({both, {"global.add"}, {"v2", "v4"}, {"f32"}}));
  atomic(namesOf({both,
                  {"global"},
                  {"add.noftz", "min.noftz", "max.noftz"},
                  {"v2"},
                  {"f16", "bf16"}}));
  atomic(namesOf({both,
                  {"global"},
                  {"add.noftz", "min.noftz", "max.noftz"},
                  {"v2", "v4"},
                  {"f16x2", "bf16x2"}}));
}

FORMS(orderedAtomics) {
  const std::vector<std::string> spaces = {"", "global", "shared",
                                           "shared::cta", "shared::cluster"};
  const std::vector<std::string> scopes = {"", "cta", "cluster", "gpu", "sys"};
  atomic(namesOf({{"atom"},
                  {"", "relaxed", "acquire", "release", "acq_rel"},
                  scopes,
                  spaces,
                  {"add.u32"}}));
  atomic(namesOf(
      {{"red"}, {"", "relaxed", "release"}, scopes, spaces, {"add.u32"}}));
  atomic(namesOf({both, {"global.add.L2::cache_hint.u32"}}));
  // Spellings of compilers.
  atomic({"atom.add.acq_rel.gpu.s32", "atom.cas.acq_rel.cta.b32",
          "atom.add.acquire.cta.u32", "atom.add.release.gpu.u32",
          "atom.global.cta.add.u32", "atom.global.gpu.acq_rel.add.u32",
          "atom.global.sys.add.u32", "atom.max.relaxed.sys.s32",
          "red.global.gpu.relaxed.add.v4.f32"});
}
