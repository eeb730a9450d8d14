#include "Kernel.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace harness;

namespace {
const char header[] = ".version 8.4\n.target sm_90a\n.address_size 64\n";
}

Program::Program(const std::string &ptx, ptxsim::DeviceOptions options)
    : device(options) {
  auto loaded = device.loadModule(ptx, "test.ptx");
  if (loaded)
    module = *loaded;
  else
    error = loaded.status().summary();
}

uint64_t Program::allocate(const void *data, size_t bytes, const char *name) {
  auto pointer = device.allocate(bytes, name);
  if (!pointer) {
    error = pointer.message();
    return 0;
  }
  if (auto status = device.copyToDevice(*pointer, data, bytes); !status)
    error = status.message();
  return *pointer;
}

void Program::copyOut(void *data, uint64_t address, size_t bytes) {
  if (auto status = device.copyToHost(data, address, bytes); !status)
    error = status.summary();
}

void Program::start(const char *name, ptxsim::Dim3 grid, ptxsim::Dim3 block,
                    const void *const *params) {
  if (!error.empty())
    return;
  const ptxsim::Kernel *kernel = module->find(name);
  if (!kernel) {
    error = std::string("no entry ") + name;
    return;
  }
  auto status = device.launch(*module, *kernel, grid, block, dynamicShared,
                              params, &counters);
  error = status.summary();
}

std::string harness::readFile(const std::string &name) {
  std::ifstream in(std::string(K2C_SOURCE_DIR) +
                   "/test/Unit/ptxsim_tensor/Inputs/" + name);
  EXPECT_TRUE(in.good()) << name;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string harness::warpKernel(const std::string &body,
                                const std::string &declarations) {
  return header + declarations +
         ".visible .entry k(.param .u64 out) {\n"
         ".reg .b16 %h<20>;\n.reg .b32 %r<40>;\n.reg .f32 %f<20>;\n"
         ".reg .b64 %d<20>;\n.reg .pred %p<10>;\n"
         "ld.param.u64 %d0, [out];\nmov.u32 %r0, %laneid;\n" +
         body + "\nret;\n}\n";
}

std::string harness::loadError(const std::string &statement) {
  return Program(warpKernel(statement)).error;
}

std::vector<uint64_t> harness::apply(const std::string &instruction,
                                     unsigned dBits,
                                     const std::vector<Source> &sources) {
  auto type = [](unsigned bits) { return ".b" + std::to_string(bits); };
  const char *names[] = {"a", "b", "c"};
  std::string text = header;
  text += ".visible .entry k(.param .u64 pd";
  for (size_t i = 0; i < sources.size(); ++i)
    text += std::string(", .param .u64 p") + names[i];
  text += ", .param .u32 count) {\n"
          ".reg .b32 %i<9>;\n.reg .b64 %x<9>;\n.reg .pred %q<3>;\n";
  unsigned resultBits = dBits == 1 ? 32 : dBits;
  text += dBits == 1 ? std::string(".reg .pred d;\n.reg .b32 word;\n")
                     : ".reg " + type(dBits) + " d;\n";
  for (size_t i = 0; i < sources.size(); ++i)
    text += ".reg " +
            (sources[i].bits == 1 ? std::string(".pred ")
                                  : type(sources[i].bits) + " ") +
            names[i] + ";\n";
  text += "mov.u32 %i1, %ctaid.x;\nmov.u32 %i2, %ntid.x;\n"
          "mov.u32 %i3, %tid.x;\nmad.lo.s32 %i4, %i1, %i2, %i3;\n"
          "ld.param.u32 %i5, [count];\nsetp.ge.u32 %q1, %i4, %i5;\n"
          "@%q1 ret;\nmul.wide.u32 %x1, %i4, 8;\n";
  for (size_t i = 0; i < sources.size(); ++i) {
    std::string n = names[i];
    text += "ld.param.u64 %x2, [p" + n + "];\nadd.s64 %x3, %x2, %x1;\n";
    if (sources[i].bits == 1)
      text += "ld.global.b32 %i6, [%x3];\nsetp.ne.u32 " + n + ", %i6, 0;\n";
    else
      text += "ld.global" + type(sources[i].bits) + " " + n + ", [%x3];\n";
  }
  text += instruction + "\nld.param.u64 %x2, [pd];\nadd.s64 %x3, %x2, %x1;\n";
  text += dBits == 1 ? "selp.b32 word, 1, 0, d;\nst.global.b32 [%x3], word;\n"
                     : "st.global" + type(resultBits) + " [%x3], d;\n";
  text += "ret;\n}\n";

  Program kernel(text);
  size_t count = sources.empty() ? 32 : sources[0].values.size();
  uint64_t out = kernel.buffer(std::vector<uint64_t>(count), "out");
  uint64_t in[3] = {};
  for (size_t i = 0; i < sources.size(); ++i)
    in[i] = kernel.buffer(sources[i].values, names[i]);
  ptxsim::Dim3 grid, block;
  block.x = 128, grid.x = uint32_t((count + 127) / 128);
  uint32_t n = uint32_t(count);
  if (sources.size() == 1)
    kernel.launch("k", grid, block, out, in[0], n);
  else if (sources.size() == 2)
    kernel.launch("k", grid, block, out, in[0], in[1], n);
  else
    kernel.launch("k", grid, block, out, in[0], in[1], in[2], n);
  EXPECT_EQ(kernel.error, "") << instruction;
  return kernel.read<uint64_t>(out, count);
}
