// ldmatrix, stmatrix, movmatrix: positions as the PTX ISA's figures give them.

#include "Kernel.h"

#include <gtest/gtest.h>

#include <map>

using namespace harness;

namespace {

/// Shared memory of 64 rows of 16 bytes, element e of row r = 256 r + e; row
/// r of the kernel's matrices is row `permute(r)` there.
const char fillShared[] = R"(
{ // lane l fills rows 2l and 2l+1
.reg .b32 base, value, address, i;
.reg .b16 h;
.reg .pred p;
mov.u32 base, s;
mov.u32 i, 0;
LOOP:
shr.u32 value, i, 3;
shl.b32 address, %r0, 1;
add.u32 address, address, value; // row
and.b32 value, i, 7;
shl.b32 %r39, address, 8;
or.b32 value, %r39, value;
cvt.u16.u32 h, value;
shl.b32 address, address, 4;
and.b32 %r39, i, 7;
shl.b32 %r39, %r39, 1;
add.u32 address, address, %r39;
add.u32 address, address, base;
st.shared.u16 [address], h;
add.u32 i, i, 1;
setp.lt.u32 p, i, 16;
@p bra LOOP;
}
bar.sync 0;
)";
const char sharedArray[] = ".shared .align 16 .b8 s[1024];\n";

/// lane l takes the row 63 - l (so that every lane's address matters): %r1.
const char addresses[] = "sub.u32 %r2, 63, %r0;\nshl.b32 %r2, %r2, 4;\n"
                         "mov.u32 %r1, s;\nadd.u32 %r1, %r1, %r2;\n";

std::string storeRegisters(unsigned n) {
  std::string text =
      "mad.wide.u32 %d1, %r0, " + std::to_string(4 * n) + ", %d0;\n";
  for (unsigned i = 0; i < n; ++i)
    text += "st.global.b32 [%d1+" + std::to_string(4 * i) + "], %r" +
            std::to_string(10 + i) + ";\n";
  return text;
}

std::string registerList(unsigned n) {
  std::string list = "{";
  for (unsigned i = 0; i < n; ++i)
    list += (i ? ", %r" : "%r") + std::to_string(10 + i);
  return list + "}";
}

void checkLoad(const std::string &form, unsigned n, bool trans,
               bool generic = false) {
  std::string address = "[%r1]", extra;
  if (generic) {
    extra = "cvt.u64.u32 %d2, %r1;\ncvta.shared.u64 %d3, %d2;\n";
    address = "[%d3]";
  }
  Program kernel(warpKernel(std::string(fillShared) + addresses + extra + form +
                                " " + registerList(n) + ", " + address + ";\n" +
                                storeRegisters(n),
                            sharedArray));
  uint64_t out = kernel.buffer(std::vector<uint32_t>(32 * n));
  kernel.launch("k", {}, {32, 1, 1}, out);
  ASSERT_EQ(kernel.error, "") << form;
  auto d = kernel.read<uint32_t>(out, 32 * n);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < n; ++i)
      for (unsigned half = 0; half < 2; ++half) {
        // Thread L holds row L/4, elements 2(L%4) and 2(L%4)+1 of each matrix;
        // .trans exchanges rows and elements. Rows of matrix i come from lanes
        // 8i to 8i+7.
        unsigned row = lane / 4, element = lane % 4 * 2 + half;
        if (trans)
          std::swap(row, element);
        unsigned source = 63 - (8 * i + row);
        ASSERT_EQ(d[lane * n + i] >> 16 * half & 0xffff, 256 * source + element)
            << form << " lane " << lane << " matrix " << i;
      }
}

TEST(MatrixMove, LdmatrixDistributesRows) {
  checkLoad("ldmatrix.sync.aligned.m8n8.x1.shared.b16", 1, false);
  checkLoad("ldmatrix.sync.aligned.m8n8.x2.shared.b16", 2, false);
  checkLoad("ldmatrix.sync.aligned.m8n8.x4.shared.b16", 4, false);
  checkLoad("ldmatrix.sync.aligned.x4.m8n8.shared::cta.b16", 4, false);
  checkLoad("ldmatrix.sync.aligned.m8n8.x4.b16", 4, false, true);
}

