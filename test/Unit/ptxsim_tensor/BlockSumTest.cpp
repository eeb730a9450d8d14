// How tensor cores add in the modes h100 and a100: against results of hardware,
// and cases computed by hand.

#include "runtime/ptxsim/numeric/BlockSum.h"
#include "Kernel.h"
#include "runtime/ptxsim/numeric/Element.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

using namespace harness;
using namespace ptxsim;

namespace {

using Floats = std::vector<float>;

float dot(const BlockModel &model, const Floats &a, const Floats &b, float c) {
  float d[8] = {c, c, c, c, c, c, c, c};
  for (size_t at = 0; at < a.size(); at += BlockColumns::most) {
    const unsigned k =
        unsigned(std::min<size_t>(BlockColumns::most, a.size() - at));
    BlockColumns columns;
    for (unsigned i = 0; i < k; ++i)
      for (float &value : columns.value[i])
        value = b[at + i];
    columns.finish(k, model.leastB);
    addBlocks(model, a.data() + at, columns, k, d);
  }
  for (float x : d)
    EXPECT_EQ(std::bit_cast<uint32_t>(x), std::bit_cast<uint32_t>(d[0]));
  return d[3];
}

const std::map<std::string, MmaElement> formats = {{"bf16", MmaElement::BF16},
                                                   {"fp16", MmaElement::F16},
                                                   {"tf32", MmaElement::TF32},
                                                   {"e4m3", MmaElement::E4M3},
                                                   {"e5m2", MmaElement::E5M2}};

BlockModel modelOf(Numerics mode, MmaElement e,
                   MmaAccumulator accumulator = MmaAccumulator::F32) {
  return blockModel(mode, e, e, accumulator);
}

/// Bits without the zeros at their end.
float number(const std::string &digits) {
  std::string all = digits;
  all.resize(8, '0');
  return std::bit_cast<float>(uint32_t(std::stoul(all, nullptr, 16)));
}

/// The bits of a value in an fp8 format.
uint32_t encode(MmaElement e, float value) {
  for (uint32_t code = 0; code < 256; ++code) {
    const auto byte = uint8_t(code);
    if (std::bit_cast<uint32_t>(floatElement(e, &byte, 0)) ==
        std::bit_cast<uint32_t>(value))
      return code;
  }
  ADD_FAILURE() << value;
  return 0;
}

/// Element (0, 0) of an mma of fp8 with this row of A and this column of B.
float mmaOfFp8(MmaElement e, MmaAccumulator accumulator, const Floats &a,
               const Floats &b, float c, Numerics mode = Numerics::H100) {
  const MmaShape shape{e, e, accumulator, unsigned(a.size())};
  uint32_t rows[14][32] = {}, *list[14];
  for (unsigned i = 0; i < 14; ++i)
    list[i] = rows[i];
  uint32_t **A = list, **B = list + 4, **C = list + 6, **D = list + 10;
  for (unsigned k = 0; k < shape.k; ++k) {
    const unsigned lane = k / 4 % 4, shift = k % 4 * 8;
    A[k / 16 * 2][lane] |= encode(e, a[k]) << shift;
    B[k / 16][lane] |= encode(e, b[k]) << shift;
  }
  const bool half = accumulator == MmaAccumulator::F16;
  C[0][0] =
      half ? std::bit_cast<uint16_t>(_Float16(c)) : std::bit_cast<uint32_t>(c);
  mmaBlocks(shape, mode, D, A, B, C);
  return half ? float(std::bit_cast<_Float16>(uint16_t(D[0][0])))
              : std::bit_cast<float>(D[0][0]);
}

TEST(BlockSum, ResultsOfHardware) {
  std::ifstream in(K2C_SOURCE_DIR
                   "/test/Unit/ptxsim_tensor/Inputs/tensor_core_results.txt");
  ASSERT_TRUE(in.good());
  unsigned count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#"))
      continue;
    std::istringstream words(line);
    std::string device, format, result, c, d;
    words >> device >> format >> result >> c >> d;
    Floats values[2];
    unsigned which = 0;
    for (std::string word; words >> word;)
      word == "|" ? void(which = 1) : values[which].push_back(number(word));
    ASSERT_EQ(values[0].size(), values[1].size());
    const bool half = result == "fp16";
    float start = number(c);
    if (half) // the accumulator of an f16 result is f16
      start = float(_Float16(start));
    const BlockModel model = modelOf(
        device == "a100" ? Numerics::A100 : Numerics::H100, formats.at(format),
        half ? MmaAccumulator::F16 : MmaAccumulator::F32);
    // Those of fp8 with f16 results are of mma, the others of wgmma.
    const float got = half && device != "a100" && format[0] == 'e'
                          ? mmaOfFp8(formats.at(format), MmaAccumulator::F16,
                                     values[0], values[1], start)
                          : dot(model, values[0], values[1], start);
    EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(number(d)))
        << line;
    ++count;
  }
  EXPECT_GT(count, 200u);
}

