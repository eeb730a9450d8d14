#include "test/Unit/ptxsim_count/Counted.h"

namespace counted {

std::string kernel(const std::string &body, const std::string &declarations) {
  return R"(.version 8.4
.target sm_90a
.address_size 64
)" + declarations +
         R"(.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b16 %h<8>;
  .reg .b32 %r<32>;
  .reg .b64 %d<32>;
  .reg .f32 %f<64>;
  .reg .pred %p<8>;
  .shared .align 1024 .b8 smem[32768];
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, smem;
)" + body +
         "\n  ret;\n}\n";
}

Counted::Counted(const std::string &body, Setup setup) {
  setup.options.checks.uninitialisedShared = false;
  setup.options.checks.sharedRaces = false;
  setup.options.checks.undefinedRegisters = false;
  Device device(setup.options);
  Collector collector(setup.caches);
  device.observe({&collector});
  auto module = device.loadModule(kernel(body, setup.declarations), "k.ptx");
  if (!module) {
    error = module.message();
    ADD_FAILURE() << error;
    return;
  }
  const size_t words = 16384;
  const uint64_t in = *device.allocate(words * 4, "in"),
                 to = *device.allocate(words * 4, "out");
  const void *params[] = {&in, &to};
  error = device
              .launch(**module, (*module)->kernels().front(), setup.grid,
                      {setup.threads, 1, 1}, 0, params, &plain, setup.cluster,
                      setup.cooperative)
              .message();
  EXPECT_EQ(error, "");
  counts = collector.latest();
  out.resize(words);
  EXPECT_TRUE(device.copyToHost(out.data(), to, words * 4).ok());
}

} // namespace counted
