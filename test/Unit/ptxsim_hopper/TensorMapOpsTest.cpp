// tensormap.replace, tensormap.cp_fenceproxy: a kernel makes its own tensor map
// from zeros, or changes one.

#include "test/Unit/ptxsim_hopper/Kernel.h"

using namespace hopper;
using namespace ptxsim;

namespace {

/// Thread 0 makes a map of 8 x 8 words at in0 (%d1) in shared memory and
/// copies it to `out` + 512 (in global memory); `fields` may change it.
std::string make(const std::string &fields) {
  return R"(
  add.u32 %r2, %r1, 1024;
  shl.b32 %r3, %r0, 2;
  add.u32 %r4, %r2, %r3;
  mov.b32 %r5, 0;
  st.shared.b32 [%r4], %r5;
  bar.warp.sync 0xffffffff;
  setp.eq.u32 %p1, %r0, 0;
  @!%p1 bra MADE;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r2], %d1;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r2], 0, 8;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r2], 1, 4;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 0, 8;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 1, 8;
  mov.b64 %d6, 32;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r2], 0, %d6;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r2], 0, 1;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r2], 1, 1;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r2], 2;
  tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r2], 0;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r2], 0;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r2], 0;
)" + fields +
         R"(
MADE:
  bar.warp.sync 0xffffffff;
  add.s64 %d5, %d0, 512;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d5], [%r2], 128;
  fence.proxy.tensormap::generic.acquire.gpu [%d5], 128;
)";
}

/// A copy of the box at row 2 by the map at %d5, to out.
const std::string copy = R"(
  add.u32 %r6, %r1, 2048;
  @!%p1 bra DONE;
  mbarrier.init.shared.b64 [%r6], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 128;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d5, {0, 2}], [%r6];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0;
  @!%p2 bra WAIT;
DONE:
  bar.sync 0;
  shl.b32 %r3, %r0, 2;
  add.u32 %r4, %r1, %r3;
  ld.shared.b32 %r5, [%r4];
  cvt.u64.u32 %d7, %r3;
  add.s64 %d7, %d7, %d0;
  st.global.b32 [%d7], %r5;
)";

std::vector<uint32_t> numbers() {
  std::vector<uint32_t> n(64);
  for (uint32_t i = 0; i < 64; ++i)
    n[i] = 100 + i;
  return n;
}

} // namespace

TEST(TensorMapOps, MadeFromZeros) {
  const auto out = outputOf(make("") + copy, 32, 160, numbers());
  ASSERT_EQ(out.size(), 160u);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 100 + 16 + i);
}

TEST(TensorMapOps, ChangedInGlobalMemory) {
  // The address moves by one row.
  const auto out = outputOf(
      make("") +
          "add.s64 %d6, %d1, 32; @%p1 tensormap.replace.tile.global_address."
          "global.b1024.b64 [%d5], %d6; @%p1 tensormap.replace.tile.global_dim."
          "b1024.b32 [%d5], 1, 7; fence.proxy.tensormap::generic.release.gpu; "
          "fence.proxy.tensormap::generic.acquire.gpu [%d5], 128;" +
          copy,
      32, 160, numbers());
  ASSERT_EQ(out.size(), 160u);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 100 + 24 + i);
}

TEST(TensorMapOps, FencesOfTheTensorMapProxy) {
  const std::string acquire =
      "fence.proxy.tensormap::generic.acquire.gpu [%d5], 128;\n";
  const auto run = [&](const std::string &behind, DeviceOptions options = {}) {
    std::string body = make("");
    body.erase(body.find(acquire), acquire.size());
    return errorOf(body + behind + copy, 32, options);
  };
  EXPECT_EQ(run(acquire), "");
  EXPECT_EQ(run("@%p1 " + acquire), "");
  const std::string text = "the tensor map at address 0x";
  EXPECT_THAT(run(""),
              HasSubstr(", but no fence.proxy.tensormap::generic.acquire of it "
                        "has followed"));
  // Of another map.
  EXPECT_THAT(run("add.s64 %d6, %d5, 128;\n"
                  "fence.proxy.tensormap::generic.acquire.gpu [%d6], 128;\n"),
              HasSubstr(text));
  const std::string change =
      "@%p1 tensormap.replace.tile.global_dim.global.b1024.b32 [%d5], 1, 7;\n";
  EXPECT_THAT(run(acquire + change),
              HasSubstr("no fence.proxy.tensormap::generic.release has "
                        "followed"));
  EXPECT_THAT(run(change + acquire),
              HasSubstr("no fence.proxy.tensormap::generic.release has "
                        "followed"));
  EXPECT_EQ(
      run(change + "fence.proxy.tensormap::generic.release.gpu;\n" + acquire),
      "");
  DeviceOptions off;
  off.checks.proxyFence = false;
  EXPECT_EQ(run("", off), "");
}

