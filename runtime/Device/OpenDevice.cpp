//===- OpenDevice.cpp - A device by its name ------------------------------===//
#include "runtime/Device/Device.h"

#include <charconv>

namespace k2rt {

Expected<std::unique_ptr<Device>> Device::open(const std::string &name) {
  Expected<DriverTable> table = [&]() -> Expected<DriverTable> {
    if (name == "sim")
      return makeSimDriver();
    int ordinal = 0;
    std::string_view rest = name;
    if (rest == "cuda")
      return makeCudaDriver(0);
    if (rest.starts_with("cuda:")) {
      rest.remove_prefix(5);
      auto [end, error] =
          std::from_chars(rest.data(), rest.data() + rest.size(), ordinal);
      if (error == std::errc() && end == rest.data() + rest.size() &&
          ordinal >= 0)
        return makeCudaDriver(ordinal);
    }
    return Status::input("--device: expected sim, cuda or cuda:N, but got '" +
                         name + "'");
  }();
  if (!table)
    return table.status();
  return std::make_unique<Device>(*table);
}

} // namespace k2rt
