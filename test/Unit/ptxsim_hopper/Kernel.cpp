#include "test/Unit/ptxsim_hopper/Kernel.h"

#include <cstdlib>
#include <fstream>

using namespace ptxsim;

namespace {
/// PTXSIM_TEST_DUMP=DIR writes every module there, so that ptxas can be asked
/// whether it is PTX at all.
void dump(const std::string &text) {
  static int number = 0;
  if (const char *folder = std::getenv("PTXSIM_TEST_DUMP"))
    std::ofstream(std::string(folder) + "/hopper" + std::to_string(number++) +
                  ".ptx")
        << text;
}
} // namespace

std::string hopper::kernel(const std::string &body,
                           const std::string &directives) {
  return R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in0, .param .u64 in1,
                  .param .align 64 .b8 map[128]) )" +
         directives + R"( {
  .reg .b32 %r<64>;
  .reg .f32 %f<16>;
  .reg .b64 %d<32>;
  .reg .b16 %h<8>;
  .reg .pred %p<8>;
  .shared .align 1024 .b8 smem[65536];
  ld.param.u64 %d0, [out];
  ld.param.u64 %d1, [in0];
  ld.param.u64 %d2, [in1];
  mov.b64 %d4, map;
  cvta.param.u64 %d3, %d4;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, smem;
)" + body +
         "\n  ret;\n}\n";
}

DeviceOptions hopper::lazy() {
  DeviceOptions options;
  options.async = ptxsim::Async::Lazy;
  return options;
}

hopper::Program::Program(const std::string &ptx, DeviceOptions options)
    : device(options) {
  dump(ptx);
  auto loaded = device.loadModule(ptx, "k.ptx");
  if (loaded)
    module = *loaded;
  else
    loadError = loaded.status().summary();
}

uint64_t hopper::Program::allocate(const void *data, size_t bytes,
                                   const char *name) {
  auto p = device.allocate(bytes, name);
  EXPECT_TRUE(p.ok());
  EXPECT_TRUE(device.copyToDevice(*p, data, bytes).ok());
  return *p;
}

std::string hopper::Program::run(uint32_t threads, uint64_t out, uint64_t in0,
                                 uint64_t in1, TensorMap map, Dim3 grid,
                                 std::optional<Dim3> cluster) {
  if (!module)
    return loadError;
  const void *params[] = {&out, &in0, &in1, &map};
  return device
      .launch(*module, module->kernels().front(), grid, {threads, 1, 1}, 0,
              params, &counters, cluster)
      .summary();
}

std::vector<uint32_t> hopper::outputOf(const std::string &body,
                                       uint32_t threads, size_t words,
                                       const std::vector<uint32_t> &input,
                                       DeviceOptions options) {
  Program program(kernel(body), options);
  uint64_t out = program.buffer(std::vector<uint32_t>(words), "out"),
           in = program.buffer(
               input.empty() ? std::vector<uint32_t>(1024) : input, "in0");
  std::string error = program.run(threads, out, in);
  EXPECT_EQ(error, "");
  return error.empty() ? program.read<uint32_t>(out, words)
                       : std::vector<uint32_t>(words);
}

std::string hopper::errorOf(const std::string &body, uint32_t threads,
                            DeviceOptions options) {
  Program program(kernel(body), options);
  uint64_t out = program.buffer(std::vector<uint32_t>(1024), "out"),
           in = program.buffer(std::vector<uint32_t>(1024), "in0");
  return program.run(threads, out, in);
}
