#include "bench/ptxsim/Bench.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace ptxsim;
using namespace ptxsim::bench;

std::string bench::readSource(benchmark::State &state, const char *path) {
  std::ifstream in(std::string(K2C_SOURCE_DIR "/") + path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in),
                   std::istreambuf_iterator<char>()};
  if (text.empty())
    state.SkipWithError((std::string("cannot read ") + path).c_str());
  return text;
}

DeviceOptions bench::unchecked() {
  DeviceOptions options = checked();
  if (Status status = readChecks("none", options); !status)
    std::abort();
  return options;
}

DeviceOptions bench::checked() {
  DeviceOptions options;
  options.threads = 1;
  return options;
}

Bench::Bench(benchmark::State &state, DeviceOptions options, const char *path,
             const char *entry)
    : device(options), state(state) {
  auto loaded = device.loadModule(readSource(state, path), path);
  if (!loaded) {
    state.SkipWithError(loaded.message().c_str());
    return;
  }
  module = *loaded;
  kernel = module->find(entry);
  if (!kernel)
    state.SkipWithError(entry);
}

uint64_t Bench::allocate(size_t bytes) {
  auto pointer = device.allocate(bytes, "buffer");
  if (!pointer)
    state.SkipWithError(pointer.message().c_str());
  return pointer ? *pointer : 0;
}

bool Bench::launch(Dim3 grid, Dim3 block, uint32_t shared,
                   std::initializer_list<const void *> params) {
  Status status = device.launch(*module, *kernel, grid, block, shared,
                                params.begin(), &counters);
  if (!status)
    state.SkipWithError(status.message().c_str());
  return status.ok();
}
