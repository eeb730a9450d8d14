// ptxsim: looks into a PTX file, or runs one of its kernels on the simulator.

#include "runtime/ptxsim/ptxsim.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

using namespace ptxsim;

namespace {

struct UsageError {
  std::string text;
};

Dim3 parseDims(const std::string &text, const char *option) {
  uint32_t d[3] = {1, 1, 1};
  size_t at = 0;
  for (int i = 0; i < 3 && at <= text.size(); ++i) {
    size_t comma = std::min(text.find(',', at), text.size());
    auto [end, code] =
        std::from_chars(text.data() + at, text.data() + comma, d[i]);
    if (code != std::errc() || end != text.data() + comma)
      throw UsageError{
          fmt::format("{}: expected X[,Y[,Z]], but got '{}'", option, text)};
    at = comma + 1;
  }
  if (at <= text.size())
    throw UsageError{fmt::format(
        "{}: expected at most three numbers, but got '{}'", option, text)};
  return {d[0], d[1], d[2]};
}

void parseSchedule(const std::string &text, DeviceOptions &options) {
  if (Status status = readSchedule(text, options); !status)
    throw UsageError{"--" + status.message()};
}

/// An element type of --arg.
struct ElementType {
  const char *name;
  unsigned bytes;
  bool isFloat, isSigned;
};
constexpr ElementType elementTypes[] = {
    {"i8", 1, false, true},  {"u8", 1, false, false},
    {"i16", 2, false, true}, {"u16", 2, false, false},
    {"i32", 4, false, true}, {"u32", 4, false, false},
    {"i64", 8, false, true}, {"u64", 8, false, false},
    {"f32", 4, true, true},  {"f64", 8, true, true}};

uint64_t encode(const ElementType &type, const std::string &text) {
  const UsageError refusal{fmt::format(
      "--arg: expected a number of type {}, but got '{}'", type.name, text)};
  try {
    size_t used = 0;
    uint64_t bits = 0;
    if (type.isFloat) {
      double value = std::stod(text, &used);
      if (type.bytes == 4) {
        float f = float(value);
        std::memcpy(&bits, &f, 4);
      } else {
        std::memcpy(&bits, &value, 8);
      }
    } else {
      bits = text[0] == '-' ? uint64_t(std::stoll(text, &used, 0))
                            : std::stoull(text, &used, 0);
    }
    if (used == text.size())
      return bits;
  } catch (const std::exception &) {
    throw refusal; // no number, or one too large
  }
  throw refusal;
}

std::string decode(const ElementType &type, const std::byte *from) {
  if (type.isFloat && type.bytes == 4) {
    float f;
    std::memcpy(&f, from, 4);
    return fmt::format("{}", f);
  }
  if (type.isFloat) {
    double f;
    std::memcpy(&f, from, 8);
    return fmt::format("{}", f);
  }
  uint64_t bits = 0;
  std::memcpy(&bits, from, type.bytes);
  if (!type.isSigned)
    return fmt::format("{}", bits);
  return fmt::format("{}", int64_t(bits << (64 - 8 * type.bytes)) >>
                               (64 - 8 * type.bytes));
}

/// One --arg: a scalar i32:5, or a buffer f32:[64xzero], i32:[256xiota],
/// f32:[1,2,3].
struct Argument {
  const ElementType *type = nullptr;
  uint64_t value = 0; ///< the scalar, or the buffer's device pointer
  size_t elements = 0;
  bool isBuffer = false;
};

Argument makeArgument(Device &device, const std::string &text, size_t index) {
  Argument a;
  size_t colon = text.find(':');
  for (const ElementType &t : elementTypes)
    if (text.substr(0, colon) == t.name)
      a.type = &t;
  if (!a.type || colon == std::string::npos)
    throw UsageError{
        fmt::format("--arg: expected TYPE:VALUE or TYPE:[..] with a type of i8 "
                    "u8 i16 u16 i32 u32 i64 u64 f32 f64, but got '{}'",
                    text)};
  std::string value = text.substr(colon + 1);
  if (value.empty() || value[0] != '[') {
    a.value = encode(*a.type, value);
    return a;
  }
  if (value.back() != ']')
    throw UsageError{
        fmt::format("--arg: expected ']' at the end of '{}'", text)};
  value = value.substr(1, value.size() - 2);
  std::vector<uint64_t> elements;
  size_t x = value.find('x');
  if (x != std::string::npos &&
      (value.substr(x + 1) == "zero" || value.substr(x + 1) == "iota")) {
    size_t n = encode({"u64", 8, false, false}, value.substr(0, x));
    for (size_t i = 0; i < n; ++i)
      elements.push_back(value.substr(x + 1) == "zero"
                             ? 0
                             : encode(*a.type, std::to_string(i)));
  } else {
    for (size_t at = 0; at <= value.size();) {
      size_t comma = std::min(value.find(',', at), value.size());
      elements.push_back(encode(*a.type, value.substr(at, comma - at)));
      at = comma + 1;
    }
  }
  a.isBuffer = true;
  a.elements = elements.size();
  auto pointer = device.allocate(elements.size() * a.type->bytes,
                                 fmt::format("arg{}", index));
  if (!pointer)
    throw UsageError{pointer.message()};
  a.value = *pointer;
  for (size_t i = 0; i < elements.size(); ++i)
    std::memcpy(reinterpret_cast<std::byte *>(a.value) + i * a.type->bytes,
                &elements[i], a.type->bytes);
  return a;
}

void list(const Module &module) {
  for (const Kernel &k : module.kernels()) {
    fmt::print("entry {}\n", k.name);
    for (const Param &p : k.params)
      fmt::print("  param {} .{} size {} align {} offset {}\n", p.name, p.type,
                 p.size, p.align, p.offset);
    if (k.reqntid)
      fmt::print("  reqntid {},{},{}\n", k.reqntid->x, k.reqntid->y,
                 k.reqntid->z);
    if (k.maxntid)
      fmt::print("  maxntid {},{},{}\n", k.maxntid->x, k.maxntid->y,
                 k.maxntid->z);
    fmt::print("  shared {} bytes static", k.staticSharedBytes);
    if (!k.dynamicShared.empty())
      fmt::print(", dynamic in {}", k.dynamicShared);
    fmt::print("\n  registers {}\n", k.registers);
  }
}

int runKernel(Device &device, const Module &module, const std::string &entry,
              Dim3 grid, Dim3 block, uint32_t shared,
              const std::vector<std::string> &args) {
  const Kernel *kernel = module.find(entry);
  if (!kernel)
    throw UsageError{fmt::format(
        "--entry: expected an entry of the file, but got '{}'", entry)};
  if (args.size() != kernel->params.size())
    throw UsageError{
        fmt::format("--arg: entry '{}' has {} parameters, but got {}", entry,
                    kernel->params.size(), args.size())};
  std::vector<Argument> arguments;
  for (size_t i = 0; i < args.size(); ++i) {
    arguments.push_back(makeArgument(device, args[i], i));
    size_t bytes = arguments[i].isBuffer ? 8 : arguments[i].type->bytes;
    if (bytes != kernel->params[i].size)
      throw UsageError{
          fmt::format("--arg: parameter '{}' has {} bytes, but got {}",
                      kernel->params[i].name, kernel->params[i].size, bytes)};
  }
  std::vector<const void *> pointers;
  pointers.reserve(arguments.size());
  for (const Argument &a : arguments)
    pointers.push_back(&a.value);
  Counters counters;
  if (Status status = device.launch(module, *kernel, grid, block, shared,
                                    pointers.data(), &counters);
      !status) {
    fmt::print(stderr, "ptxsim: fault: {}\n", status.message());
    return 2;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &a = arguments[i];
    if (!a.isBuffer)
      continue;
    fmt::print("{} = [", kernel->params[i].name);
    for (size_t e = 0; e < a.elements; ++e)
      fmt::print("{}{}", e ? "," : "",
                 decode(*a.type, reinterpret_cast<std::byte *>(a.value) +
                                     e * a.type->bytes));
    fmt::print("]\n");
  }
  fmt::print("warp_instructions {}\nthread_instructions {}\ntensor_flops "
             "{}\nshared_wavefronts {}\nshared_bank_conflicts {}\n",
             counters.warpInstructions, counters.threadInstructions,
             counters.tensorFlops, counters.sharedWavefronts,
             counters.sharedWavefronts - counters.sharedIdealWavefronts);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Executes PTX on the CPU, with checks"};
  std::string file, entry, grid = "1", block = "32", async = "eager";
  std::vector<std::string> args;
  bool doList = false;
  uint32_t shared = 0;
  DeviceOptions options;
  app.add_option("FILE", file, "PTX text")->required();
  app.add_flag("--list", doList, "print the entries and stop");
  app.add_option("--entry", entry, "the kernel to run");
  app.add_option("--grid", grid, "X[,Y[,Z]] CTAs");
  app.add_option("--block", block, "X[,Y[,Z]] threads of a CTA");
  app.add_option("--shared", shared, "bytes of dynamic shared memory");
  std::string schedule = "rr", check;
  app.add_option("--schedule", schedule,
                 "order of a CTA's warps: rr, reverse, random:SEED, greedy");
  app.add_option("--check", check,
                 "switches of checks: shared-races=off,async-hazards=off,...");
  app.add_option("--threads", options.threads, "host threads (0: all cores)");
  app.add_option("--async", async,
                 "when asynchronous copies and wgmma take effect: eager, lazy "
                 "(at the wait for them), random:SEED");
  app.add_option("--arg", args,
                 "a parameter: i32:5, f32:[64xzero], i32:[8xiota], "
                 "f32:[1,2,3]; buffers are printed at the end")
      ->allow_extra_args(false)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &e) {
    return app.exit(e) ? 1 : 0;
  }
  try {
    std::ifstream in(file, std::ios::binary);
    if (!in)
      throw UsageError{fmt::format("{}: cannot be read", file)};
    std::string text((std::istreambuf_iterator<char>(in)),
                     std::istreambuf_iterator<char>());
    if (Status status = readAsync(async, options); !status)
      throw UsageError{"--async: " + status.message()};
    parseSchedule(schedule, options);
    if (Status status = readOptions(check, options); !status)
      throw UsageError{"--check: " + status.message()};
    Device device(options);
    auto module = device.loadModule(std::move(text), file);
    if (!module)
      throw UsageError{module.message()};
    if (doList || entry.empty()) {
      list(**module);
      return 0;
    }
    return runKernel(device, **module, entry, parseDims(grid, "--grid"),
                     parseDims(block, "--block"), shared, args);
  } catch (const UsageError &e) {
    fmt::print(stderr, "ptxsim: error: {}\n", e.text);
    return 1;
  }
}
