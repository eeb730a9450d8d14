// Tensor maps and cp.async.bulk.tensor, against a copy loop written here from
// the ISA's description: element by element, swizzles as the exclusive or of
// address bits.

#include "test/Unit/ptxsim_hopper/Kernel.h"

#include <cstring>
#include <numeric>

using namespace hopper;
using ptxsim::Dim3;
using ptxsim::TensorMap;
using ptxsim::TensorMapDesc;

namespace {

constexpr uint32_t smem = 1024; ///< where the kernel's array begins

uint32_t place(uint32_t offset, uint32_t swizzle) {
  // 32B: bit 4 by bit 7. 64B: bits 4-5 by 7-8. 128B: bits 4-6 by 7-9.
  uint32_t address = smem + offset;
  for (uint32_t bit = 0; bit < swizzle; ++bit)
    address ^= (address >> (7 + bit) & 1) << (4 + bit);
  return address - smem;
}

/// A tensor of 32-bit elements: value = linear index + 1.
struct Tensor {
  std::vector<uint64_t> dims;
  std::vector<uint32_t> box, elementStrides;
  uint32_t swizzle = 0;
  std::vector<uint32_t> data;
  std::vector<uint64_t> pitch; ///< elements

  Tensor(std::vector<uint64_t> dims, std::vector<uint32_t> box,
         uint32_t swizzle = 0, std::vector<uint32_t> elementStrides = {})
      : dims(dims), box(box), elementStrides(elementStrides), swizzle(swizzle) {
    uint64_t at = 1;
    for (uint64_t n : dims) {
      pitch.push_back(at);
      at *= (n + 3) / 4 * 4;
    }
    data.resize(at);
    std::iota(data.begin(), data.end(), 1u);
    if (this->elementStrides.empty())
      this->elementStrides.assign(dims.size(), 1);
  }
  TensorMapDesc desc(uint64_t address) const {
    TensorMapDesc d;
    d.type = TensorMapDesc::UInt32;
    d.rank = uint32_t(dims.size());
    d.address = address;
    for (size_t i = 0; i < dims.size(); ++i) {
      d.dims[i] = dims[i], d.box[i] = box[i];
      d.elementStrides[i] = elementStrides[i];
      if (i)
        d.strides[i - 1] = pitch[i] * 4;
    }
    d.swizzle = TensorMapDesc::Swizzle(swizzle);
    return d;
  }
  uint32_t words() const {
    uint32_t n = box[0];
    for (size_t i = 1; i < box.size(); ++i)
      n *= (box[i] + elementStrides[i] - 1) / elementStrides[i];
    return n;
  }
  /// f(index in data or none, word in shared memory) for the elements of the
  /// box at `at`.
  template <class F> void each(std::vector<int> at, F f) const {
    std::vector<uint32_t> i(box.size());
    for (uint32_t n = 0; n < words(); ++n) {
      bool inside = true;
      uint64_t index = 0;
      for (size_t k = 0; k < box.size(); ++k) {
        int64_t x = at[k] + int64_t(i[k]) * (k ? elementStrides[k] : 1);
        inside &= x >= 0 && x < int64_t(dims[k]);
        index += uint64_t(x) * pitch[k];
      }
      f(inside ? std::optional(index) : std::nullopt,
        place(n * 4, swizzle) / 4);
      for (size_t k = 0; k < box.size(); ++k) {
        if (++i[k] <
            (k ? (box[k] + elementStrides[k] - 1) / elementStrides[k] : box[k]))
          break;
        i[k] = 0;
      }
    }
  }
};

std::string coordinates(const std::vector<int> &at) {
  std::string text = "{";
  for (size_t i = 0; i < at.size(); ++i)
    text += (i ? ", " : "") + std::to_string(at[i]);
  return text + "}";
}

/// One thread loads the box to smem + 0 (the mbarrier is behind it), all store
/// what arrived.
std::string loader(const Tensor &t, const std::vector<int> &at,
                   const std::string &space) {
  const std::string bytes = std::to_string(t.words() * 4),
                    rank = std::to_string(t.dims.size());
  return kernel(R"(
    setp.eq.u32 %p0, %r0, 0;
    add.u32 %r2, %r1, 49152;
    @%p0 mbarrier.init.shared::cta.b64 [%r2], 1;
    @%p0 prefetch.tensormap [%d3];
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], )" +
                bytes + ";\n@%p0 cp.async.bulk.tensor." + rank + "d." + space +
                ".global.tile.mbarrier::complete_tx::bytes [%r1], [%d3, " +
                coordinates(at) + R"(], [%r2];
  W:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra W;
    mov.u32 %r5, %r0;
  L:
    mad.lo.u32 %r6, %r5, 4, %r1;
    ld.shared.b32 %r7, [%r6];
    mad.wide.u32 %d9, %r5, 4, %d0;
    st.global.b32 [%d9], %r7;
    add.u32 %r5, %r5, 32;
    setp.lt.u32 %p3, %r5, )" +
                std::to_string(t.words()) + ";\n@%p3 bra L;\n");
}

