// Every entry of Inputs/layout_vectors.json, which an independent executable
// reference wrote.
#include "test/Unit/Layout/Catalogue.h"

#include "dialects/Tile/LayoutAnalysis.h"
#include "dialects/Tile/LayoutConversion.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace k2c::tile;
using namespace k2c::tile::test;
using nlohmann::json;
using testing::ElementsAreArray;

static const json &golden() {
  static const json data = [] {
    std::ifstream in(K2C_SOURCE_DIR
                     "/test/Unit/Layout/Inputs/layout_vectors.json");
    return json::parse(in);
  }();
  return data;
}

static const LinearLayout &layoutNamed(const json &name) {
  return layouts().at(name.get<std::string>());
}
static const SharedMap &sharedNamed(const json &name) {
  return sharedMaps().at(name.get<std::string>());
}

/// The file is alphabetical for "col" and "row"; the order of dims is (row,
/// col).
static std::vector<int64_t> shapeOf(const json &shape) {
  std::vector<int64_t> out;
  for (const char *dim : {"matrix", "row", "col"})
    if (shape.contains(dim))
      out.push_back(shape[dim]);
  return out;
}

static LinearLayout layoutOf(const json &shape, const json &bases) {
  CoordBases coords;
  const char *names[] = {"reg", "lane", "warp", "block"};
  for (unsigned in = 0; in < kNumInDims; ++in)
    if (bases.contains(names[in]))
      coords[in] = bases[names[in]].get<std::vector<Coord>>();
  return LinearLayout(shapeOf(shape), coords);
}

TEST(Golden, Layouts) {
  unsigned seen = 0;
  for (const json &e : golden()["layouts"]) {
    SCOPED_TRACE(e["name"].get<std::string>());
    const LinearLayout &layout = layoutNamed(e["name"]);
    EXPECT_EQ(layout.shape(), shapeOf(e["shape"]));
    EXPECT_EQ(layout.registersPerThread(), e["registers"].get<unsigned>());
    EXPECT_EQ(layout, layoutOf(e["shape"], e["bases"]));
    EXPECT_TRUE(layout.isSurjective());
    for (const json &s : e["samples"])
      EXPECT_THAT(layout.at(s[0][0], s[0][1], s[0][2]),
                  ElementsAreArray(s[1].get<Coord>()))
          << s;
    ++seen;
  }
  EXPECT_EQ(seen, layouts().size());
}

TEST(Golden, SharedMaps) {
  unsigned seen = 0;
  for (const json &e : golden()["shared"]) {
    SCOPED_TRACE(e["name"].get<std::string>());
    const SharedMap &map = sharedNamed(e["name"]);
    EXPECT_EQ(map.rows(), e["shape"]["row"].get<int64_t>());
    EXPECT_EQ(map.cols(), e["shape"]["col"].get<int64_t>());
    EXPECT_EQ(map.elemBytes(), e["elem_bytes"].get<unsigned>());
    EXPECT_EQ(map.swizzle(), e["swizzle"].get<unsigned>());
    EXPECT_EQ(map.bases(0), e["row_bases"].get<std::vector<uint64_t>>());
    EXPECT_EQ(map.bases(1), e["col_bases"].get<std::vector<uint64_t>>());
    EXPECT_EQ(map.repeatStride(0), e["row_repeat_stride"].get<uint64_t>());
    EXPECT_EQ(map.repeatStride(1), e["col_repeat_stride"].get<uint64_t>());
    for (const json &s : e["samples"])
      EXPECT_EQ(map.offset(s[0][0], s[0][1]), s[1].get<uint64_t>()) << s;
    ++seen;
  }
  EXPECT_EQ(seen, sharedMaps().size());
}

