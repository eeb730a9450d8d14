#ifndef RUNTIME_PTXSIM_PTXSIM_H
#define RUNTIME_PTXSIM_PTXSIM_H

// The simulator's C++ API. No exception crosses it: functions that can fail
// return a Status or a Result. A Device and what was loaded on it are used by
// one thread at a time; launch() itself uses all of the device's threads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxsim {

/// What ended a launch, as far as a driver tells faults apart.
enum class FaultKind : uint8_t {
  None,           ///< no fault: what the host asked for is not possible
  IllegalAddress, ///< out of bounds, use after free
  Misaligned,
  Assert,
  Hang, ///< too many instructions, or a deadlock
  Other,
};

/// Success, or the text of an error: a diagnostic of the loader or a device
/// fault.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status error(std::string text, FaultKind kind = FaultKind::None) {
    Status status;
    status.text = std::move(text);
    status.kind = kind;
    return status;
  }
  bool ok() const { return !text; }
  explicit operator bool() const { return ok(); }
  /// Empty when ok.
  /// Diagnostics have several lines; the first one tells the error.
  std::string message() const { return text.value_or(std::string()); }
  /// The first line of the message.
  std::string summary() const {
    const std::string all = message();
    return all.substr(0, all.find('\n'));
  }
  /// What kind of fault of the kernel the error is, if it is one.
  FaultKind fault() const { return kind; }

private:
  std::optional<std::string> text;
  FaultKind kind = FaultKind::None;
};

/// A value or an error.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  Result(Status error) : failure(std::move(error)) {}
  bool ok() const { return held.has_value(); }
  explicit operator bool() const { return ok(); }
  T &operator*() { return *held; }
  T *operator->() { return &*held; }
  const Status &status() const { return failure; }
  std::string message() const { return failure.message(); }

private:
  std::optional<T> held;
  Status failure;
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// Each check can be switched off on its own.
struct Checks {
  bool bounds = true; ///< out of bounds, use after free, wrong space
  bool alignment =
      true; ///< addresses that are not a multiple of the access size
  bool uninitialisedShared =
      true; ///< reads of shared bytes that nothing has written
  bool uninitialisedGlobal = false; ///< reads of global bytes that neither the
                                    ///< host nor a kernel has written (opt-in)
  bool undefinedRegisters =
      true; ///< an address, a predicate that decides, or a stored value that
            ///< comes from a register which its thread has not written
  bool sharedRaces = true;  ///< conflicting accesses to shared memory that
                            ///< nothing orders
  bool globalRaces = false; ///< the same of global memory within a launch
                            ///< (opt-in: slow)
  bool asyncHazards = true; ///< use of a cp.async's destination before its
                            ///< wait, writes to the source of a bulk copy under
                            ///< way
  bool exitPending = true; ///< copies in flight when their thread or CTA exits,
                           ///< mbarriers whose copies nobody has waited for
  bool wgmmaHazards = true; ///< missing wgmma.fence, and registers and shared
                            ///< memory of a wgmma under way
  bool barriers = true;   ///< barriers used with other counts or operations, or
                          ///< by a warp that has arrived already; mbarriers
                          ///< initialised twice, invalidated while waited for
  bool divergence = true; ///< .aligned instructions reached by a part of a warp
  bool proxyFence =
      true; ///< bulk copies and wgmma that read shared memory which was written
            ///< without a fence.proxy.async since
  bool warpgroupOrder =
      true; ///< wgmma.fence orders no stores of other warps; off: it does, as
            ///< if it were a barrier of the warpgroup's four warps
  bool limits = true; ///< registers, shared memory, threads and cluster of a
                      ///< launch against the device's
  bool setmaxnreg = true; ///< its requests against the CTA's pool: an inc waits
                          ///< for registers
  bool mbarrierPhases = true; ///< arrivals that may count for either of two
                              ///< phases of an mbarrier
  bool mbarrierInitFence =
      false; ///< bulk copies that signal an mbarrier whose init no fence
             ///< publishes (opt-in: Triton's kernels have none)
  bool unmatchedArrivals =
      false; ///< arrivals at a barrier that nobody has waited for when the CTA
             ///< ends (opt-in: the ISA allows it)
};

