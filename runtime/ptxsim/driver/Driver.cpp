#include "runtime/ptxsim/driver/Driver.h"
#include "runtime/ptxsim/driver/DeviceFacts.h"
#include "runtime/ptxsim/driver/Graphs.h"

#include <cstdio>
#include <cstdlib>

using namespace ptxsim;
using namespace ptxsim::cuda;

Driver::Driver() {
  if (const char *text = std::getenv("PTXSIM_OPTIONS"))
    if (Status status = readDriverOptions(text, options, registers); !status)
      optionsError = "PTXSIM_OPTIONS: " + status.message();
  const std::string device = deviceName();
  if (device != "h100" && device != "h200")
    optionsError =
        "PTXSIM_DEVICE: expected h100 or h200, but got '" + device + "'";
}

Driver &Driver::get() {
  static Driver *driver = new Driver;
  return *driver;
}

CUresult Driver::fail(CUresult code, std::string text) {
  lastError = std::move(text);
  return code;
}

CUresult Driver::report(CUresult code, const std::string &text) {
  if (reports)
    std::fprintf(stderr, "ptxsim: %s\n", text.c_str());
  return fail(code, text);
}

void Driver::destroyContext(CUcontext context) {
  auto mine = [&](auto &object) { return object.context == context; };
  // Captures that began here are over, others have lost a stream.
  for (const std::shared_ptr<Capture> &capture :
       std::vector<std::shared_ptr<Capture>>(captures))
    if (capture->origin->context == context)
      abandon(*this, capture);
  auto invalidate = [&](CUstream_st &stream) {
    if (stream.context == context && stream.capture)
      stream.capture->invalid = true;
  };
  streams.forEach(invalidate);
  invalidate(context->threadStream);
  libraries.eraseIf([&](CUlib_st &l) { return mine(*l.module); });
  std::erase_if(functions, [&](auto &f) { return f.second == context; });
  modules.eraseIf(mine);
  streams.eraseIf(mine);
  events.eraseIf(mine);
  contexts.erase(context);
  if (primary == context)
    primary = nullptr;
}

std::vector<CUcontext> &cuda::contextStack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

bool &cuda::inCallback() {
  thread_local bool inside = false;
  return inside;
}

const std::pair<const CUdeviceptr, Block> *
CUctx_st::blockOf(CUdeviceptr pointer) const {
  auto it = blocks.upper_bound(pointer);
  if (it == blocks.begin())
    return nullptr;
  --it;
  return pointer - it->first < it->second.bytes ? &*it : nullptr;
}

CUstream cuda::findStream(Driver &driver, CUctx_st &context, CUstream handle) {
  // CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are numbers.
  switch (reinterpret_cast<uintptr_t>(handle)) {
  case 0:
  case 1:
    return &context.legacyStream;
  case 2:
    return &context.threadStream;
  default:
    return driver.streams.has(handle) ? handle : nullptr;
  }
}