TEST(Golden, Descriptors) {
  for (const json &e : golden()["descriptors"]) {
    SCOPED_TRACE(e.dump());
    auto major = e["major"] == "K" ? WgmmaDescriptor::K : WgmmaDescriptor::MN;
    auto d = wgmmaDescriptor(sharedNamed(e["shared"]), major);
    ASSERT_TRUE(d);
    EXPECT_EQ(d->lbo, e["lbo"].get<uint64_t>());
    EXPECT_EQ(d->sbo, e["sbo"].get<uint64_t>());
    EXPECT_EQ(d->swizzle, e["swizzle"].get<unsigned>());
    EXPECT_EQ(d->swizzleField, e["swizzle_field"].get<unsigned>());
    EXPECT_EQ(d->align, e["align"].get<unsigned>());
    EXPECT_EQ(d->kSteps, e["k_steps"].get<std::vector<uint64_t>>());
    EXPECT_EQ(std::to_string(d->encode(0)),
              e["word_at_base_0"].get<std::string>());
  }
  for (const json &e : golden()["refused_descriptors"]) {
    std::string why;
    EXPECT_FALSE(wgmmaDescriptor(
        sharedNamed(e["shared"]),
        e["major"] == "K" ? WgmmaDescriptor::K : WgmmaDescriptor::MN, &why));
    EXPECT_THAT(why, testing::StartsWith(
                         "not a canonical K-major layout for swizzle 0: "));
  }
}

TEST(Golden, Ldmatrix) {
  for (const json &e : golden()["ldmatrix"]) {
    SCOPED_TRACE(e["layout"].get<std::string>());
    const LinearLayout &layout = layoutNamed(e["layout"]);
    SharedMap map = sharedNamed(e["shared"]);
    if (e["buffer_is_transposed"].get<bool>())
      map = map.transposed();
    auto wantedBits = e["matrix_bits"].get<std::vector<unsigned>>();
    auto plan = ldmatrixPlan(layout, map, wantedBits);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->trans, e["trans"].get<bool>());
    EXPECT_EQ(plan->num, e["num"].get<unsigned>());
    EXPECT_EQ(plan->wordBits, e["word_bits"].get<std::vector<unsigned>>());
    EXPECT_EQ(plan->matrixBits, wantedBits);
    EXPECT_EQ(plan->instructions, e["instructions"].get<unsigned>());
    EXPECT_EQ(plan->wavefronts, e["wavefronts"].get<unsigned>());
    EXPECT_EQ(ldmatrixAddresses(layout, map, *plan, layout.warps() > 1 ? 1 : 0),
              e["lane_offsets_warp1"].get<std::vector<uint64_t>>());
  }
}

TEST(Golden, SharedAccess) {
  for (const json &e : golden()["shared_access"]) {
    SCOPED_TRACE(e.dump());
    SharedAccess a =
        sharedAccess(layoutNamed(e["layout"]), sharedNamed(e["shared"]));
    EXPECT_EQ(a.bytes, e["bytes"].get<unsigned>());
    EXPECT_EQ(a.instructions, e["instructions"].get<unsigned>());
    EXPECT_EQ(a.wavefronts, e["wavefronts"].get<unsigned>());
    EXPECT_EQ(a.ideal, e["ideal"].get<unsigned>());
  }
}

TEST(Golden, GlobalAccess) {
  for (const json &e : golden()["global_access"]) {
    SCOPED_TRACE(e.dump());
    std::string name = e["layout"];
    unsigned elem = name[name.find(".e") + 2] - '0';
    const LinearLayout &layout = layoutNamed(e["layout"]);
    EXPECT_EQ(globalVector(layout, elem, layout.shape()[1] * elem).bytes,
              e["vector_bytes"].get<unsigned>());
  }
}

