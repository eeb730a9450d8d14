// Forms of mma and wmma that do not exist, or that are not here. Those that are
// have their tests in test/Unit/ptxsim_forms/MmaSmall.cpp.

#include "Kernel.h"

#include <gtest/gtest.h>

using namespace harness;

TEST(MmaSmall, OtherFormsAreRefused) {
  for (const char *line :
       {"mma.sync.aligned.m8n8k4.col.row.f64.f64.f64.f64 {%d1,%d2}, {%d3}, "
        "{%d4}, {%d5,%d6};",
        "mma.sync.aligned.m16n8k16.col.row.f32.bf16.bf16.f32 "
        "{%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2,%r3,%r4};",
        "mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, "
        "{%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2,%r3,%r4};",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1,%r2}, {%r3}, "
        "{%r4}, {%r5,%r6};",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2}, {%r1,%r2,%r3,%r4}, %r5, 0;",
        "wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r1}, [%d0], 32;",
        "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.u4.s32 {%r5,%r6}, {%r1}, "
        "{%r2}, {%r3,%r4};"})
    EXPECT_NE(loadError(line).find("unsupported form"), std::string::npos)
        << line << ": " << loadError(line);
}