TEST(BlockSum, CutsOffBelowTheLargestExponent) {
  const BlockModel h100 = modelOf(Numerics::H100, MmaElement::BF16),
                   a100 = modelOf(Numerics::A100, MmaElement::BF16);
  const float one = 1, tiny = 0x1p-12f; // products 2^-24 and less
  // 1 + 2^-24 + 2^-24: 25 fraction bits keep both, and their sum is 2^-23.
  EXPECT_EQ(dot(h100, {one, tiny, tiny}, {one, tiny, tiny}, 0), 1 + 0x1p-23f);
  // 2^-26 is cut off, however often it comes.
  Floats a(16, 0x1p-13f), b(16, 0x1p-13f);
  a[0] = b[0] = 1;
  EXPECT_EQ(dot(h100, a, b, 0), 1.0f);
  // ... but fifteen of them are 2^-22 and some if nothing is larger.
  a[0] = b[0] = 0;
  EXPECT_EQ(dot(h100, a, b, 0), 15 * 0x1p-26f);
  // An A100 has 24 bits: 2^-25 is cut off there and kept here.
  Floats c(8, 0x1p-12f), d(8, 0x1p-13f);
  c[0] = d[0] = 1;
  EXPECT_EQ(dot(h100, c, d, 0), 1 + 0x1p-23f); // 7 * 2^-25, cut to 2^-23
  EXPECT_EQ(dot(a100, c, d, 0), 1.0f);
  // The accumulator takes part in the alignment.
  EXPECT_EQ(dot(h100, {1}, {0x1p-7f}, 0x1p19f), 0x1p19f);
  EXPECT_EQ(dot(h100, {1, 1}, {0x1p-7f, 0x1p-6f}, -0x1p19f),
            -0x1p19f + 0x1p-5f - 0x1p-7f - 0x1p-7f); // 2^-7 + 2^-6 = 0.0234375,
                                                     // cut off at 2^-5: none
}

TEST(BlockSum, CutsTowardsZeroAndOverflows) {
  const BlockModel m = modelOf(Numerics::H100, MmaElement::BF16);
  // -1 - 2^-24 - 2^-25: the sum is cut to -1, not rounded to -1 - 2^-23.
  EXPECT_EQ(dot(m, {1, 0x1p-12f, 0x1p-13f}, {-1, -0x1p-12f, -0x1p-12f}, 0),
            -1.0f);
  const float big = 0x1p127f, inf = INFINITY;
  EXPECT_EQ(dot(m, {big, big}, {1, 1}, 0), inf);
  EXPECT_EQ(dot(m, {big, big}, {2, -2}, 1), 0.0f); // no overflow in between
  EXPECT_EQ(dot(m, {inf}, {1}, 5), inf);
  EXPECT_EQ(dot(m, {-1}, {inf}, 5), -inf);
  EXPECT_TRUE(std::isnan(dot(m, {inf, 1}, {1, -inf}, 0)));
  EXPECT_TRUE(std::isnan(dot(m, {inf}, {0}, 0)));
  EXPECT_TRUE(std::isnan(dot(m, {1}, {1}, NAN)));
  // Subnormal results are kept, and cut off at 2^-149.
  EXPECT_EQ(dot(m, {0x1p-126f}, {0x1.8p-3f}, 0), 0x1.8p-129f);
  EXPECT_EQ(dot(m, {0x1p-126f}, {0x1.8p-23f}, 0), 0x1p-149f);
  EXPECT_EQ(dot(m, {}, {}, -0.0f), 0.0f);
  // A product is not normalised: 1.5 * 1.5 has exponent 0, so that 2^-25 is
  // kept.
  EXPECT_EQ(dot(m, {1.5f, 0x1p-13f, -1}, {1.5f, 0x1p-12f, 1.9375f}, 0),
            0.3125f + 0x1p-25f);
}

TEST(BlockSum, Fp8KeepsThirteenBits) {
  const BlockModel m = modelOf(Numerics::H100, MmaElement::E4M3);
  EXPECT_EQ(m.block, 32u);
  // 1 + 2^-14 is 1; 1 + 2^-13 is kept.
  EXPECT_EQ(dot(m, {1, 0x1p-6f}, {1, 0x1p-8f}, 0), 1.0f);
  EXPECT_EQ(dot(m, {1, 0x1p-6f}, {1, 0x1p-7f}, 0), 1 + 0x1p-13f);
  // Accumulator and result have no more bits either.
  EXPECT_EQ(dot(m, {1}, {1}, 1 + 0x1p-14f), 2.0f);
  EXPECT_EQ(dot(m, {1, 0x1p-6f}, {2, 0x1p-7f}, 2), 4.0f);
}

