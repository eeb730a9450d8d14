// Any bytes as PTX text: the simulator loads them or says what is wrong.

#include "runtime/ptxsim/ptxsim.h"

#include <memory>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Variables of a module stay in the device's memory: a new device now and
  // then.
  static std::unique_ptr<ptxsim::Device> device;
  static unsigned loads = 0;
  if (loads++ % 256 == 0) {
    ptxsim::DeviceOptions options;
    options.threads = 1;
    device = std::make_unique<ptxsim::Device>(options);
  }
  const auto module = device->loadModule(
      std::string(reinterpret_cast<const char *>(data), size), "fuzz.ptx");
  if (!module && module.message().rfind("fuzz.ptx:", 0) != 0)
    __builtin_trap(); // an error names the file
  return 0;
}