TEST(TensorMapOps, ElementTypesAreNumberedByTheISA) {
  // 10 is bf16 (the driver's 9): the box of 8 is then 16 bytes wide.
  const auto out = outputOf(
      make("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r2], 10;\n"
           "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 0, "
           "16;\n"
           "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r2], 0, "
           "16;") +
          copy,
      32, 160, numbers());
  ASSERT_EQ(out.size(), 160u);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 100 + 16 + i);
}

// CUTLASS and Triton clear bit 85 of the maps of small tensors: a fault of
// NVIDIA's drivers before 13.2.
TEST(TensorMapOps, Bit85MayBeCleared) {
  TensorMapDesc desc;
  desc.type = TensorMapDesc::Float32;
  desc.rank = 1;
  desc.address = 0x7fff'ffff'fff0;
  desc.dims[0] = 1000;
  desc.box[0] = 8;
  desc.elementStrides[0] = 1;
  auto map = encodeTiled(desc);
  ASSERT_TRUE(map) << map.message();
  const auto before = map->bytes;
  map->bytes[8 + 21 / 8] &= std::byte(~(1u << 21 % 8));
  EXPECT_EQ(map->bytes, before);
  EXPECT_EQ(decodeTiled(map->bytes.data())->address, desc.address);
}

// ptxas of CUDA 13.0 makes the same code of both versions, a shift by 4 before
// the store: the test tensormap-stride.test asks it.
TEST(TensorMapOps, StridesAreBytesInEveryVersion) {
  for (const char *version : {"8.4", "8.6"}) {
    std::string ptx = kernel(make("") + copy);
    ptx.replace(ptx.find("8.6"), 3, version);
    Program program(ptx);
    const uint64_t out = program.buffer(std::vector<uint32_t>(160)),
                   in = program.buffer(numbers());
    ASSERT_EQ(program.run(32, out, in), "") << version;
    EXPECT_EQ(program.read<uint32_t>(out, 9)[8], 100u + 24) << version;
    // What compilers write for older assemblers.
    ptx.replace(ptx.find("mov.b64 %d6, 32"), 15, "mov.b64 %d6, 2");
    Program divided(ptx);
    EXPECT_THAT(divided.run(32, divided.buffer(std::vector<uint32_t>(160)),
                            divided.buffer(numbers())),
                HasSubstr("expected a stride that is a multiple of 16 bytes "
                          "below 2^40, but got 2"))
        << version;
  }
}

TEST(TensorMapOps, Faults) {
  EXPECT_THAT(errorOf("tensormap.replace.tile.rank.global.b1024.b32 [%d0], 5;"),
              HasSubstr("expected a rank less one from 0 to 4, but got 5"));
  EXPECT_THAT(
      errorOf("mov.b32 %r2, 7; st.global.b32 [%d0], %r2; tensormap.replace."
              "tile.rank.global.b1024.b32 [%d0], 1;"),
      HasSubstr("there is neither a tensor map nor zeros"));
  EXPECT_THAT(errorOf("tensormap.replace.tile.box_dim.global.b1024.b32 [%d0], "
                      "5, 1;"),
              HasSubstr("expected a dimension below 5, but got 5"));
  EXPECT_THAT(errorOf("add.s64 %d0, %d0, 8; tensormap.replace.tile.rank.global."
                      "b1024.b32 [%d0], 1;"),
              HasSubstr("is not 64-byte aligned"));
  for (const char *line :
       {"tensormap.replace.tile.rank.global.b1024.b64 [%d0], %d1;",
        "tensormap.replace.tile.global_address.global.b1024.b32 [%d0], %r1;",
        "tensormap.replace.rank.global.b1024.b32 [%d0], 1;",
        "tensormap.replace.tile.rank.shared.b1024.b32 [%r1], 1;",
        "tensormap.replace.tile.swizzle_atomicity.b1024.b32 [%d0], 1;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
        "gpu.sync [%d0], [%r1], 128;"})
    EXPECT_THAT(errorOf(line), HasSubstr("unsupported form")) << line;
  EXPECT_THAT(errorOf("tensormap.replace.tile.swizzle_mode.b1024.b32 [%d0], "
                      "%r1;"),
              HasSubstr("expected an integer immediate"));
}