/// When asynchronous copies (cp.async, cp.async.bulk) and wgmma take effect.
/// Touching what is under way is an error.
enum class Async : uint8_t {
  Eager,  ///< at once
  Lazy,   ///< at the wait that covers them
  Random, ///< at a random moment in between, by DeviceOptions::asyncSeed
};

/// The order in which a CTA's warps run. A program without races gives the same
/// result under all.
enum class Schedule : uint8_t {
  RoundRobin, ///< each until it blocks or has run for a while, first to last
  Reverse,    ///< the same, last to first
  Random,     ///< in random order for a random number of instructions, by
              ///< DeviceOptions::seed
  Greedy,     ///< one until it blocks or ends, however long that takes
};

class Observer;

/// How tensor cores add up float products.
enum class Numerics : uint8_t {
  Exact32, ///< by fused multiply-add in float, in ascending k
  H100, ///< in blocks, aligned to the largest exponent and cut off: published
        ///< models of the hardware (numeric/BlockSum.h)
  A100,
};

struct DeviceOptions {
  unsigned threads = 0; ///< host threads for CTAs; 0: one per core
  Checks checks;
  bool poison =
      false; ///< allocate() fills with 0xff (NaN in every float format)
  Numerics numerics = Numerics::Exact32;
  Async async = Async::Eager;
  uint64_t asyncSeed = 0; ///< of Async::Random
  uint64_t instructionLimit =
      1ull
      << 38; ///< warp instructions of one CTA before it counts as hung; 0: none
  Schedule schedule = Schedule::RoundRobin;
  uint64_t seed = 0; ///< of Schedule::Random
  /// mma and wgmma are issued, checked and counted, but not computed: results
  /// stay what the accumulator was.
  bool skipTensor = false;
  /// Executes only about this many CTAs of a grid (whole clusters), evenly
  /// spaced, the first and the last among them; 0: all. From 264 on they are
  /// runs of 132 neighbours, as many as a device has at once, so that what
  /// these share in a cache is seen. Only for kernels whose CTAs do not wait
  /// for each other.
  uint64_t sampleCtas = 0;
  /// Bytes of a thread's stack in kernels whose functions may call themselves;
  /// others get what they need.
  uint32_t stackBytes = 16384;
  uint32_t maxSharedBytes =
      232448;                   ///< per CTA: 227 KiB, the Hopper opt-in limit
  uint32_t maxThreads = 1024;   ///< per CTA
  uint32_t maxClusterCtas = 16; ///< Hopper: 8, or 16 with opt-in
  uint32_t registersPerCta = 65536;
};

/// rr, reverse, random:SEED or greedy.
Status readSchedule(std::string_view text, DeviceOptions &options);
/// eager, lazy or random:SEED.
Status readAsync(std::string_view text, DeviceOptions &options);
/// exact32, h100 or a100.
Status readNumerics(std::string_view text, DeviceOptions &options);
/// `schedule=reverse,async=lazy,shared-races=off`: changes what is named.
Status readOptions(std::string_view text, DeviceOptions &options);
/// `all`, `none`, or names: only these are on. `name=on` and `name=off` change
/// one of what stands so far.
Status readChecks(std::string_view text, DeviceOptions &options);
/// The checks by the names that options use.
std::vector<std::pair<std::string_view, bool>> checkNames(const Checks &checks);