void checkLoad(const Tensor &t, std::vector<int> at) {
  for (auto options : {ptxsim::DeviceOptions(), lazy()})
    for (std::string space : {"shared::cluster", "shared::cta"}) {
      Program program(loader(t, at, space), options);
      uint64_t out = program.buffer(std::vector<uint32_t>(t.words()), "out"),
               in = program.buffer(t.data, "tensor");
      auto map = encodeTiled(t.desc(in));
      ASSERT_EQ(map.message(), "");
      ASSERT_EQ(program.run(32, out, 0, 0, *map), "");
      auto got = program.read<uint32_t>(out, t.words());
      t.each(at, [&](std::optional<uint64_t> index, uint32_t word) {
        ASSERT_EQ(got[word], index ? t.data[*index] : 0) << word;
      });
    }
}

TEST(TensorCopy, LoadsOfAllRanks) {
  checkLoad(Tensor({100}, {32}), {8});
  checkLoad(Tensor({40, 20}, {16, 8}), {12, 5});
  checkLoad(Tensor({20, 10, 6}, {8, 4, 3}), {4, 2, 1});
  checkLoad(Tensor({8, 6, 5, 4}, {4, 3, 2, 2}), {4, 1, 2, 1});
  checkLoad(Tensor({8, 6, 5, 4, 3}, {4, 3, 2, 2, 2}), {0, 2, 1, 1, 1});
}

TEST(TensorCopy, OutOfBoundsIsZero) {
  checkLoad(Tensor({40, 20}, {16, 8}), {32, 15});
  checkLoad(Tensor({40, 20}, {16, 8}), {-5, -3});
  checkLoad(Tensor({40, 20}, {16, 8}), {100, 0});
  checkLoad(Tensor({3, 20}, {16, 8}), {-1, 18});
}

TEST(TensorCopy, Swizzles) {
  for (uint32_t swizzle : {1, 2, 3}) {
    const uint32_t words = 4u << swizzle;
    checkLoad(Tensor({64, 100}, {words, 64}, swizzle), {4, 3});
    checkLoad(Tensor({64, 100}, {4, 64}, swizzle), {4, 90});
  }
}

TEST(TensorCopy, ElementStrides) {
  checkLoad(Tensor({16, 40}, {8, 16}, 0, {1, 2}), {4, 3});
  checkLoad(Tensor({16, 40}, {8, 15}, 0, {4, 4}), {4, 30});
}

TEST(TensorCopy, NaNFill) {
  Tensor t({40, 20}, {16, 8});
  Program program(loader(t, {32, 0}, "shared::cta"));
  uint64_t out = program.buffer(std::vector<uint32_t>(t.words())),
           in = program.buffer(t.data);
  TensorMapDesc d = t.desc(in);
  d.type = TensorMapDesc::Float32, d.fill = TensorMapDesc::FillNaN;
  ASSERT_EQ(program.run(32, out, 0, 0, *encodeTiled(d)), "");
  auto got = program.read<float>(out, t.words());
  for (uint32_t i = 0; i < t.words(); ++i)
    EXPECT_EQ(got[i] != got[i], i % 16 >= 8) << i;
}

