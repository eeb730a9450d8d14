// Instructions that change no result: hints to caches, sleeping, what concerns
// other grids, debugging.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using ::testing::HasSubstr;

TEST(Hints, ChangeNothing) {
  auto got = runBody(
      ".reg .b64 policy; .reg .b32 a;\n"
      "prefetch.global.L1 [%p0]; prefetch.L2 [%p0]; prefetchu.L1 [%p0];\n"
      "prefetch.global.L2::evict_last [%p0+128];\n"
      "applypriority.global.L2::evict_normal [%p0], 128;\n"
      "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 policy, "
      "0f3f000000;\n"
      "ld.global.L2::cache_hint.b32 a, [%p0], policy;\n"
      "griddepcontrol.wait; nanosleep.u32 20; griddepcontrol."
      "launch_dependents;\n"
      "brkpt;\n"
      "st.global.b32 [%out], a;",
      32, std::vector<uint64_t>(64, 77));
  for (uint64_t value : got)
    EXPECT_EQ(value, 77u);
  EXPECT_EQ(faultOfBody("discard.global.L2 [%out], 128;"), "");
}

TEST(Hints, OtherFormsAreRefused) {
  for (const char *line :
       {"prefetch.global [%p0];", "prefetch.shared.L1 [%p0];",
        "prefetchu.L2 [%p0];", "discard.global.L1 [%p0], 128;",
        "applypriority.global.L2::evict_last [%p0], 128;",
        "griddepcontrol.arrive;"})
    EXPECT_THAT(faultOfBody(line), HasSubstr("unsupported form")) << line;
  EXPECT_THAT(faultOfBody("discard.global.L2 [%p0], 64;"),
              HasSubstr("expected 128 as the size"));
}
