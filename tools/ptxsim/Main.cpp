// ptxsim: looks into a PTX file, or runs one of its kernels on the simulator.

#include "tools/ptxsim/Arguments.h"
#include "tools/ptxsim/Error.h"
#include "tools/ptxsim/Extension.h"
#include "tools/ptxsim/List.h"
#include "tools/ptxsim/Npy.h"
#include "tools/ptxsim/Output.h"

#include <CLI/CLI.hpp>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

constexpr char footer[] = R"(
Arguments (--arg, once for each parameter, in order):
  u32=7  f32=-0.5  s64=0x10              a scalar: s8 u8 s16 u16 s32 u32 s64 u64 f16 bf16 f32 f64 e4m3 e5m2
  f32[64,32]=zero|iota|rand:SEED|0.5     a buffer, filled; rand:SEED:LOW:HIGH, else -1 to 1 (integers: 0 to 99)
  s32[]=3,1,4                            a buffer of these numbers
  f32[64]                                a buffer of 0xff bytes (NaN), for results
  x.npy  m.safetensors:layer.w           a buffer from a file (little-endian, C order)
  bf16@x.npy                             the same, its uint16 taken as bf16 (numpy has no bf16, e4m3, e5m2)
  &NAME  &NAME+64                        the address of a buffer of --buffer or of a parameter, plus bytes
  map:NAME:box=64,64:swizzle=128         a tensor map (TMA) over it; sizes as a shape, innermost last. Keys: box, dims (default:
                                         the buffer's shape), strides (elements, without the innermost), steps, type,
                                         swizzle=none|32|64|128, fill=zero|nan, offset (bytes), l2=none|64|128|256
  bytes:00ff10  bytes:@FILE              a struct by value

Examples:
  ptxsim k.ptx --list
  ptxsim k.ptx --entry=axpy --grid=2 --block=128 --arg=f32=2 --arg='f32[256]=iota' --arg='f32[256]=1' --arg=u32=256
  ptxsim k.ptx --entry=gemm --block=128 --shared=32768 --buffer='a=bf16[128,64]=rand:1' --arg=map:a:box=64,64:swizzle=128 \
    --arg=bf16@b.npy --arg='f32[128,128]' --out=2:c.npy
  ptxsim k.ptx --entry=scan --block=256 --arg=x.npy --arg='u32[256]' --schedule=random:1 --check=all

The exit status is 0, 1 for wrong arguments or files, 2 for a fault of the kernel.)";

struct Settings {
  std::string file, entry, grid = "1", block = "32", cluster, shared = "0",
                           threads = "0", schedule = "rr", async = "eager",
                           tc = "exact32", check, print = "64", limit;
  std::vector<std::string> buffers, args, outs;
  bool list = false, cooperative = false;
};

uint32_t parseCount(const char *option, const std::string &text) {
  const std::vector<uint64_t> n = parseNumbers(option, text, ',');
  if (n.size() != 1 || n[0] > 0xffffffffu)
    fail("{}: expected one number below 2^32, but got '{}'", option, text);
  return uint32_t(n[0]);
}

Dim3 parseDims(const char *option, const std::string &text) {
  std::vector<uint64_t> d = parseNumbers(option, text, ',');
  if (d.size() > 3)
    fail("{}: expected at most three numbers, but got '{}'", option, text);
  for (uint64_t n : d)
    if (n < 1 || n > 0xffffffffu)
      fail("{}: expected numbers from 1 to 2^32 - 1, but got '{}'", option,
           text);
  d.resize(3, 1);
  return {uint32_t(d[0]), uint32_t(d[1]), uint32_t(d[2])};
}

void require(const char *option, const Status &status) {
  if (!status)
    fail("{}{}", option, status.message());
}

void addOptions(CLI::App &app, Settings &s) {
  const auto repeated = [](CLI::Option *o) {
    o->allow_extra_args(false)->expected(1)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
    return o;
  };
  app.add_option("FILE", s.file, "PTX text")->type_name("")->required();
  app.add_flag("--list", s.list,
               "print entries, parameters, resources and checks, and stop");
  app.add_option("--entry", s.entry,
                 "the kernel to run (default: the only one of the file)")
      ->type_name("NAME")
      ->group("Launch");
  app.add_option("--grid", s.grid, "CTAs")
      ->type_name("X[,Y[,Z]]")
      ->group("Launch");
  app.add_option("--block", s.block, "threads of a CTA")
      ->type_name("X[,Y[,Z]]")
      ->group("Launch");
  app.add_option("--cluster", s.cluster, "CTAs of a cluster")
      ->type_name("X[,Y[,Z]]")
      ->group("Launch");
  app.add_flag("--cooperative", s.cooperative,
               "all CTAs make progress at the same time and can wait for each "
               "other")
      ->group("Launch");
  app.add_option("--shared", s.shared, "dynamic shared memory")
      ->type_name("BYTES")
      ->group("Launch");
  repeated(app.add_option("--arg", s.args, "the next parameter: see below"))
      ->type_name("SPEC")
      ->group("Launch");
  repeated(app.add_option("--buffer", s.buffers,
                          "a buffer that is no parameter itself, "
                          "for &NAME and map:NAME"))
      ->type_name("NAME=SPEC")
      ->group("Launch");
  repeated(
      app.add_option("--out", s.outs,
                     "a buffer, by name or index of its parameter, to print, "
                     "or write to FILE.npy or FILE.safetensors, after "
                     "the launch (default: print all)"))
      ->type_name("WHICH[:FILE]")
      ->group("Launch");
  app.add_option("--print", s.print,
                 "elements of a buffer to print at most: N or all")
      ->type_name("N|all")
      ->group("Launch");
  app.add_option("--check", s.check,
                 "all, none, or names: only these; NAME=on|off changes one "
                 "(--list prints them)")
      ->type_name("NAME,...")
      ->group("Checking");
  app.add_option("--schedule", s.schedule,
                 "order of a CTA's warps: rr, reverse, random:SEED, greedy")
      ->type_name("ORDER")
      ->group("Checking");
  app.add_option("--async", s.async,
                 "when asynchronous copies and wgmma take effect: eager, lazy "
                 "(only at the wait for them), random:SEED")
      ->type_name("MODE")
      ->group("Checking");
  app.add_option("--tc", s.tc,
                 "how tensor cores add: exact32 (in float, in order), h100, "
                 "a100 (models of the hardware)")
      ->type_name("MODE")
      ->group("Launch");
  app.add_option("--limit", s.limit,
                 "warp instructions before a CTA counts as hung (0: never)")
      ->type_name("N")
      ->group("Checking");
  app.add_option("--threads", s.threads, "host threads (0: all cores)")
      ->type_name("N")
      ->group("Launch");
}

