// Every form that six compilers emit (Inputs/compilers.txt), and every one that
// ptxas accepts of those scripts/ptx_forms.py makes, has a test in this folder.

#include "test/Unit/ptxsim_forms/Form.h"

#include <fstream>
#include <gtest/gtest-spi.h>

using namespace ptxsim::forms;

namespace {

/// `+ setp.lt.s32 %p1, %r1, %r2;` is setp.lt.s32; guards and labels are left
/// out.
std::string formOf(const std::string &statement) {
  std::string name = statement.substr(0, statement.find_first_of(" ;"));
  if (const size_t at = name.find(".m64n"); at != name.npos) {
    const size_t end = name.find('k', at);
    name.replace(at + 5, end - at - 5, "N");
  }
  return name;
}

/// The forms of a list that have no test, one per line.
std::string withoutTest(const std::string &file, bool statements) {
  std::ifstream in(K2C_SOURCE_DIR "/test/Unit/" + file);
  EXPECT_TRUE(in.good()) << file;
  std::set<std::string> missing;
  size_t lines = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || (statements && line[0] != '+'))
      continue;
    ++lines;
    const std::string name = formOf(statements ? line.substr(2) : line);
    if (!registered().count(name))
      missing.insert(name);
  }
  EXPECT_GT(lines, 100u) << file;
  std::string text;
  for (const std::string &name : missing)
    text += name + "\n";
  return text;
}

} // namespace

TEST(Forms, OfCompilersHaveTests) {
  EXPECT_EQ(withoutTest("ptxsim_forms/Inputs/compilers.txt", false), "");
}

TEST(Forms, OfPtxasHaveTests) {
  EXPECT_EQ(withoutTest("ptxsim/Inputs/ptxas_forms.txt", true), "");
}

TEST(Forms, OfCvtHaveTests) {
  EXPECT_EQ(withoutTest("ptxsim_tensor/Inputs/cvt_forms.txt", false), "");
}

// The harness itself: a test that does not look at its instruction fails, and
// so does one that never executes it.
TEST(Forms, TestsThatProveNothingFail) {
  const auto good = [] {
    expectResults("not.b32 d, a", {32, 32}, {{5, 0, 0, 0xfffffffa}});
  };
  check("not.b32", good);
  EXPECT_NONFATAL_FAILURE(check("not.b64", good), "runs no statement");
  EXPECT_NONFATAL_FAILURE(
      check("not.b32",
            [] { runThreads("{ .reg .b32 d; not.b32 d, %t; }", 1); }),
      "passes without the instruction");
}
