#include "runtime/ptxsim/model/Chain.h"

#include <algorithm>

using namespace ptxsim;

namespace {
void addTo(std::optional<double> &sum, std::optional<double> value) {
  sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
}
} // namespace

void Chain::add(const ModelledTime &time) {
  ++launches;
  kernels += time.kernel;
  const std::optional<double> gap = time.gap();
  addTo(chain, gap ? std::optional(time.kernel + *gap) : std::nullopt);
  addTo(host, time.hostCost);
}

std::optional<double> Chain::stream() const {
  return chain && host ? std::optional(std::max(*chain, *host)) : std::nullopt;
}
