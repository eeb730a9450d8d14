// Every form of the asynchronous instructions that six compilers emit for sm_90
// loads (one line each in Inputs/forms.txt, all accepted by ptxas), and some
// more of the same families.

#include "test/Unit/ptxsim_hopper/Kernel.h"

#include <fstream>

using namespace hopper;

TEST(HopperForms, OfOtherCompilersLoad) {
  std::ifstream in(K2C_SOURCE_DIR "/test/Unit/ptxsim_hopper/Inputs/forms.txt");
  ASSERT_TRUE(in.good());
  size_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    Program program(
        ".version 8.6\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .align 64 .b8 prm[128]) .maxntid 128 {\n"
        ".reg .pred %p<4>; .reg .b16 %h<10>; .reg .b32 %r<12>; .reg .b64 "
        "%d<10>;\n" +
        line + "\nret;\n}\n");
    EXPECT_EQ(program.loadError, "") << line;
  }
  EXPECT_GT(lines, 70u);
}

TEST(HopperForms, OthersAreRefusedByLine) {
  for (const char *line :
       {"mbarrier.init.shared::cluster.b64 [%r1], 1;",
        "mbarrier.arrive.shared.b32 _, [%r1];",
        "mbarrier.try_wait.parity.shared::cluster.b64 %p1, [%r1], 0;",
        "cp.async.bulk.shared::cta.shared::cta.mbarrier::complete_tx::bytes "
        "[%r1], [%r2], 16, [%r3];",
        "cp.async.bulk.tensor.2d.shared::cta.global.im2col.mbarrier::complete_"
        "tx::bytes [%r1], [%d3, {%r2, %r2}], [%r4];",
        "mapa.shared::cta.u32 %r1, %r1, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r1, %r2}, %d1, "
        "%d2, 1, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r1}, %d1, %d2, 1;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%r1}, %d1, "
        "%d2, %r3, 0, 1, 1, 1, 0, 0;"})
    EXPECT_THAT(Program(kernel(line)).loadError,
                HasSubstr("unsupported form '"))
        << line;
}
