// Faults put into correct kernels (Inputs/corpus.txt), one at a time: each must
// be reported, or give a wrong result, in some order of the warps and with
// copies that arrive at some time. A fixed sample by default;
//   K2C_MUTANTS=1000 build/test/Unit/ptxsim_mutants_test
// takes so many, and prints the score and those that nothing has found.
//
// Mutants that change nothing a program can see are listed in
// Inputs/equivalent.txt with the reason.

#include "test/Unit/ptxsim_mutants/Corpus.h"
#include "test/Unit/ptxsim_mutants/Mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

using namespace mutants;
using namespace ptxsim;

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define K2C_SLOW 1
#endif
#endif

namespace {

const std::string folder = K2C_SOURCE_DIR "/test/Unit/ptxsim_mutants/Inputs/";

struct Mode {
  std::string name;
  DeviceOptions options;
};

/// The modes that find most come first.
std::vector<Mode> allModes() {
  std::vector<Mode> modes;
  for (const char *text :
       {"schedule=rr,async=lazy", "schedule=reverse,async=eager",
        "schedule=random:1,async=lazy", "schedule=rr,async=eager",
        "schedule=reverse,async=lazy", "schedule=greedy,async=eager",
        "schedule=random:2,async=random:1", "schedule=random:3,async=eager",
        "schedule=rr,async=random:2", "schedule=greedy,async=lazy"}) {
    Mode &mode = modes.emplace_back();
    mode.name = text;
    EXPECT_EQ(readOptions(text, mode.options).message(), "");
    mode.options.threads = 1;
    mode.options.checks.uninitialisedGlobal = true;
    mode.options.checks.unmatchedArrivals = true;
  }
  return modes;
}
const std::vector<Mode> modes = allModes();

const std::vector<Case> &corpus() {
  static const std::vector<Case> cases = [] {
    auto all = readCorpus(folder + "corpus.txt");
#ifdef K2C_SLOW
    // Instrumented, a part of the kernels: there the test is of the simulator's
    // own memory.
    for (size_t i = all.size(); i-- > 0;)
      if (i % 4)
        all.erase(all.begin() + long(i));
#endif
    // More cases, of compilers that are not everywhere.
    if (const char *path = std::getenv("K2C_MUTANTS_CORPUS"))
      for (Case &c : readCorpus(path))
        all.push_back(std::move(c));
    return all;
  }();
  return cases;
}

DeviceOptions optionsOf(const Mode &mode, const Case &c) {
  DeviceOptions options = mode.options;
  EXPECT_EQ(readOptions(c.options, options).message(), "");
  return options;
}

/// A case with what its kernel gives, and the faults that can be put into it.
struct Subject {
  const Case *c;
  Outcome expected;
  std::vector<Line> lines;
  std::vector<Mutant> mutants;

  /// Does a trap in this text go off?
  bool traps(const std::string &text) const {
    return run(*c, text, optionsOf(modes[0], *c)).error.find(": trap\n") !=
           std::string::npos;
  }
  explicit Subject(const Case &of) : c(&of) {
    expected = run(of, of.text, optionsOf(modes[0], of));
    EXPECT_EQ(expected.error, "");
    lines = linesOf(of.text, of.entry);
    // All lines of a block run, or none; those with a guard may not.
    std::vector<bool> runs(lines.size());
    bool blockRuns = false, isNew = true;
    for (size_t i = 0; i < lines.size(); ++i) {
      const Line &l = lines[i];
      if (l.isInstruction && (isNew || !l.guard.empty())) {
        runs[i] = traps(with(lines, i, l.guard + "trap; " + l.text));
        if (l.guard.empty())
          blockRuns = runs[i], isNew = false;
      } else {
        runs[i] = blockRuns;
      }
      isNew |= l.isBoundary;
    }
    mutants = mutantsOf(lines, runs);
  }
};

/// Inputs/equivalent.txt: names of mutants, some with a * at the end, after
/// reasons in lines that begin with #.
class Equivalents {
public:
  Equivalents() {
    std::ifstream in(folder + "equivalent.txt");
    for (std::string line; std::getline(in, line);)
      if (!line.empty() && line[0] != '#')
        patterns.push_back(line);
    EXPECT_FALSE(patterns.empty());
  }
  bool contains(const std::string &name) const {
    return std::any_of(
        patterns.begin(), patterns.end(), [&](const std::string &p) {
          return p.ends_with('*') ? name.starts_with(p.substr(0, p.size() - 1))
                                  : name == p;
        });
  }

private:
  std::vector<std::string> patterns;
};

std::string nameOf(const Subject &s, const Mutant &m) {
  return s.c->name + ":" + std::to_string(m.line + 1) + " " + m.kind + " " +
         m.what;
}

/// What found a mutant; empty if nothing has.
struct Fate {
  std::string how, mode, text;
};

Fate fateOf(const Subject &s, const Mutant &m, bool &isPtx) {
  const std::string text = apply(s.lines, m);
  isPtx = true;
  for (const Mode &mode : modes) {
    DeviceOptions options = optionsOf(mode, *s.c);
    options.instructionLimit = 8 * s.expected.instructions + 100000;
    Outcome o = run(*s.c, text, options);
    if (!o.loaded) {
      isPtx = false;
      return {"refused", mode.name, o.error};
    }
    if (!o.error.empty())
      return {"reported", mode.name, o.error};
    if (!agree(*s.c, s.expected, o))
      return {"wrong", mode.name, ""};
  }
  return {};
}

TEST(Mutants, CorrectKernelsAreNotReported) {
  for (const Case &c : corpus()) {
    const Outcome first = run(c, c.text, optionsOf(modes[0], c));
    for (const Mode &mode : modes) {
      Outcome o = run(c, c.text, optionsOf(mode, c));
      EXPECT_EQ(o.error, "") << c.name << " " << mode.name;
      EXPECT_TRUE(agree(c, first, o)) << c.name << " " << mode.name;
    }
    // More orders: K2C_MUTANTS_SEEDS of them.
    const char *seeds = std::getenv("K2C_MUTANTS_SEEDS");
    for (uint64_t seed = 1; seed <= (seeds ? std::stoul(seeds) : 3); ++seed) {
      DeviceOptions options = optionsOf(modes[0], c);
      options.schedule = Schedule::Random, options.async = Async::Random;
      options.seed = options.asyncSeed = seed;
      Outcome o = run(c, c.text, options);
      EXPECT_EQ(o.error, "") << c.name << " seed " << seed;
      EXPECT_TRUE(agree(c, first, o)) << c.name << " seed " << seed;
    }
  }
}

TEST(Mutants, AreFound) {
  const char *number = std::getenv("K2C_MUTANTS"),
             *verbose = std::getenv("K2C_MUTANTS_LIST");
  const size_t wanted = number ? std::stoul(number) : 200;
  const auto start = std::chrono::steady_clock::now();
  std::vector<Subject> subjects;
  for (const Case &c : corpus())
    subjects.emplace_back(c);
  // A fixed random order.
  std::mt19937 random(1);
  std::vector<std::pair<const Subject *, const Mutant *>> order;
  for (const Subject &s : subjects)
    for (const Mutant &m : s.mutants)
      order.emplace_back(&s, &m);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);

