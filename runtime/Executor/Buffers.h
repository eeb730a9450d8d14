//===- Buffers.h - The named device memory of a run -------------*- C++ -*-===//
#ifndef RUNTIME_EXECUTOR_BUFFERS_H
#define RUNTIME_EXECUTOR_BUFFERS_H

#include "runtime/Artifact/Manifest.h"
#include "runtime/Device/Device.h"
#include "runtime/Executor/Lifetimes.h"

#include <set>
#include <span>

namespace k2rt {

/// A buffer's contents on the host, rows without padding.
struct HostArray {
  ElementType dtype = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  /// The elements as float32 (bf16 widened). Precondition: bf16 or f32.
  std::vector<float> floats() const;
};

/// A byte that makes bf16 and f32 not-a-numbers, in a form that no arithmetic
/// of a GPU gives.
inline constexpr uint8_t kPoison = 0xff;

/// The first element of bf16 or f32 values that is NaN or infinite. Elements of
/// poison bytes only do not count: they were never written.
std::optional<size_t> findNonFinite(const HostArray &values);

class Buffers {
public:
  /// Manages the buffers of `manifest` whose numbers are in `used`. With
  /// lifetimes, buffers of class step share one arena; without, every buffer is
  /// an allocation of its own.
  Buffers(const Manifest &manifest, std::set<int> used, Device &device,
          std::vector<Lifetime> lifetimes)
      : manifest_(&manifest), device_(&device), used_(std::move(used)),
        lifetimes_(std::move(lifetimes)), states_(manifest.buffers.size()) {}

  /// What nobody may read is filled with kPoison: the latent cache, buffers of
  /// a step before it, the ends of padded rows.
  void poison() { stepFill_ = kPoison, poisoned_ = true; }
  /// Buffers of a step are filled with `value` before it.
  void fillSteps(uint8_t value) { stepFill_ = value; }
  /// Buffers that steps do without from now on; their memory is freed.
  void leaveOut(std::set<int> buffers);

  /// True for the used buffers, left out or not.
  bool names(int buffer) const { return used_.count(buffer) != 0; }
  bool used(int buffer) const {
    return names(buffer) && left_.count(buffer) == 0;
  }
  /// Gives every used buffer of a class its shape and memory. Contents are kept
  /// only if nothing changed; memory of persistent buffers is zeroed.
  Status prepare(BufferClass cls, const Symbols &symbols);
  /// Lets `buffer`, which is not a used one, be memory of somebody else.
  Status lend(int buffer, const Symbols &symbols, DevicePtr memory);

  DevicePtr pointer(int buffer) const;
  const std::vector<int64_t> &shape(int buffer) const {
    return states_[buffer].shape;
  }
  size_t bytes(int buffer) const { return states_[buffer].bytes; }
  /// Address of element `index` of the first dimension.
  Expected<DevicePtr> at(int buffer, int64_t index) const;

  /// Fills a buffer with rows that follow each other at `data`.
  Status upload(int buffer, std::span<const std::byte> data);
  Expected<HostArray> download(int buffer) const;
  Status zero(int buffer);
  Status copy(int from, int to);

  /// Bytes that the used buffers of a class take on the device.
  uint64_t bytesOf(BufferClass cls) const;

private:
  struct State {
    DeviceMemory memory; ///< none in an arena
    DevicePtr pointer = 0;
    std::vector<int64_t> shape;
    int64_t rows = 0, rowBytes = 0, strideBytes = 0;
    size_t bytes = 0;
  };
  Status prepareOwn(int index, State &wanted);
  Status fillPersistent(int index);
  Status prepareArena(const Symbols &symbols);
  Expected<State> layOut(const Buffer &buffer, const Symbols &symbols) const;

  const Manifest *manifest_;
  Device *device_;
  std::set<int> used_, left_;
  std::optional<uint8_t> stepFill_;
  bool poisoned_ = false;
  std::vector<Lifetime> lifetimes_;
  DeviceMemory arena_;
  uint64_t arenaBytes_ = 0;
  std::vector<State> states_;
};

} // namespace k2rt

#endif // RUNTIME_EXECUTOR_BUFFERS_H
