// tensormap.replace, tensormap.cp_fenceproxy and the fences of the tensor map
// proxy: a kernel copies a map, changes the field that the form names (from a
// value with which the copy by it would be another one), and loads a box by it.
// Numbers of element types, swizzles and fill modes are those of the ISA's
// table "Tensormap new_val validity"; a rank is given less one.

#include "test/Unit/ptxsim_forms/Machine.h"

#include <cmath>

using namespace ptxsim::forms;
using ptxsim::TensorMapDesc;
using testing::HasSubstr;

namespace {

/// Where the map is when it is changed.
struct Space {
  std::string name; ///< of the form; empty: generic, here of shared memory
  bool global() const { return name == ".global"; }
  std::string map() const {
    return global() ? "[%d5]" : name.empty() ? "[%d6]" : "[%r2]";
  }
};

struct Change {
  TensorMapDesc before;
  std::string statements; ///< that change it, one thread
  unsigned bytes = 128;   ///< of the box afterwards
  std::string at = "{4, 3}";
  // What comes between the changes and the use.
  std::string release = "fence.proxy.tensormap::generic.release.gpu;\n",
              copy = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::"
                     "generic.release.gpu.sync.aligned",
              acquire = "fence.proxy.tensormap::generic.acquire.gpu";
};

/// 32 words a row, 16 rows of 24 (of which the map tells), a box of 8 x 4.
TensorMapDesc words() {
  TensorMapDesc d;
  d.type = TensorMapDesc::UInt32;
  d.rank = 2;
  d.dims = {24, 16}, d.strides = {128}, d.box = {8, 4};
  return d;
}

/// All words are normal and short numbers in tf32, too.
Words tensor() {
  Words data(1024);
  for (uint32_t i = 0; i < data.size(); ++i)
    data[i] = 0x3f800000 | i << 13;
  return data;
}

std::string body(const Change &c, const Space &space) {
  const std::string rank =
      std::to_string(1 + std::count(c.at.begin(), c.at.end(), ','));
  // The map goes to shared memory (%r2, generic %d6) and to out + 512 (%d5).
  return fillShared(2048) + R"(
  add.u32 %r2, %r1, 1024;
  cvt.u64.u32 %d6, %r2;
  cvta.shared.u64 %d6, %d6;
  add.u64 %d5, %d0, 512;
  mul.wide.u32 %d7, %r0, 4;
  add.u64 %d8, %d3, %d7;
  ld.b32 %r4, [%d8];
  mad.lo.u32 %r5, %r0, 4, %r2;
  st.shared.b32 [%r5], %r4;
  add.u64 %d8, %d5, %d7;
  st.global.b32 [%d8], %r4;
  setp.eq.u32 %p0, %r0, 0;
  add.u32 %r3, %r1, 1536;
  @%p0 mbarrier.init.shared.b64 [%r3], 1;
  bar.sync 0;
  @!%p0 bra CHANGED;
)" + c.statements +
         (space.global() ? c.release : "") + "CHANGED:\nbar.sync 0;\n" +
         (space.global() ? "" : c.copy + " [%d5], [%r2], 128;\n") + c.acquire +
         R"( [%d5], 128;
  @!%p0 bra LOADED;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r3], )" +
         std::to_string(c.bytes) + ";\ncp.async.bulk.tensor." + rank +
         "d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], "
         "[%d5, " +
         c.at + "], [%r3];\n" + await("%r3") + "LOADED:\n" + dumpShared(512);
}

Setup setup(const Change &c) {
  Setup s;
  s.map = c.before;
  s.in0 = tensor();
  s.in1.assign(512, 0xeeeeeeee);
  s.out.resize(160);
  return s;
}

/// The box's bytes afterwards.
Words load(const Change &c, const Space &space) {
  Words got = launch(body(c, space), setup(c)).out;
  got.resize(c.bytes / 4);
  return got;
}

/// The word of row y and column x.
uint32_t word(int x, int y) { return tensor()[y * 32 + x]; }

