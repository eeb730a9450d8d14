#ifndef RUNTIME_PTXSIM_MODEL_DEVICEDESCRIPTION_H
#define RUNTIME_PTXSIM_MODEL_DEVICEDESCRIPTION_H

#include "runtime/ptxsim/counting/Collector.h"
#include "runtime/ptxsim/ptxsim.h"

#include <map>
#include <string>
#include <vector>

namespace ptxsim {

/// A device as its file describes it (devices/README.md). A figure that nobody
/// has published is null there and has no value here.
class DeviceDescription {
public:
  struct Field {
    std::optional<double> value;
    std::optional<std::pair<double, double>> range;
    std::vector<double> list; ///< if it is one
    std::string unit;
  };

  /// Errors name file and field. `file` is what they and reports call it.
  static Result<DeviceDescription> parse(std::string_view text,
                                         std::string file);
  static Result<DeviceDescription> read(const std::string &path);
  /// h100, h200 or h800: a file of share/k2c/devices beside the folder of the
  /// executable; anything with a slash or a dot is a path.
  static Result<DeviceDescription> find(const std::string &nameOrPath);

  /// "dram.read_sustained"; null for one that no device file has.
  const Field *field(std::string_view path) const;
  /// Its value in base units: s, B/s, Hz, FLOP/s, ... (from ns, GB/s, MHz,
  /// TFLOPS). Nothing if it is null or missing.
  std::optional<double> value(std::string_view path) const;
  CacheSizes cacheSizes(bool keepL2 = false) const;

  std::string name, file;

private:
  std::map<std::string, Field, std::less<>> fields;
};

/// Factor from a unit of the device files to base units.
double unitScale(std::string_view unit);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MODEL_DEVICEDESCRIPTION_H