TEST(Golden, Conversions) {
  const std::map<std::string, ConversionPlan::Kind> kinds = {
      {"none", ConversionPlan::None},
      {"registers", ConversionPlan::Registers},
      {"select", ConversionPlan::Select},
      {"bfly", ConversionPlan::Bfly},
      {"idx", ConversionPlan::Idx},
      {"shared", ConversionPlan::Shared}};
  for (const json &e : golden()["conversions"]) {
    SCOPED_TRACE(e["name"].get<std::string>());
    LinearLayout src = layoutOf(e["shape"], e["src"]),
                 dst = layoutOf(e["shape"], e["dst"]);
    ConversionPlan plan = conversionPlan(src, dst, e["elem_bytes"]);
    EXPECT_EQ(plan.kind, kinds.at(e["kind"]));
    if (!e["shuffles"].is_null())
      EXPECT_EQ(plan.shuffles, e["shuffles"].get<unsigned>());
    if (!e["pack"].is_null())
      EXPECT_EQ(plan.pack(), e["pack"].get<unsigned>());
  }
}

TEST(Golden, Reductions) {
  for (const json &e : golden()["reductions"]) {
    SCOPED_TRACE(e.dump());
    auto plan =
        reducePlan(layoutNamed(e["layout"]), e["over"] == "row" ? 0 : 1);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->inThread, e["in_thread"].get<unsigned>());
    EXPECT_EQ(plan->laneMasks, e["lane_masks"].get<std::vector<unsigned>>());
    EXPECT_EQ(plan->warpBits, e["warp_bits"].get<std::vector<unsigned>>());
  }
}

TEST(Golden, Reshapes) {
  for (const json &e : golden()["reshapes"]) {
    SCOPED_TRACE(e.dump());
    std::string why;
    auto got =
        LinearLayout(e["from"].get<std::vector<int64_t>>(), PackedBases{})
            .reshape(e["to"], &why);
    EXPECT_EQ(got.has_value(), e["legal"].get<bool>()) << why;
  }
  std::string why;
  LinearLayout({12288}, PackedBases{}).reshape({64, 192}, &why);
  EXPECT_EQ(why, "reshape 12288 -> 64x192 moves the odd factor 3");
}

TEST(Golden, Scratch) {
  const json &e = golden()["scratch"][0];
  auto choice = findScratch({wgmmaAccumulator(64, 32), coalesced(64, 32, 4, 4)},
                            64, 32, 4);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->masks, e["masks_of_row_bits"].get<std::vector<unsigned>>());
  for (unsigned i = 0; i < 2; ++i) {
    const SharedAccess &a = choice->accesses[i];
    EXPECT_THAT(
        (std::vector<unsigned>{a.bytes, a.wavefronts, a.ideal}),
        ElementsAreArray(
            e["bytes_wavefronts_ideal"][i].get<std::vector<unsigned>>()));
  }
}

// k16-permuted e4m3 storage: ldmatrix on byte pairs delivers two bf16 k-steps.
// Position p inside a group of 16 holds column rho(p).
TEST(Golden, Weight8BitPermutation) {
  auto rho = golden()["w8a16_position_to_column"].get<std::vector<unsigned>>();
  // The map is linear over F2 and a bijection on 16 columns.
  F2Span span;
  for (unsigned bit : {1, 2, 4, 8})
    EXPECT_EQ(span.insert(rho[bit]), 0u);
  for (unsigned p = 0; p < 16; ++p)
    EXPECT_EQ(rho[p], xorOf({rho[1], rho[2], rho[4], rho[8]}, p));
  // Read with the 8-bit A map, each lane's 4 words are the 16-bit A fragments
  // of two k-steps up to a renaming of registers.
  LinearLayout bytes = wgmmaOperandA(64, 32, 1);
  CoordBases logical;
  for (unsigned in = 0; in < kNumInDims; ++in)
    for (Coord c : bytes.coordBases(InDim(in)))
      logical[in].push_back({c[0], int64_t((c[1] & ~15) | rho[c[1] & 15])});
  EXPECT_TRUE(LinearLayout({64, 32}, logical)
                  .equivalentUpToRegisters(wgmmaOperandA(64, 32, 2)));
}
