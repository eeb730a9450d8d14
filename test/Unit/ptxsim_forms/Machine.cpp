#include "test/Unit/ptxsim_forms/Machine.h"

#include <cstring>
#include <random>

namespace ptxsim::forms {

void put(Words &words, size_t at, uint64_t bits, unsigned bytes) {
  ASSERT_LE(at + bytes, words.size() * 4);
  std::memcpy(reinterpret_cast<char *>(words.data()) + at, &bits, bytes);
}

uint64_t get(const Words &words, size_t at, unsigned bytes) {
  uint64_t bits = 0;
  if (at + bytes <= words.size() * 4)
    std::memcpy(&bits, reinterpret_cast<const char *>(words.data()) + at,
                bytes);
  return bits;
}

Words numbers(size_t n, uint32_t seed) {
  // Odd multiples of an odd number are different modulo 2^32.
  Words words(n);
  for (size_t i = 0; i < n; ++i)
    words[i] = (2 * uint32_t(i) + 1) * (seed * 2 + 0x9e3779b1);
  return words;
}

namespace {

/// Runs the body and gives its error; `memory` is what is there then.
std::string run(const std::string &body, const Setup &setup, Memory &memory) {
  Program program(hopper::kernel(body, setup.directives), setup.options);
  memory.out = setup.out, memory.in0 = setup.in0;
  if (!program.module)
    return program.loadError;
  auto buffer = [&](Words words, const char *name) {
    words.resize(std::max<size_t>(words.size(), 1));
    return program.buffer(name, words);
  };
  const uint64_t out = buffer(setup.out, "out"), in0 = buffer(setup.in0, "in0"),
                 in1 = buffer(setup.in1, "in1");
  TensorMap map{};
  if (setup.map) {
    TensorMapDesc desc = *setup.map;
    desc.address += in0;
    auto encoded = encodeTiled(desc);
    EXPECT_EQ(encoded.message(), "");
    if (encoded)
      map = *encoded;
  }
  const void *params[] = {&out, &in0, &in1, &map};
  const Dim3 ctas{setup.cluster, 1, 1};
  Status status = program.device.launch(
      *program.module, program.module->kernels().front(), ctas,
      {setup.threads, 1, 1}, 0, params, nullptr,
      setup.cluster > 1 ? std::optional(ctas) : std::nullopt);
  memory.out = program.read<uint32_t>(out, setup.out.size());
  memory.in0 = program.read<uint32_t>(in0, setup.in0.size());
  return status.message();
}

} // namespace

Memory launch(const std::string &body, const Setup &setup) {
  Memory memory;
  EXPECT_EQ(run(body, setup, memory), "");
  return memory;
}

std::string errorOf(const std::string &body, const Setup &setup) {
  Memory memory;
  return run(body, setup, memory);
}

std::string list(const std::string &prefix, unsigned n) {
  std::string text = "{";
  for (unsigned i = 0; i < n; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}

std::string fillShared(uint32_t bytes, uint32_t threads) {
  return R"(
  mov.u32 %r50, %r0;
FILL:
  setp.ge.u32 %p7, %r50, )" +
         std::to_string(bytes / 16) + R"(;
  @%p7 bra FILLED;
  mad.wide.u32 %d28, %r50, 16, %d2;
  ld.global.v4.b32 {%r51, %r52, %r53, %r54}, [%d28];
  mad.lo.u32 %r55, %r50, 16, %r1;
  st.shared.v4.b32 [%r55], {%r51, %r52, %r53, %r54};
  add.u32 %r50, %r50, )" +
         std::to_string(threads) + R"(;
  bra FILL;
FILLED:
  fence.proxy.async;
  barrier.sync 0;
)";
}

std::string dumpShared(uint32_t bytes, uint32_t threads,
                       const std::string &at) {
  return R"(
  barrier.sync 0;
  mov.u32 %r50, %r0;
DUMP:
  setp.ge.u32 %p7, %r50, )" +
         std::to_string(bytes / 16) + R"(;
  @%p7 bra DUMPED;
  mad.lo.u32 %r55, %r50, 16, %r1;
  ld.shared.v4.b32 {%r51, %r52, %r53, %r54}, [%r55];
  mad.wide.u32 %d28, %r50, 16, %d0;
  cvt.u64.u32 %d29, )" +
         at + R"(;
  add.u64 %d28, %d28, %d29;
  st.global.v4.b32 [%d28], {%r51, %r52, %r53, %r54};
  add.u32 %r50, %r50, )" +
         std::to_string(threads) + R"(;
  bra DUMP;
DUMPED:
)";
}

std::string meet() {
  return "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
}

std::string await(const std::string &address) {
  return R"({
  .reg .pred done, more;
  .reg .b32 n;
  mov.u32 n, 0;
AWAIT:
  mbarrier.test_wait.parity.shared::cta.b64 done, [)" +
         address + R"(], 0;
  add.u32 n, n, 1;
  setp.lt.u32 more, n, 1000;
  @done bra AWAITED;
  @more bra AWAIT;
AWAITED:
}
)";
}

} // namespace ptxsim::forms