/// A box of 8 x `rows` at (4, 3), rows `pitch` apart.
Words box(unsigned rows = 4, unsigned step = 1) {
  Words w;
  for (unsigned y = 0; y < rows; ++y)
    for (unsigned x = 0; x < 8; ++x)
      w.push_back(word(4 + x, 3 + y * step));
  return w;
}

void address(const std::string &name, const Space &space) {
  Change c{words(), name + " " + space.map() + ", %d1;\n"};
  c.before.address = 512;
  EXPECT_EQ(load(c, space), box());
}

void rank(const std::string &name, const Space &space) {
  Change c{words(), name + " " + space.map() + ", 1;\n"};
  c.before.rank = 3;
  c.before.dims[2] = 1, c.before.strides[1] = 2048, c.before.box[2] = 1;
  EXPECT_EQ(load(c, space), box());
}

void boxDim(const std::string &name, const Space &space) {
  for (unsigned i : {0, 1}) {
    Change c{words(), "mov.b32 %r8, " + std::to_string(i ? 4 : 8) + ";\n" +
                          name + " " + space.map() + ", " + std::to_string(i) +
                          ", %r8;\n"};
    c.before.box[i] = 12;
    EXPECT_EQ(load(c, space), box());
  }
}

void globalDim(const std::string &name, const Space &space) {
  // Behind the ends: 9 columns and 5 rows of the tensor.
  for (unsigned i : {0, 1}) {
    Change c{words(), name + " " + space.map() + ", " + std::to_string(i) +
                          ", " + std::to_string(i ? 5 : 9) + ";\n"};
    Words expected = box();
    for (unsigned y = 0; y < 4; ++y)
      for (unsigned x = 0; x < 8; ++x)
        if (i ? y >= 2 : x >= 5)
          expected[y * 8 + x] = 0;
    EXPECT_EQ(load(c, space), expected);
  }
}

void globalStride(const std::string &name, const Space &space) {
  Change c{words(),
           "mov.b64 %d9, 128;\n" + name + " " + space.map() + ", 0, %d9;\n"};
  c.before.strides[0] = 256;
  EXPECT_EQ(load(c, space), box());
  // Of the third dimension: two rows on.
  Change d{words(),
           "mov.b64 %d9, 256;\n" + name + " " + space.map() + ", 1, %d9;\n"};
  d.before.rank = 3, d.before.box[1] = 1, d.before.box[2] = 4;
  d.before.dims[2] = 6, d.before.strides[1] = 128;
  d.at = "{4, 3, 0}";
  EXPECT_EQ(load(d, space), box(4, 2));
}

void elementStride(const std::string &name, const Space &space) {
  // Every other row of four.
  Change c{words(), name + " " + space.map() + ", 1, 2;\n", 64};
  EXPECT_EQ(load(c, space), box(2, 2));
}

void elementType(const std::string &name, const Space &space) {
  // u8 u16 u32 s32 u64 s64 f16 f32 f32.ftz f64 bf16 tf32 tf32.ftz
  const unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  for (unsigned code = 0; code < 13; ++code) {
    Change c{words(),
             name + " " + space.map() + ", " + std::to_string(code) + ";\n",
             32 * bytes[code], "{4, 3}"};
    c.before.type =
        bytes[code] == 8 ? TensorMapDesc::UInt16 : TensorMapDesc::Float64;
    c.before.box = {16, 2};
    c.before.dims = {16, 16}; // 12 columns of the box are inside
    const Words data = tensor();
    Words expected(8 * bytes[code]);
    for (unsigned y = 0; y < 2; ++y)
      for (unsigned x = 0; x < 12; ++x)
        put(expected, (y * 16 + x) * bytes[code],
            get(data, (3 + y) * 128 + (4 + x) * bytes[code], bytes[code]),
            bytes[code]);
    EXPECT_EQ(load(c, space), expected) << code;
  }
}