  const Equivalents equivalents;
  struct Sum {
    size_t total = 0, reported = 0, wrong = 0, equivalent = 0;
    void operator+=(const Sum &o) {
      total += o.total, reported += o.reported, wrong += o.wrong;
      equivalent += o.equivalent;
    }
    double score() const {
      return total > equivalent
                 ? double(reported + wrong) / double(total - equivalent)
                 : 1;
    }
  };
  Sum all;
  std::map<std::string, Sum> byKind, byCase;
  std::vector<std::string> survivors;
  size_t refused = 0, idle = 0;
  for (const auto &[subject, mutant] : order) {
    if (all.total >= wanted)
      break;
    const Subject &s = *subject;
    const Mutant &m = *mutant;
    // What computes the same in all executions is no fault.
    if (!m.probe.empty() && !s.traps(with(s.lines, m.line, m.probe))) {
      ++idle;
      continue;
    }
    bool isPtx;
    const Fate fate = fateOf(s, m, isPtx);
    // What nothing depends on, whatever it be, is no fault either.
    if (fate.how.empty() && !m.garbage.empty()) {
      Mutant garbage = m;
      garbage.edits = {{m.line, m.garbage}};
      bool ignored;
      if (fateOf(s, garbage, ignored).how.empty()) {
        ++idle;
        continue;
      }
    }
    const std::string name = nameOf(s, m);
    if (verbose)
      std::printf("%s | %s | %s | %s\n", name.c_str(), fate.how.c_str(),
                  fate.mode.c_str(), fate.text.substr(0, 300).c_str());
    if (!isPtx) {
      ++refused;
      continue;
    }
    Sum sum;
    sum.total = 1;
    sum.reported = fate.how == "reported";
    sum.wrong = fate.how == "wrong";
    if (equivalents.contains(name)) {
      EXPECT_TRUE(fate.how.empty())
          << name << " is listed as equivalent, but is " << fate.how
          << fate.text;
      sum.equivalent = fate.how.empty();
    }
    if (fate.how.empty() && !sum.equivalent)
      survivors.push_back(name + " | " + s.lines[m.line].text);
    all += sum, byKind[m.kind] += sum,
        byCase[s.c->origin + " " + s.c->name] += sum;
  }
  auto print = [](const std::string &name, const Sum &s) {
    std::printf("%-24s %7zu %9zu %7zu %11zu %9zu %7.1f %%\n", name.c_str(),
                s.total, s.reported, s.wrong, s.equivalent,
                s.total - s.reported - s.wrong - s.equivalent, 100 * s.score());
  };
  std::printf("%-24s %7s %9s %7s %11s %9s %9s\n", "", "mutants", "reported",
              "wrong", "equivalent", "survive", "score");
  for (const auto &[name, sum] : byKind)
    print(name, sum);
  std::printf("\n");
  for (const auto &[name, sum] : byCase)
    print(name, sum);
  print("all", all);
  for (const std::string &s : survivors)
    std::printf("survivor: %s\n", s.c_str());
  std::printf(
      "not counted: %zu that compute the same or what nothing uses, %zu that "
      "are not "
      "PTX; %.0f s\n",
      idle, refused,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count());
#ifndef K2C_SLOW
  EXPECT_GE(all.score(), 0.95);
  EXPECT_LE(double(all.equivalent), 0.1 * double(all.total));
#endif
}

} // namespace