TEST(TensorCopy, Stores) {
  // Shared memory holds its word numbers; reduction adds them to what is there.
  for (auto options : {ptxsim::DeviceOptions(), lazy()})
    for (uint32_t swizzle : {0, 1, 2, 3})
      for (bool reduces : {false, true}) {
        Tensor t({40, 20}, {8, 16}, swizzle);
        t.each({0, 0}, [](auto, uint32_t) {});
        if (swizzle == 1)
          t.box[0] = 8;
        const std::vector<int> at = {36, 7};
        const std::string body = R"(
    mov.u32 %r5, %r0;
  L:
    mad.lo.u32 %r6, %r5, 4, %r1;
    st.shared.b32 [%r6], %r5;
    add.u32 %r5, %r5, 32;
    setp.lt.u32 %p3, %r5, 128;
    @%p3 bra L;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.eq.u32 %p0, %r0, 0;
    @!%p0 bra END;
    )" + std::string(reduces ? "cp.reduce" : "cp") +
                                 ".async.bulk.tensor.2d.global.shared::cta" +
                                 (reduces ? ".add" : "") +
                                 R"(.tile.bulk_group [%d3, {36, 7}], [%r1];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  END:)";
        Program program(kernel(body), options);
        uint64_t in = program.buffer(t.data, "tensor");
        ASSERT_EQ(program.run(32, 0, 0, 0, *encodeTiled(t.desc(in))), "");
        auto got = program.read<uint32_t>(in, t.data.size());
        auto expected = t.data;
        t.each(at, [&](std::optional<uint64_t> index, uint32_t word) {
          if (index)
            expected[*index] = word + (reduces ? expected[*index] : 0);
        });
        ASSERT_EQ(got, expected) << swizzle;
      }
}

TEST(TensorCopy, Multicast) {
  // CTA 1 loads for CTAs 0, 1 and 3 of 4; every CTA waits for its own bytes.
  const Tensor t({40, 20}, {8, 4});
  for (auto options : {ptxsim::DeviceOptions(), lazy()}) {
    Program program(kernel(R"(
    mov.u32 %r10, %cluster_ctarank;
    setp.eq.u32 %p0, %r0, 0;
    add.u32 %r2, %r1, 49152;
    @%p0 mbarrier.init.shared::cta.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    setp.eq.u32 %p1, %r10, 2;
    @%p1 bra END;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
    setp.eq.and.u32 %p3, %r10, 1, %p0;
    mov.u16 %h1, 11;
    @%p3 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%d3, {4, 2}], [%r2], %h1;
  W:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra W;
    mad.lo.u32 %r6, %r0, 4, %r1;
    ld.shared.b32 %r7, [%r6];
    mad.lo.u32 %r8, %r10, 32, %r0;
    mad.wide.u32 %d9, %r8, 4, %d0;
    st.global.b32 [%d9], %r7;
  END:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;)",
                           ".reqnctapercluster 4"),
                    options);
    uint64_t out = program.buffer(std::vector<uint32_t>(128)),
             in = program.buffer(t.data);
    ASSERT_EQ(program.run(32, out, 0, 0, *encodeTiled(t.desc(in)), {4, 1, 1}),
              "");
    auto got = program.read<uint32_t>(out, 128);
    for (uint32_t cta : {0, 1, 3})
      t.each({4, 2}, [&](std::optional<uint64_t> index, uint32_t word) {
        EXPECT_EQ(got[cta * 32 + word], t.data[*index]);
      });
    EXPECT_EQ(got[64], 0u);
  }
}