const Kernel &findEntry(const Module &module, const std::string &entry) {
  std::string names;
  for (const Kernel &k : module.kernels())
    names += (names.empty() ? "" : ", ") + k.name;
  if (entry.empty()) {
    if (module.kernels().size() != 1)
      fail("--entry: expected one of {}",
           names.empty() ? "none: the file has no entries" : names);
    return module.kernels().front();
  }
  const Kernel *kernel = module.find(entry);
  if (!kernel)
    fail("--entry: expected an entry of the file ({}), but got '{}'",
         names.empty() ? "it has none" : names, entry);
  return *kernel;
}

int run(const Settings &s,
        const std::vector<std::unique_ptr<Extension>> &extensions) {
  DeviceOptions options;
  options.threads = parseCount("--threads", s.threads);
  if (options.threads > 1024)
    fail("--threads: expected at most 1024, but got {}", options.threads);
  require("--", readSchedule(s.schedule, options));
  require("--", readAsync(s.async, options));
  require("--", readNumerics(s.tc, options));
  if (!s.limit.empty()) {
    const std::vector<uint64_t> n = parseNumbers("--limit", s.limit, ',');
    if (n.size() != 1)
      fail("--limit: expected a number of warp instructions of a CTA, or 0 for "
           "none, but got '{}'",
           s.limit);
    options.instructionLimit = n[0];
  }
  require("--check: ", readChecks(s.check, options));
  for (const auto &e : extensions)
    e->configure(options);
  Device device(options);
  auto module = device.loadModule(readFile(s.file), s.file);
  if (!module) {
    fmt::print(stderr, "{}\n", module.message());
    return 1;
  }
  if (s.list) {
    list(**module, options);
    return 0;
  }
  const Kernel &kernel = findEntry(**module, s.entry);
  const Dim3 grid = parseDims("--grid", s.grid),
             block = parseDims("--block", s.block);
  std::optional<Dim3> cluster;
  if (!s.cluster.empty())
    cluster = parseDims("--cluster", s.cluster);
  const uint32_t shared = parseCount("--shared", s.shared);
  Arguments arguments(device, kernel);
  for (const std::string &b : s.buffers)
    arguments.addBuffer(b);
  for (const std::string &a : s.args)
    arguments.addArgument(a);
  arguments.finish();
  const Outputs outputs(arguments, s.outs, s.print);
  std::vector<Observer *> observers;
  for (const auto &e : extensions)
    if (Observer *o = e->beforeLaunch(**module, kernel))
      observers.push_back(o);
  device.observe(observers);
  Counters counters;
  const Status status = device.launch(**module, kernel, grid, block, shared,
                                      arguments.pointers().data(), &counters,
                                      cluster, s.cooperative);
  // Other errors are about the launch.
  const bool fault = status.fault() != FaultKind::None;
  if (!status && !fault)
    fail("{}", status.message());
  if (fault)
    fmt::print(stderr, "{}\n", status.message());
  else
    outputs.write();
  for (const auto &e : extensions)
    e->afterLaunch(
        {**module, kernel, grid, block, cluster, shared, counters, status});
  return fault ? 2 : 0;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Executes PTX for sm_90a on the CPU, with checks", "ptxsim"};
  Settings settings;
  std::vector<std::unique_ptr<Extension>> extensions;
  extensions.push_back(makeStats());
  extensions.push_back(makeCounting());
  extensions.push_back(makeProfile());
  extensions.push_back(makeTrace());
  addOptions(app, settings);
  for (const auto &e : extensions)
    e->addOptions(app);
  app.footer(footer);
  app.get_formatter()->column_width(36);
  // A --check alone would take the next word for its value.
  std::vector<std::string> words(argv + 1, argv + argc);
  std::replace(words.begin(), words.end(), std::string("--check"),
               std::string("--check=all"));
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError &e) {
    if (e.get_exit_code() == 0)
      return app.exit(e);
    fmt::print(stderr, "ptxsim: error: {}\n", e.what());
    return 1;
  }
  try {
    return run(settings, extensions);
  } catch (const UsageError &e) {
    fmt::print(stderr, "ptxsim: error: {}\n", e.text);
  } catch (const std::bad_alloc &) {
    fmt::print(stderr, "ptxsim: error: out of memory\n");
  }
  return 1;
}
