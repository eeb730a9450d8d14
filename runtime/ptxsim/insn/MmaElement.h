#ifndef RUNTIME_PTXSIM_INSN_MMAELEMENT_H
#define RUNTIME_PTXSIM_INSN_MMAELEMENT_H

// The element types that mma and wgmma share.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/numeric/Mma.h"

#include <optional>

namespace ptxsim {

/// The element of a tensor operand that a PTX type names; none for others.
inline std::optional<MmaElement> elementOf(Type type) {
  switch (type) {
  case Type::F16:
    return MmaElement::F16;
  case Type::BF16:
    return MmaElement::BF16;
  case Type::TF32:
    return MmaElement::TF32;
  case Type::E4M3:
    return MmaElement::E4M3;
  case Type::E5M2:
    return MmaElement::E5M2;
  case Type::S8:
    return MmaElement::S8;
  case Type::U8:
    return MmaElement::U8;
  default:
    return std::nullopt;
  }
}

/// Takes .row.col, in this order.
inline bool takeRowColumn(Decoder &d) {
  for (std::string_view name : d.rest())
    if (name == "row" || name == "col")
      return name == "row" && d.take("row") && d.take("col");
  return false;
}

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_INSN_MMAELEMENT_H