TEST(TensorCopy, FaultsNameTheRule) {
  const Tensor t({40, 20}, {8, 4});
  auto run = [&](const std::string &statement, bool withMap = true) {
    Program program(
        kernel("mbarrier.init.shared::cta.b64 [%r1], 1;\n" + statement));
    uint64_t in = program.buffer(t.data);
    return program.run(1, 0, 0, 0,
                       withMap ? *encodeTiled(t.desc(in)) : TensorMap{});
  };
  const std::string load = ".shared::cta.global.mbarrier::complete_tx::bytes ";
  EXPECT_THAT(run("cp.async.bulk.tensor.2d" + load +
                      "[%r1+1024], [%d3, {0, 0}], [%r1];",
                  false),
              HasSubstr("there is no tensor map at address"));
  EXPECT_THAT(run("cp.async.bulk.tensor.3d" + load +
                  "[%r1+1024], [%d3, {0, 0, 0}], [%r1];"),
              HasSubstr("the tensor map has rank 2, expected 3"));
  EXPECT_THAT(run("cp.async.bulk.tensor.2d" + load +
                  "[%r1+1040], [%d3, {0, 0}], [%r1];"),
              HasSubstr("is not 128-byte aligned"));
  EXPECT_THAT(
      run("cp.async.bulk.tensor.2d" + load + "[%r1+1024], [%d3, {0}], [%r1];"),
      HasSubstr("expected [tensor map, {2 coordinates}]"));
}

TEST(TensorMap, DriversChecks) {
  TensorMapDesc good;
  good.type = TensorMapDesc::BFloat16;
  good.rank = 2;
  good.address = 0x10000;
  good.dims = {100, 50};
  good.strides = {208};
  good.box = {64, 16};
  good.swizzle = TensorMapDesc::Swizzle128B;
  ASSERT_EQ(encodeTiled(good).message(), "");
  auto back = ptxsim::decodeTiled(encodeTiled(good)->bytes.data());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->dims[1], 50u);
  EXPECT_EQ(back->strides[0], 208u);
  auto message = [&](auto change) {
    TensorMapDesc d = good;
    change(d);
    return encodeTiled(d).message();
  };
  EXPECT_EQ(message([](auto &d) { d.address = 0x10008; }),
            "tensor map: expected a global address that is a multiple of 16, "
            "but got 0x10008");
  EXPECT_EQ(message([](auto &d) { d.strides[0] = 200; }),
            "tensor map: expected a stride of dimension 1 that is a multiple "
            "of 16 below 2^40, but got 200");
  EXPECT_EQ(message([](auto &d) { d.box[1] = 257; }),
            "tensor map: expected a box of 1 to 256 elements in dimension 1, "
            "but got 257");
  EXPECT_EQ(message([](auto &d) { d.box[0] = 72; }),
            "tensor map: expected an inner box of at most 128 bytes with this "
            "swizzle, but got 144");
  EXPECT_EQ(message([](auto &d) { d.box[0] = 12; }),
            "tensor map: expected an inner box of a multiple of 16 bytes, but "
            "got 12 elements of 2 bytes");
  EXPECT_EQ(message([](auto &d) { d.rank = 6; }),
            "tensor map: expected a rank from 1 to 5, but got 6");
  EXPECT_EQ(message([](auto &d) { d.dims[0] = 0; }),
            "tensor map: expected dimension 0 of 1 to 2^32 elements, but got "
            "0");
  EXPECT_EQ(message([](auto &d) { d.elementStrides[1] = 9; }),
            "tensor map: expected an element stride of 1 to 8 in dimension 1, "
            "but got 9");
  EXPECT_EQ(message([](auto &d) { d.interleave = 1; }),
            "tensor map: expected no interleave (0), but got 1");
  EXPECT_EQ(message([](auto &d) {
              d.type = TensorMapDesc::UInt16, d.fill = TensorMapDesc::FillNaN;
            }),
            "tensor map: expected out-of-bounds elements to be filled with "
            "zero, but got 1");
}

} // namespace
