// What changes no result: prefetches (of a tensor map only if there is one),
// priorities of cache lines, policies, sleeping, events for a profiler,
// breakpoints. They are executed, with the operands that the ISA allows, and
// change nothing; what of that cannot be seen is marked Unseen. discard leaves
// undefined what it names until it is written.

#include "runtime/ptxsim/TensorMap.h"
#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"

using namespace ptxsim;
using namespace ptxsim::forms;

namespace {

/// Runs `statements` with %g, %l, %c, %q addresses of 256 bytes in global,
/// local, const and param memory, %gl and %gq generic ones of the second and
/// the last, and a register %policy, which a load uses afterwards. All that
/// memory stays what it was.
void unchanged(const std::string &statements) {
  const size_t words = 64;
  std::string text = R"(.version 8.7
.target sm_90a
.address_size 64
.const .align 128 .b32 table[64] = {5, 6};
.visible .entry k(.param .u64 out, .param .u64 data, .param .align 128 .b8 arg[256]) {
  .local .align 128 .b8 own[256];
  .reg .b64 %out, %g, %l, %c, %q, %gl, %gq, %policy;
  .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %out, [out];
  ld.param.u64 %g, [data];
  mov.u64 %l, own;
  mov.u64 %c, table;
  mov.u64 %q, arg;
  cvta.local.u64 %gl, %l;
  cvta.param.u64 %gq, %q;
  st.local.b32 [%l], 8;
  createpolicy.fractional.L2::evict_normal.b64 %policy, 0f3e800000;
  mov.u32 %r0, 128;
)" + statements + R"(
  ld.global.L2::cache_hint.b32 %r0, [%g], %policy;
  ld.local.b32 %r1, [%l];
  ld.const.b32 %r2, [%c+4];
  ld.param.b32 %r3, [%q+4];
  st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};
  ret;
}
)";
  Program program(text);
  ASSERT_EQ(program.loadError, "");
  std::vector<uint32_t> data(words), argument(words);
  for (uint32_t i = 0; i < words; ++i)
    data[i] = 100 + i, argument[i] = 300 + i;
  const uint64_t in = program.buffer("data", data);
  const uint64_t out = program.buffer("out", std::vector<uint32_t>(4));
  const void *parameters[] = {&out, &in, argument.data()};
  EXPECT_EQ(program.device
                .launch(*program.module, program.module->kernels().front(),
                        {1, 1, 1}, {1, 1, 1}, 0, parameters)
                .message(),
            "")
      << statements;
  EXPECT_EQ(program.read<uint32_t>(out, 4),
            (std::vector<uint32_t>{100, 8, 6, 301}))
      << statements;
  EXPECT_EQ(program.read<uint32_t>(in, words), data) << statements;
}

/// A tensor map as a kernel parameter, as a constant and in global memory is
/// prefetched; what is no tensor map is reported.
void testTensorMap(const std::string &name, const std::string &valid,
                   const std::string &invalid) {
  TensorMapDesc desc;
  desc.address = 0x100000;
  desc.dims[0] = 256;
  desc.box[0] = 16;
  Result<TensorMap> map = encodeTiled(desc);
  ASSERT_TRUE(map.ok()) << map.status().message();
  std::string bytes;
  for (size_t i = 0; i < 128; ++i) {
    const auto *at = reinterpret_cast<const unsigned char *>(&*map);
    bytes += (i ? "," : "") + std::to_string(at[i]);
  }
  for (const bool isMap : {true, false}) {
    Program program(R"(.version 8.7
.target sm_90a
.address_size 64
.const .align 64 .b8 constant[128] = {)" +
                    bytes + R"(};
.const .align 64 .b8 noConstant[128] = {1};
.visible .entry k(.param .align 64 .b8 map[128], .param .align 64 .b8 noMap[128]) {
  .reg .b64 %constant, %noConstant, %generic, %noGeneric, %gconstant, %param;
  mov.u64 %constant, constant;
  mov.u64 %noConstant, noConstant;
  cvta.const.u64 %gconstant, %constant;
  mov.u64 %param, map;
  cvta.param.u64 %generic, %param;
  mov.u64 %noGeneric, noMap;
  cvta.param.u64 %noGeneric, %noGeneric;
  )" + name + (isMap ? valid : invalid) +
                    ";\n  ret;\n}\n");
    ASSERT_EQ(program.loadError, "");
    const TensorMap none{};
    const void *parameters[] = {&*map, &none};
    const std::string said =
        program.device
            .launch(*program.module, program.module->kernels().front(),
                    {1, 1, 1}, {1, 1, 1}, 0, parameters)
            .message();
    if (isMap)
      EXPECT_EQ(said, "");
    else
      EXPECT_THAT(said, testing::HasSubstr("no tensor map"));
  }
}

