#ifndef TEST_UNIT_PTXSIM_COUNT_MODELLED_H
#define TEST_UNIT_PTXSIM_COUNT_MODELLED_H

// What tests of modelled time have in common.

#include "runtime/ptxsim/model/Model.h"

#include <gtest/gtest.h>
#include <map>

namespace ptxsim {

inline const DeviceDescription &deviceNamed(const std::string &name) {
  static std::map<std::string, DeviceDescription> read;
  auto it = read.find(name);
  if (it == read.end())
    it = read.emplace(name, *DeviceDescription::read(
                                std::string(K2C_SOURCE_DIR) +
                                "/runtime/ptxsim/devices/" + name + ".json"))
             .first;
  return it->second;
}
inline const DeviceDescription &h200() { return deviceNamed("h200"); }
inline const DeviceDescription &h800() { return deviceNamed("h800"); }

/// Seconds of a term of the formula.
inline double term(const ModelledTime &t, const std::string &name) {
  for (const Term &term : t.terms)
    if (term.name == name)
      return term.seconds;
  ADD_FAILURE() << "no term " << name;
  return -1;
}

} // namespace ptxsim

#endif // TEST_UNIT_PTXSIM_COUNT_MODELLED_H
