// The simulator alone: adds one to an integer on a device.
#include "runtime/ptxsim/ptxsim.h"

#include <cstdio>

static const char text[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry increment(.param .u64 p) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  add.u32 %r2, %r1, 1;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

int main() {
  ptxsim::Device device;
  auto module = device.loadModule(text, "increment.ptx");
  auto memory = device.allocate(4, "memory");
  if (!module || !memory)
    return 1;
  uint32_t value = 41;
  const void *params[] = {&*memory};
  bool good =
      device.copyToDevice(*memory, &value, 4).ok() &&
      device.launch(**module, *(*module)->find("increment"), {}, {}, 0, params)
          .ok() &&
      device.copyToHost(&value, *memory, 4).ok();
  std::printf("%u\n", value);
  return good && value == 42 ? 0 : 1;
}