void hint(const std::string &name, const std::vector<std::string> &operands) {
  form(
      name,
      [=] {
        std::string statements;
        for (const std::string &o : operands)
          statements += "  " + name + " " + o + ";\n";
        unchanged(statements);
      },
      Effect::Unseen);
}

} // namespace

FORMS(hints) {
  const std::vector<std::string> levels = {"L1", "L2", "L2::evict_last",
                                           "L2::evict_normal"};
  for (const std::string &level : levels) {
    hint("prefetch.global." + level, {"[%g]", "[%g+128]"});
    hint("prefetch." + level, {"[%g]", "[%g+128]"});
  }
  for (const std::string level : {"L1", "L2"})
    hint("prefetch.local." + level, {"[%l]", "[own+4]"});
  hint("prefetchu.L1", {"[%g]"});
  for (const std::string space : {"", ".global"})
    hint("applypriority" + space + ".L2::evict_normal",
         {"[%g], 128", "[%g+128], 128"});
  hint("nanosleep.u32", {"0", "100", "%r0"});
  hint("pmevent", {"0", "15"});
  form("brkpt", [] { unchanged("  brkpt;\n"); }, Effect::Unseen);
  form(
      "membar.proxy.alias", [] { unchanged("  membar.proxy.alias;\n"); },
      Effect::Unseen);
}

FORMS(tensorMaps) {
  form("prefetch.const.tensormap", [] {
    testTensorMap("prefetch.const.tensormap", " [%constant]", " [%noConstant]");
    testTensorMap("prefetch.const.tensormap", " [constant]", " [noConstant]");
  });
  form("prefetch.param.tensormap", [] {
    testTensorMap("prefetch.param.tensormap", " [%param]", " [noMap]");
    testTensorMap("prefetch.param.tensormap", " [map]", " [noMap]");
  });
  form("prefetch.tensormap", [] {
    testTensorMap("prefetch.tensormap", " [%generic]", " [%noGeneric]");
    testTensorMap("prefetch.tensormap", " [%gconstant]", " [%noGeneric]");
  });
}

FORMS(policies) {
  const std::vector<std::string> first = {"L2::evict_last", "L2::evict_normal",
                                          "L2::evict_first",
                                          "L2::evict_unchanged"};
  const std::vector<std::string> second = {"", "L2::evict_first",
                                           "L2::evict_unchanged"};
  for (const std::string &name :
       namesOf({{"createpolicy.fractional"}, first, second, {"b64"}}))
    hint(name, {"%policy, 0f3f000000", "%policy, 1.0", "%policy"});
  for (const std::string &name : namesOf(
           {{"createpolicy.range"}, {"", "global"}, first, second, {"b64"}}))
    hint(name, {"%policy, [%g], 4096, 8192", "%policy, [%g], %r0, 4096"});
  hint("createpolicy.cvt.L2.b64", {"%policy, 0x1000000000000000"});
}

FORMS(discards) {
  for (const std::string space : {"", ".global"}) {
    const std::string name = "discard" + space + ".L2";
    form(
        name,
        [=] {
          // The words behind the line stay; those in it are written again.
          const std::vector<uint64_t> got = runThreads(
              "  .reg .b64 a, b; .reg .pred p;\n  " + name + R"( [%p0], 128;
  bar.warp.sync 0xffffffff;
  mad.wide.u32 a, %t, 8, %p0;
  setp.lt.u32 p, %t, 16;
  @p st.global.b64 [a], 9;
  ld.global.b64 b, [a];
  st.global.b64 [%out], b;)",
              32, std::vector<uint64_t>(32, 77));
          for (size_t t = 0; t < got.size(); ++t)
            EXPECT_EQ(got[t], t < 16 ? 9u : 77u) << name;
        },
        Effect::Unseen);
  }
}
