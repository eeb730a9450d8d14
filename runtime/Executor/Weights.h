//===- Weights.h - Checkpoint tensors in their final layout -----*- C++ -*-===//
#ifndef RUNTIME_EXECUTOR_WEIGHTS_H
#define RUNTIME_EXECUTOR_WEIGHTS_H

#include "runtime/Artifact/Manifest.h"
#include "runtime/Checkpoint/Checkpoint.h"
#include "runtime/Device/Device.h"

#include <functional>
#include <set>

namespace k2rt {

struct LoadStats {
  double seconds = 0;
  uint64_t checkpointBytes = 0; ///< read from the checkpoint
  uint64_t deviceBytes = 0;     ///< of all pools, padding included
};

/// Called now and then while weights are loaded: bytes done, bytes in all.
using LoadProgress = std::function<void(uint64_t, uint64_t)>;

/// The weights of a model on a device: for every param and layer one pool,
/// [experts,] rows, row stride; padding is zero.
class Weights {
public:
  /// Loads the params in `used`. Everything is checked against the checkpoint
  /// before the first byte moves; errors name the tensor and both types.
  static Expected<Weights> load(const Manifest &manifest,
                                const std::set<int> &used,
                                const Checkpoint &checkpoint, Device &device,
                                LoadStats &stats,
                                const LoadProgress &progress = {});

  /// Address of a param's pool of a layer (0 for params of the model).
  DevicePtr pool(int param, int64_t layer) const {
    return pools_.at(param).at(layer).pointer();
  }

private:
  std::map<int, std::map<int64_t, DeviceMemory>> pools_;
};

} // namespace k2rt

#endif // RUNTIME_EXECUTOR_WEIGHTS_H
