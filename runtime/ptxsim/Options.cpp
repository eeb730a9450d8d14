// Options as text, for command lines and environment variables.

#include "runtime/ptxsim/ptxsim.h"

#include <charconv>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

struct Switch {
  std::string_view name;
  bool Checks::*check;
};
constexpr Switch switches[] = {
    {"bounds", &Checks::bounds},
    {"alignment", &Checks::alignment},
    {"uninitialised-shared", &Checks::uninitialisedShared},
    {"uninitialised-global", &Checks::uninitialisedGlobal},
    {"undefined-registers", &Checks::undefinedRegisters},
    {"shared-races", &Checks::sharedRaces},
    {"global-races", &Checks::globalRaces},
    {"async-hazards", &Checks::asyncHazards},
    {"exit-pending", &Checks::exitPending},
    {"wgmma-hazards", &Checks::wgmmaHazards},
    {"divergence", &Checks::divergence},
    {"barriers", &Checks::barriers},
    {"proxy-fence", &Checks::proxyFence},
    {"warpgroup-order", &Checks::warpgroupOrder},
    {"limits", &Checks::limits},
    {"setmaxnreg", &Checks::setmaxnreg},
    {"mbarrier-phases", &Checks::mbarrierPhases},
    {"mbarrier-init-fence", &Checks::mbarrierInitFence},
    {"unmatched-arrivals", &Checks::unmatchedArrivals},
};

/// Digits only, and all of the text.
bool readNumber(std::string_view text, uint64_t &number) {
  const char *begin = text.data(), *end = begin + text.size();
  auto [p, code] = std::from_chars(begin, end, number);
  return code == std::errc() && p == end;
}

/// random:SEED
bool readRandom(std::string_view text, uint64_t &seed) {
  const std::string_view random = "random:";
  return text.starts_with(random) &&
         readNumber(text.substr(random.size()), seed);
}

} // namespace

Status ptxsim::readSchedule(std::string_view text, DeviceOptions &options) {
  if (text == "rr") {
    options.schedule = Schedule::RoundRobin;
    return {};
  }
  if (text == "reverse") {
    options.schedule = Schedule::Reverse;
    return {};
  }
  if (text == "greedy") {
    options.schedule = Schedule::Greedy;
    return {};
  }
  if (readRandom(text, options.seed)) {
    options.schedule = Schedule::Random;
    return {};
  }
  return Status::error(fmt::format(
      "schedule: expected rr, reverse, random:SEED or greedy, but got '{}'",
      text));
}

Status ptxsim::readAsync(std::string_view text, DeviceOptions &options) {
  if (text == "eager" || text == "lazy") {
    options.async = text == "lazy" ? Async::Lazy : Async::Eager;
    return {};
  }
  if (readRandom(text, options.asyncSeed)) {
    options.async = Async::Random;
    return {};
  }
  return Status::error(fmt::format(
      "async: expected eager, lazy or random:SEED, but got '{}'", text));
}

Status ptxsim::readNumerics(std::string_view text, DeviceOptions &options) {
  if (text == "exact32")
    options.numerics = Numerics::Exact32;
  else if (text == "h100")
    options.numerics = Numerics::H100;
  else if (text == "a100")
    options.numerics = Numerics::A100;
  else
    return Status::error(
        fmt::format("tc: expected exact32, h100 or a100, but got '{}'", text));
  return {};
}

Status ptxsim::readOptions(std::string_view text, DeviceOptions &options) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals),
                           value = equals == item.npos
                                       ? std::string_view()
                                       : item.substr(equals + 1);
    if (name == "schedule") {
      if (Status s = readSchedule(value, options); !s)
        return s;
      continue;
    }
    if (name == "async") {
      if (Status s = readAsync(value, options); !s)
        return s;
      continue;
    }
    if (name == "limit") {
      if (!readNumber(value, options.instructionLimit))
        return Status::error(
            fmt::format("limit: expected a number of warp instructions of a "
                        "CTA, or 0 for none, but got '{}'",
                        value));
      continue;
    }
    if (name == "mode") {
      if (value != "full" && value != "counters")
        return Status::error(fmt::format(
            "mode: expected full or counters, but got '{}'", value));
      options.skipTensor = value == "counters";
      continue;
    }
    if (name == "sample") {
      if (!readNumber(value, options.sampleCtas) || !options.sampleCtas)
        return Status::error(fmt::format(
            "sample: expected a number of CTAs from 1, but got '{}'", value));
      continue;
    }
    if (name == "tc") {
      if (Status s = readNumerics(value, options); !s)
        return s;
      continue;
    }
    const Switch *found = nullptr;
    for (const Switch &s : switches)
      if (s.name == name)
        found = &s;
    if (!found)
      return Status::error(fmt::format(
          "expected schedule, async, tc, limit, mode, sample or the "
          "name of a check, but got '{}'",
          name));
    if (value != "on" && value != "off")
      return Status::error(
          fmt::format("{}: expected on or off, but got '{}'", name, value));
    options.checks.*(found->check) = value == "on";
  }
  return {};
}

Status ptxsim::readChecks(std::string_view text, DeviceOptions &options) {
  const auto setAll = [&](bool on) {
    for (const Switch &s : switches)
      options.checks.*(s.check) = on;
  };
  bool only = false; // a name alone switches off what is not named
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (item == "all" || item == "none") {
      setAll(item == "all");
      continue;
    }
    const size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals),
                           value = equals == item.npos
                                       ? "on"
                                       : item.substr(equals + 1);
    const Switch *found = nullptr;
    std::string names;
    for (const Switch &s : switches) {
      names += std::string(names.empty() ? "" : ", ") + std::string(s.name);
      if (s.name == name)
        found = &s;
    }
    if (!found)
      return Status::error(fmt::format(
          "expected all, none or names of {}, but got '{}'", names, item));
    if (value != "on" && value != "off")
      return Status::error(
          fmt::format("{}: expected on or off, but got '{}'", name, value));
    if (equals == item.npos && !only)
      setAll(false), only = true;
    options.checks.*(found->check) = value == "on";
  }
  return {};
}

std::vector<std::pair<std::string_view, bool>>
ptxsim::checkNames(const Checks &checks) {
  std::vector<std::pair<std::string_view, bool>> names;
  for (const Switch &s : switches)
    names.emplace_back(s.name, checks.*(s.check));
  return names;
}
