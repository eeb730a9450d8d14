// Every form of the synchronous instructions that six compilers emit for sm_90
// (one line each in Inputs/forms.txt, all accepted by ptxas) loads.

#include "test/Unit/ptxsim/TestKernel.h"

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