TEST(MatrixMove, LdmatrixTransposed) {
  checkLoad("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", 1, true);
  checkLoad("ldmatrix.sync.aligned.m8n8.trans.x2.shared.b16", 2, true);
  checkLoad("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, true);
}

TEST(MatrixMove, StmatrixIsTheInverse) {
  for (unsigned n : {1u, 2u, 4u})
    for (bool trans : {false, true}) {
      // Lane l holds 0x(2l+1)(2l) + 0x4000 i in matrix i: row-major numbers.
      std::string text = addresses;
      for (unsigned i = 0; i < n; ++i) {
        std::string r = "%r" + std::to_string(10 + i);
        text += "mad.lo.u32 " + r + ", %r0, 0x00020002, " +
                std::to_string(0x00010000 + 0x01000100 * i) + ";\n";
      }
      text += "stmatrix.sync.aligned.m8n8.x" + std::to_string(n) +
              (trans ? ".trans" : "") + ".shared.b16 [%r1], " +
              registerList(n) + ";\nbar.sync 0;\n";
      // Every lane that gave an address copies its row out.
      text += "setp.ge.u32 %p1, %r0, " + std::to_string(8 * n) +
              ";\n@%p1 ret;\n"
              "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r1];\n"
              "mad.wide.u32 %d1, %r0, 16, %d0;\n"
              "st.global.v4.b32 [%d1], {%r20, %r21, %r22, %r23};\n";
      Program kernel(warpKernel(text, sharedArray));
      uint64_t out = kernel.buffer(std::vector<uint16_t>(64 * n));
      kernel.launch("k", {}, {32, 1, 1}, out);
      ASSERT_EQ(kernel.error, "");
      auto d = kernel.read<uint16_t>(out, 64 * n);
      for (unsigned i = 0; i < n; ++i)
        for (unsigned row = 0; row < 8; ++row)
          for (unsigned e = 0; e < 8; ++e) {
            unsigned number = trans ? e * 8 + row : row * 8 + e;
            ASSERT_EQ(d[(i * 8 + row) * 8 + e], 0x100 * i + number)
                << "x" << n << " matrix " << i << " row " << row << " element "
                << e;
          }
    }
}

TEST(MatrixMove, MovmatrixTransposes) {
  Program kernel(
      warpKernel("mad.lo.u32 %r10, %r0, 0x00020002, 0x00010000;\n"
                 "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;\n" +
                 storeRegisters(1)));
  uint64_t out = kernel.buffer(std::vector<uint32_t>(32));
  kernel.launch("k", {}, {32, 1, 1}, out);
  ASSERT_EQ(kernel.error, "");
  auto d = kernel.read<uint16_t>(out, 64);
  for (unsigned row = 0; row < 8; ++row)
    for (unsigned column = 0; column < 8; ++column)
      EXPECT_EQ(d[row * 8 + column], column * 8 + row);
}

ptxsim::Counters countersWithStride(unsigned stride) {
  std::string text =
      "mul.lo.u32 %r2, %r0, " + std::to_string(stride) +
      ";\nmov.u32 %r1, s;\nadd.u32 %r1, %r1, %r2;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];\n";
  ptxsim::DeviceOptions options;
  options.checks.uninitialisedShared = false;
  Program kernel(warpKernel(text, ".shared .align 128 .b8 s[8192];\n"),
                 options);
  kernel.launch("k", {}, {32, 1, 1}, kernel.buffer(std::vector<uint32_t>(1)));
  EXPECT_EQ(kernel.error, "");
  return kernel.counters;
}

TEST(MatrixMove, BankConflictsPerMatrix) {
  // Eight rows of 16 bytes: consecutive ones fill the 32 banks, rows 128 bytes
  // apart all share four banks, rows at one address are one.
  const std::map<unsigned, unsigned> passes = {
      {16, 1}, {32, 2}, {64, 4}, {128, 8}, {0, 1}, {144, 1}, {48, 1}, {96, 2}};
  for (auto [stride, expected] : passes) {
    ptxsim::Counters c = countersWithStride(stride);
    EXPECT_EQ(c.sharedWavefronts, expected) << "stride " << stride;
    EXPECT_EQ(c.sharedIdealWavefronts, 1u);
  }
}

std::string faultOf(const std::string &body,
                    const char *declarations = sharedArray) {
  Program kernel(warpKernel(body, declarations));
  uint64_t out = kernel.buffer(std::vector<uint32_t>(32));
  kernel.launch("k", {}, {32, 1, 1}, out);
  return kernel.error;
}

TEST(MatrixMove, FaultsNameLaneAndAddress) {
  const std::string load =
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];\n";
  std::string fill = fillShared;
  EXPECT_NE(faultOf(fill + addresses + "add.u32 %r1, %r1, 8;\n" + load)
                .find("is not 16-byte aligned"),
            std::string::npos);
  EXPECT_NE(faultOf(std::string(addresses) + load +
                    ".reg .b64 %n; cvt.u64.u32 %n, %r10; "
                    "st.global.b32 [%n], %r0;\n")
                .find("never written"),
            std::string::npos);
  std::string beyond = faultOf(fill +
                               "shl.b32 %r1, %r0, 8;\nmov.u32 %r2, s;\n"
                               "add.u32 %r1, %r1, %r2;\n" +
                               load);
  EXPECT_NE(beyond.find("lane 4"), std::string::npos) << beyond;
  EXPECT_NE(beyond.find("outside"), std::string::npos) << beyond;
  // Lanes that give no row of x1 may have any address.
  EXPECT_EQ(faultOf(fill + addresses +
                    "setp.gt.u32 %p1, %r0, 7;\n@%p1 mov.u32 %r1, 3;\n" + load),
            "");
  std::string diverged =
      faultOf(fill + addresses + "setp.lt.u32 %p1, %r0, 16;\n@%p1 " + load);
  EXPECT_NE(diverged.find("must execute this together"), std::string::npos)
      << diverged;
  std::string exited = faultOf(
      fill + addresses + "setp.eq.u32 %p1, %r0, 31;\n@%p1 exit;\n" + load);
  EXPECT_NE(exited.find("lane 31"), std::string::npos) << exited;
  std::string global =
      faultOf("ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%d0];\n");
  EXPECT_NE(global.find("must be in shared memory"), std::string::npos)
      << global;
}

TEST(MatrixMove, FormsThatDoNotExistAreRefused) {
  for (const char *text :
       {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r5];",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r1, [%r5];",
        "ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r1}, [%d5];",
        "ldmatrix.sync.m8n8.x1.shared.b16 {%r1}, [%r5];",
        "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1,%r2,%r3}, [%r5];",
        "movmatrix.sync.aligned.m8n8.b16 %r1, %r2;"})
    EXPECT_NE(loadError(text), "") << text;
}

} // namespace
