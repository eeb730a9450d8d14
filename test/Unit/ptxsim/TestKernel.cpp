#include "test/Unit/ptxsim/TestKernel.h"

#include <cstdlib>
#include <fstream>

namespace ptxsim::test {

const std::string header = ".version 8.4\n.target sm_90a\n.address_size 64\n";

namespace {

/// PTXSIM_TEST_DUMP=DIR writes every module there, so that ptxas can be asked
/// whether it is PTX at all.
void dump(const std::string &text) {
  static int number = 0;
  if (const char *folder = std::getenv("PTXSIM_TEST_DUMP"))
    std::ofstream(std::string(folder) + "/" + std::to_string(number++) + ".ptx")
        << text;
}

std::string kernelOf(const std::string &body) {
  return header + R"(
.visible .entry k(.param .u64 out, .param .u64 in0, .param .u64 in1) {
  .reg .b32 %t;
  .reg .b64 %out, %p0, %p1;
  .reg .b64 %offset;
  ld.param.u64 %out, [out];
  ld.param.u64 %p0, [in0];
  ld.param.u64 %p1, [in1];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %offset, %t, 8;
  add.s64 %out, %out, %offset;
)" + body +
         "\n  ret;\n}\n";
}

} // namespace

Sim::Sim(const std::string &text, DeviceOptions options) : device(options) {
  dump(text);
  auto result = device.loadModule(text, "k.ptx");
  if (result)
    module = *result;
  else
    loadError = result.status().summary();
}

Status Sim::run(std::vector<uint64_t> params, Dim3 block, Dim3 grid,
                uint32_t shared) {
  if (!module)
    return Status::error(loadError);
  std::vector<const void *> pointers;
  for (const uint64_t &p : params)
    pointers.push_back(&p);
  return device.launch(*module, module->kernels().front(), grid, block, shared,
                       pointers.data(), &counters);
}

std::vector<uint64_t> runBody(const std::string &body, size_t threads,
                              std::vector<uint64_t> in0,
                              std::vector<uint64_t> in1) {
  Sim sim(kernelOf(body));
  return runOn(sim, threads, std::move(in0), std::move(in1));
}

std::vector<uint64_t> runOn(Sim &sim, size_t threads, std::vector<uint64_t> in0,
                            std::vector<uint64_t> in1) {
  EXPECT_EQ(sim.loadError, "");
  if (!sim.module)
    return {};
  in0.resize(std::max<size_t>(in0.size(), 1));
  in1.resize(std::max<size_t>(in1.size(), 1));
  uint64_t out = sim.buffer("out", std::vector<uint64_t>(threads));
  uint64_t p0 = sim.buffer("in0", in0), p1 = sim.buffer("in1", in1);
  Status status = sim.run({out, p0, p1}, {uint32_t(threads), 1, 1});
  EXPECT_EQ(status.message(), "");
  return sim.read<uint64_t>(out, threads);
}

std::string faultOfBody(const std::string &body, size_t threads,
                        DeviceOptions options) {
  Sim sim(kernelOf(body), options);
  if (!sim.module)
    return sim.loadError;
  uint64_t out = sim.buffer("out", std::vector<uint64_t>(threads));
  uint64_t p0 = sim.buffer("in0", std::vector<uint64_t>(threads));
  uint64_t p1 = sim.buffer("in1", std::vector<uint64_t>(threads));
  return sim.run({out, p0, p1}, {uint32_t(threads), 1, 1}).summary();
}

namespace {

std::string declare(const char *name, unsigned width) {
  if (width == 1)
    return std::string("  .reg .pred ") + name + ";\n";
  return "  .reg .b" + std::to_string(width) + " " + name + ";\n";
}

std::string load(const char *name, unsigned width, unsigned offset) {
  std::string address = "[%in+" + std::to_string(offset) + "];\n";
  if (width == 1)
    return "  ld.global.b32 %word, " + address + "  setp.ne.b32 " + name +
           ", %word, 0;\n";
  return "  ld.global.b" + std::to_string(width) + " " + name + ", " + address;
}

std::string store(unsigned width) {
  if (width == 1)
    return "  selp.b32 %word, 1, 0, d;\n  st.global.b32 [%out], %word;\n";
  return "  st.global.b" + std::to_string(width) + " [%out], d;\n";
}

} // namespace

std::string instructionBody(const std::string &instruction, Widths widths) {
  std::string body =
      "  .reg .b64 %in;\n  .reg .b32 %word;\n  mul.wide.u32 %in, %t, 32;\n"
      "  add.s64 %in, %p0, %in;\n" +
      declare("d", widths.d);
  const char *names[] = {"a", "b", "c"};
  const unsigned sources[] = {widths.a, widths.b, widths.c};
  for (unsigned i = 0; i < 3; ++i)
    if (sources[i])
      body += declare(names[i], sources[i]) + load(names[i], sources[i], i * 8);
  // Several instructions come as a { } block.
  body += "  " + instruction + (instruction.front() == '{' ? "\n" : ";\n") +
          store(widths.d);
  return body;
}

void expectInstruction(const std::string &instruction, Widths widths,
                       std::vector<Case> cases) {
  const std::string body = instructionBody(instruction, widths);
  // A full warp (all lanes at once) and part of one (masked), with the cases
  // repeated.
  for (size_t threads : {size_t(32), std::max<size_t>(1, cases.size() % 32)}) {
    std::vector<uint64_t> in;
    for (size_t t = 0; t < std::max(threads, cases.size()); ++t) {
      const Case &c = cases[t % cases.size()];
      in.insert(in.end(), {c.a, c.b, c.c, 0});
    }
    threads = std::max(threads, cases.size());
    std::vector<uint64_t> got = runBody(body, threads, in);
    ASSERT_EQ(got.size(), threads) << instruction;
    for (size_t t = 0; t < threads; ++t) {
      const Case &c = cases[t % cases.size()];
      EXPECT_EQ(got[t], c.expected)
          << instruction << " in thread " << t << " of " << threads << std::hex
          << ": a = 0x" << c.a << ", b = 0x" << c.b << ", c = 0x" << c.c
          << " gives 0x" << got[t] << ", expected 0x" << c.expected;
    }
  }
}

} // namespace ptxsim::test
