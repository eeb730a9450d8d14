#ifndef TEST_UNIT_PTXSIM_TENSOR_FRAGMENTS_H
#define TEST_UNIT_PTXSIM_TENSOR_FRAGMENTS_H

// Where the PTX ISA ("Matrix Fragments for mma.m16n8kN") puts the elements of
// A, B, C and D: written down from its tables, element by element, for the
// tests only. lane = 4 * group + thread.

#include <cstdint>

namespace fragments {

struct Place {
  unsigned row, column;
};

/// Element i of A: m16n8k16 of 16 bits (a0..a7), m16n8k8 of 16 bits (a0..a3).
inline Place a16(unsigned lane, unsigned i) {
  unsigned group = lane / 4, thread = lane % 4;
  bool lower = i == 2 || i == 3 || i == 6 || i == 7;
  return {lower ? group + 8 : group, thread * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
/// Element i of B: m16n8k16 (b0..b3), m16n8k8 (b0, b1); row is k.
inline Place b16(unsigned lane, unsigned i) {
  return {lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane / 4};
}

/// m16n8k32 (a0..a15) and m16n8k16 (a0..a7) of 8 bits.
inline Place a8(unsigned lane, unsigned i) {
  unsigned group = lane / 4, thread = lane % 4;
  bool upper = i < 4 || (i >= 8 && i < 12);
  return {upper ? group : group + 8, thread * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
inline Place b8(unsigned lane, unsigned i) {
  return {lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0), lane / 4};
}

/// tf32: m16n8k8 (a0..a3; b0, b1), m16n8k4 (a0, a1; b0).
inline Place a32(unsigned lane, unsigned i) {
  unsigned group = lane / 4, thread = lane % 4;
  return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
}
inline Place b32(unsigned lane, unsigned i) {
  return {i == 0 ? lane % 4 : lane % 4 + 4, lane / 4};
}

/// C and D of every m16n8kN (c0..c3).
inline Place c(unsigned lane, unsigned i) {
  unsigned group = lane / 4, thread = lane % 4;
  return {i < 2 ? group : group + 8, thread * 2 + (i & 1)};
}

} // namespace fragments

#endif // TEST_UNIT_PTXSIM_TENSOR_FRAGMENTS_H
