#ifndef RUNTIME_PTXSIM_NUMERIC_ELEMENT_H
#define RUNTIME_PTXSIM_NUMERIC_ELEMENT_H

// Elements of tensor operands, one at a time.

#include "runtime/ptxsim/numeric/Fp8.h"
#include "runtime/ptxsim/numeric/Half.h"
#include "runtime/ptxsim/numeric/Mma.h"

#include <bit>
#include <cstring>

namespace ptxsim {

/// Element i of consecutive ones, as float or integer bits.
inline uint32_t widenElement(MmaElement type, const uint8_t *row, unsigned i) {
  auto at = [&](auto value, unsigned bytes) {
    std::memcpy(&value, row + i * bytes, bytes);
    return value;
  };
  switch (type) {
  case MmaElement::BF16:
    return uint32_t(at(uint16_t(), 2)) << 16;
  case MmaElement::F16:
    return std::bit_cast<uint32_t>(HalfF16::widen(at(uint16_t(), 2)));
  case MmaElement::TF32:
    return at(uint32_t(), 4) & 0xffffe000;
  case MmaElement::E4M3:
    return std::bit_cast<uint32_t>(widenFp8<Fp8E4M3>(row[i]));
  case MmaElement::E5M2:
    return std::bit_cast<uint32_t>(widenFp8<Fp8E5M2>(row[i]));
  case MmaElement::S8:
    return uint32_t(int32_t(int8_t(row[i])));
  case MmaElement::U8:
    return row[i];
  }
  return 0;
}

inline float floatElement(MmaElement type, const uint8_t *row, unsigned i) {
  return std::bit_cast<float>(widenElement(type, row, i));
}

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_NUMERIC_ELEMENT_H