TEST(BlockSum, MmaOfFp8IsTwoProductsOfF16) {
  // Elements 0 and 1 of four are added first, then 2 and 3; C comes last.
  using enum MmaAccumulator;
  const auto e = MmaElement::E4M3;
  const Floats one(16, 1);
  Floats a(16, 0);
  // 2^-10 + 1024 + 2^-10, in float, where wgmma has 13 bits.
  a[0] = 0x1p-9f, a[1] = 256, a[3] = 0x1p-9f;
  EXPECT_EQ(mmaOfFp8(e, F32, a, one, 0), 256 + 0x1p-8f);
  // In f16 the sum of the first half is rounded, and that of the second:
  // 256 + 1/8 is 256, twice.
  a[0] = 0.125f, a[3] = 0.125f;
  EXPECT_EQ(mmaOfFp8(e, F16, a, one, 0), 256.0f);
  // In one half 256 + 2/8 are kept.
  a[3] = 0, a[4] = 0.125f;
  EXPECT_EQ(mmaOfFp8(e, F16, a, one, 0), 256.25f);
  // C does not take part in the alignment: 0.25 + 256.25 - 256.
  EXPECT_EQ(mmaOfFp8(e, F16, a, one, -256), 0.25f);
  EXPECT_EQ(mmaOfFp8(e, F16, a, one, 0x1p-24f), 256.25f);
  a.resize(32);
  EXPECT_EQ(mmaOfFp8(e, F32, a, Floats(32, 1), -0x1p20f), 256.25f - 0x1p20f);
  EXPECT_TRUE(std::isnan(mmaOfFp8(e, F16, a, Floats(32, 1), NAN)));
  EXPECT_EQ(mmaOfFp8(e, F16, a, Floats(32, 448), 0), INFINITY);
}

TEST(BlockSum, F16ResultsAreRounded) {
  const BlockModel m =
      modelOf(Numerics::H100, MmaElement::F16, MmaAccumulator::F16);
  EXPECT_EQ(dot(m, {1, 0x1p-6f}, {1, 0x1.8p-5f}, 0), 1 + 0x1p-10f);
  EXPECT_EQ(dot(m, {1, 0x1p-6f}, {1, 0x1p-5f}, 0), 1.0f); // to even
  EXPECT_EQ(dot(m, {60000}, {2}, 0), INFINITY);
}

/// Largest relative error against double, of sums of positive products: the
/// figures that were published with the models, reproduced within a factor.
double worst(const BlockModel *model, MmaElement format, unsigned k) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  double most = 0;
  for (unsigned i = 0; i < 40; ++i) {
    Floats a(k), b(k);
    double exact = 0;
    float chain = 0;
    auto draw = [&] {
      float x = std::fabs(normal(random));
      const uint32_t keep =
          format == MmaElement::BF16 ? 0xffff0000u : 0xfff00000u;
      return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & keep);
    };
    for (unsigned j = 0; j < k; ++j) {
      a[j] = draw(), b[j] = draw();
      exact += double(a[j]) * double(b[j]);
      chain = std::fma(a[j], b[j], chain);
    }
    const double got = model ? dot(*model, a, b, 0) : chain;
    most = std::max(most, std::fabs(got - exact) / exact);
  }
  return most;
}

TEST(BlockSum, ErrorsGrowWithKAsPublished) {
  const BlockModel bf16 = modelOf(Numerics::H100, MmaElement::BF16);
  BlockModel fp8 = modelOf(Numerics::H100, MmaElement::E4M3);
  fp8.leastA = fp8.leastB = -126; // the table's inputs have three mantissa bits
                                  // and the exponents of float
  auto near = [](double got, double published) {
    EXPECT_GT(got, published / 2.5);
    EXPECT_LT(got, published * 2.5);
  };
  near(worst(&bf16, MmaElement::BF16, 1024), 2.5e-6);
  near(worst(&bf16, MmaElement::BF16, 4096), 1.5e-5);
  near(worst(&bf16, MmaElement::BF16, 16384), 8.4e-5);
  near(worst(&fp8, MmaElement::E4M3, 128), 1.0e-3);
  near(worst(&fp8, MmaElement::E4M3, 512), 6.6e-3);
  near(worst(&fp8, MmaElement::E4M3, 4096), 6.9e-2);
  near(worst(nullptr, MmaElement::BF16, 1024), 1.2e-6);
  near(worst(nullptr, MmaElement::BF16, 4096), 2.7e-6);
  near(worst(nullptr, MmaElement::E4M3, 4096), 5e-7);
}

TEST(BlockSum, OptionsByName) {
  DeviceOptions options;
  EXPECT_TRUE(readOptions("tc=h100", options).ok());
  EXPECT_EQ(options.numerics, Numerics::H100);
  EXPECT_TRUE(readNumerics("a100", options).ok());
  EXPECT_EQ(options.numerics, Numerics::A100);
  EXPECT_TRUE(readNumerics("exact32", options).ok());
  EXPECT_EQ(options.numerics, Numerics::Exact32);
  EXPECT_EQ(readOptions("tc=v100", options).message(),
            "tc: expected exact32, h100 or a100, but got 'v100'");
}

} // namespace