/// What one launch executed. A figure that the simulator cannot tell yet has no
/// field.
struct Counters {
  uint64_t warpInstructions =
      0; ///< PTX instructions, counted once per warp (not SASS)
  uint64_t threadInstructions = 0;    ///< the same, once per executing thread
  uint64_t tensorFlops = 0;           ///< 2 m n k of every mma
  uint64_t sharedWavefronts = 0;      ///< ld, st and ldmatrix on shared memory:
                                      ///< passes through 32 banks of 4 bytes
  uint64_t sharedIdealWavefronts = 0; ///< the same without bank conflicts
  uint64_t globalLoadBytes = 0; ///< bytes that executing threads asked for
  uint64_t globalStoreBytes = 0;
  uint64_t ctas = 0;         ///< of the grid
  uint64_t ctasExecuted = 0; ///< fewer with DeviceOptions::sampleCtas; the
                             ///< other figures are theirs alone
  Counters &operator+=(const Counters &other);
};

struct Param {
  std::string name;
  std::string type; ///< as written: "u64", "b8", ...
  uint32_t size = 0, align = 0, offset = 0;
};

/// An .entry of a module.
struct Kernel {
  std::string name;
  std::vector<Param> params;
  uint32_t paramBytes = 0;
  std::optional<Dim3> reqntid, maxntid;
  std::optional<Dim3> cluster; ///< .reqnctapercluster
  uint32_t staticSharedBytes = 0;
  std::string
      dynamicShared;      ///< name of the .extern .shared array it uses, if any
  uint32_t registers = 0; ///< virtual registers declared
  uint32_t maxnreg = 0;   ///< .maxnreg; 0: none
  uint32_t minCtas = 0;   ///< .minnctapersm; 0: none
};

class Module {
public:
  virtual ~Module() = default;
  virtual const std::vector<Kernel> &kernels() const = 0;
  /// Null when there is no such entry.
  virtual const Kernel *find(std::string_view name) const = 0;
  /// Address and size of a .global or .const variable.
  virtual std::optional<std::pair<uint64_t, size_t>>
  global(std::string_view name) const = 0;
};

class Device {
public:
  explicit Device(DeviceOptions options = {});
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// A device pointer equals the host pointer: `reinterpret_cast<float
  /// *>(*pointer)` is the memory itself. Aligned to 256 bytes, with
  /// unaddressable bytes on both sides. New memory is zero, or 0xff with the
  /// poison option. `name` appears in faults.
  Result<uint64_t> allocate(size_t bytes, std::string name);
  Status free(uint64_t pointer);
  /// Does an allocation or a variable of a module have this byte?
  bool holds(uint64_t address) const;

  Status copyToDevice(uint64_t destination, const void *source, size_t bytes);
  Status copyToHost(void *destination, uint64_t source, size_t bytes);
  Status copyOnDevice(uint64_t destination, uint64_t source, size_t bytes);
  Status fill8(uint64_t destination, uint8_t value, size_t count);
  Status fill32(uint64_t destination, uint32_t value, size_t count);

  /// Parses and decodes PTX text. `filename` is what diagnostics and faults
  /// call it. The module belongs to the device.
  Result<std::shared_ptr<Module>> loadModule(std::string text,
                                             std::string filename);

  /// Runs a kernel to its end. params[i] points at the value of parameter i, as
  /// for cuLaunchKernel. `cluster` is in CTAs; without it the kernel's own
  /// (.reqnctapercluster) or one CTA. With `cooperative` all CTAs make progress
  /// at the same time, so that they can wait for each other (grid barriers).
  Status launch(const Module &module, const Kernel &kernel, Dim3 grid,
                Dim3 block, uint32_t dynamicSharedBytes,
                const void *const *params, Counters *counters = nullptr,
                std::optional<Dim3> cluster = std::nullopt,
                bool cooperative = false);

  /// Of the launches to come; the number of threads stays.
  const DeviceOptions &options() const;
  void setOptions(const DeviceOptions &options);

  /// From now on launches are watched by these (Observer.h), which must outlive
  /// them; none: not any more.
  void observe(std::vector<Observer *> observers);

  struct Impl;

private:
  std::unique_ptr<Impl> impl;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_PTXSIM_H
