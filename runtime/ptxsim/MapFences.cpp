#include "runtime/ptxsim/MapFences.h"
#include "runtime/ptxsim/Cta.h"

#include <fmt/format.h>

using namespace ptxsim;

void MapFences::made(const Warp &w, const Op &op, uint64_t address,
                     bool isReleased) {
  if (w.cta->launch.options.checks.proxyFence)
    maps[address] = {&op, isReleased, 0};
}

void MapFences::acquire(const Warp &w, uint64_t address) {
  if (auto it = maps.find(address); it != maps.end())
    it->second.acquired |= 1u << w.cta->rank;
}

void MapFences::check(Warp &w, const Op &op, unsigned lane,
                      uint64_t address) const {
  const auto it = maps.find(address);
  if (it == maps.end())
    return;
  const Map &map = it->second;
  if (map.isReleased && map.acquired >> w.cta->rank & 1)
    return;
  w.fault(op, lane,
          fmt::format("the tensor map at address {:#x} was written by line {}, "
                      "but no fence.proxy.tensormap::generic.{} has followed",
                      address, w.function->infos[w.indexOf(*map.by)].line,
                      map.isReleased ? "acquire of it" : "release"),
          {{"the map is written here", map.by}});
}
