// Every form of the synchronous instructions that six compilers emit for sm_90
// (one line each in Inputs/forms.txt, all accepted by ptxas) loads.

#include "test/Unit/ptxsim/TestKernel.h"

#include <algorithm>
#include <fstream>

using namespace ptxsim;
using namespace ptxsim::test;

TEST(Forms, OfOtherCompilersLoad) {
  std::ifstream in(K2C_SOURCE_DIR "/test/Unit/ptxsim/Inputs/forms.txt");
  ASSERT_TRUE(in.good());
  size_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    Sim sim(header +
            ".visible .entry k(.param .align 16 .b8 prm[64]) .maxntid 128 {\n"
            ".reg .pred %p<4>; .reg .b16 %h<10>; .reg .b32 %r<12>; .reg .b64 "
            "%d<10>;\n" +
            line + "\nL: ret;\n}\n");
    EXPECT_EQ(sim.loadError, "") << line;
  }
  EXPECT_GT(lines, 500u);
}

/// Inputs/ptxas_forms.txt has every combination of modifiers and types that
/// scripts/ptx_forms.py makes, with what ptxas says of it.
TEST(Forms, AgreeWithPtxas) {
  std::ifstream in(K2C_SOURCE_DIR "/test/Unit/ptxsim/Inputs/ptxas_forms.txt");
  ASSERT_TRUE(in.good());
  Device device(onThreads(1));
  size_t accepted = 0, refused = 0;
  std::vector<std::string> wrong;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::string statement = line.substr(2);
    if (const size_t at = statement.find("L%d"); at != statement.npos)
      statement = "L: " + statement.replace(at, 3, "L");
    // As in scripts/ptx_forms.py.
    auto module = device.loadModule(
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .align 64 .b8 prm[128]) .maxntid 128 {\n"
        ".reg .pred %p<8>; .reg .b16 %h<10>; .reg .b32 %r<160>; .reg .f32 "
        "%f<160>; .reg .b64 "
        "%d<20>;\n{ " +
            statement + " }\nret;\n}\n",
        "k.ptx");
    const bool expected = line[0] == '+';
    (expected ? accepted : refused) += 1;
    if (module.ok() != expected)
      wrong.push_back(line + (module ? "" : "   " + module.message()));
  }
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(wrong.size(), 40); ++i)
    text += wrong[i] + "\n";
  EXPECT_EQ(wrong.size(), 0u) << text;
  EXPECT_GT(accepted, 3000u);
  EXPECT_GT(refused, 10000u);
}