void interleave(const std::string &name, const Space &space) {
  // The simulator has no other layout than none (0): it refuses 1 by name.
  const std::string set = name + " " + space.map() + ", ";
  Change c{words(), set + "0;\n"};
  EXPECT_EQ(load(c, space), box());
  c.statements = set + "1;\n";
  EXPECT_THAT(errorOf(body(c, space), setup(c)),
              HasSubstr("expected an interleave layout from 0 to 0"));
}

void swizzle(const std::string &name, const Space &space) {
  for (unsigned mode = 0; mode < 4; ++mode) {
    Change c{words(),
             name + " " + space.map() + ", " + std::to_string(mode) + ";\n",
             256};
    c.before.swizzle =
        mode == 3 ? TensorMapDesc::SwizzleNone : TensorMapDesc::Swizzle128B;
    c.before.box = {8, 8};
    const Words plain = box(8);
    Words expected(64);
    for (unsigned i = 0; i < 64; ++i)
      put(expected, i * 4 ^ (i * 4 >> 7 & ((1u << mode) - 1)) << 4, plain[i],
          4);
    EXPECT_EQ(load(c, space), expected) << mode;
  }
}

void fill(const std::string &name, const Space &space) {
  for (unsigned mode : {1, 0}) {
    Change c{words(),
             name + " " + space.map() + ", " + std::to_string(mode) + ";\n"};
    c.before.type = TensorMapDesc::Float32;
    c.before.dims = {10, 16};
    c.before.fill = mode ? TensorMapDesc::FillZero : TensorMapDesc::FillNaN;
    const Words got = load(c, space), inside = box();
    for (unsigned i = 0; i < 32; ++i)
      if (i % 8 < 6)
        EXPECT_EQ(got[i], inside[i]);
      else if (mode)
        EXPECT_TRUE(std::isnan(std::bit_cast<float>(got[i])));
      else
        EXPECT_EQ(got[i], 0u);
  }
}

/// A change of the address, with these between it and the use.
void ordered(const Space &space, const std::string &release,
             const std::string &copy, const std::string &acquire) {
  Change c{words(), "tensormap.replace.tile.global_address" + space.name +
                        ".b1024.b64 " + space.map() + ", %d1;\n"};
  c.before.address = 1024;
  if (!release.empty())
    c.release = release + ";\n";
  if (!copy.empty())
    c.copy = copy;
  if (!acquire.empty())
    c.acquire = acquire;
  EXPECT_EQ(load(c, space), box());
}

} // namespace

FORMS(tensorMaps) {
  using Test = void (*)(const std::string &, const Space &);
  const std::pair<const char *, Test> fields[] = {
      {"global_address", address},
      {"rank", rank},
      {"box_dim", boxDim},
      {"global_dim", globalDim},
      {"global_stride", globalStride},
      {"element_stride", elementStride},
      {"elemtype", elementType},
      {"interleave_layout", interleave},
      {"swizzle_mode", swizzle},
      {"fill_mode", fill}};
  for (const auto &[field, test] : fields)
    for (const char *space : {"", ".global", ".shared::cta"}) {
      const bool wide = test == address || test == globalStride;
      const std::string name = std::string("tensormap.replace.tile.") + field +
                               space + ".b1024" + (wide ? ".b64" : ".b32");
      form(name, [=, test = test] { test(name, {space}); });
    }
  for (const char *scope : {"cta", "cluster", "gpu", "sys"}) {
    const std::string fence = "fence.proxy.tensormap::generic.",
                      release = fence + "release." + scope,
                      acquire = fence + "acquire." + scope,
                      copy = std::string("tensormap.cp_fenceproxy.global."
                                         "shared::cta.tensormap::generic."
                                         "release.") +
                             scope + ".sync.aligned";
    form(copy, [=] { ordered({".shared::cta"}, "", copy, ""); });
    form(release, [=] { ordered({".global"}, release, "", ""); });
    form(acquire, [=] {
      ordered({".shared::cta"}, "", "", acquire);
      ordered({".global"}, "", "", acquire);
    });
  }
}
