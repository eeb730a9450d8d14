#ifndef RUNTIME_PTXSIM_INSN_MATRIXDESCRIPTOR_H
#define RUNTIME_PTXSIM_INSN_MATRIXDESCRIPTOR_H

#include "runtime/ptxsim/Warp.h"

#include <fmt/format.h>

namespace ptxsim {

/// A matrix descriptor taken apart. Offsets in bytes.
struct MatrixDescriptor {
  uint32_t start, leading, stride, swizzle; ///< swizzle: log2 of units of 16 B
  /// Lines of 128 bytes by which the swizzle's pattern begins behind an address
  /// at which it would begin without.
  uint32_t base;

  MatrixDescriptor(Warp &w, const Op &op, uint64_t bits) {
    constexpr uint64_t known =
        0x3fffull | 0x3fffull << 16 | 0x3fffull << 32 | 7ull << 49 | 3ull << 62;
    auto refuse = [&](const char *what) {
      w.fault(
          op, 0,
          fmt::format("illegal matrix descriptor {:#018x}: {}", bits, what));
    };
    if (bits & ~known)
      refuse("expected zeros in bits 14-15, 30-31, 46-48 and 52-61");
    start = uint32_t(bits & 0x3fff) << 4;
    leading = uint32_t(bits >> 16 & 0x3fff) << 4;
    stride = uint32_t(bits >> 32 & 0x3fff) << 4;
    constexpr uint32_t spans[] = {0, 3, 2, 1};
    swizzle = spans[bits >> 62];
    base = uint32_t(bits >> 49 & 7);
    if (base && !swizzle)
      refuse("expected a base offset of 0 without a swizzle");
  }
  uint32_t swizzled(uint32_t address) const {
    return address ^ (((address >> 7) - base) & ((1u << swizzle) - 1)) << 4;
  }
  /// Where rows [first, first + rows) begin and end.
  std::pair<uint32_t, uint32_t> bounds(bool transposed, uint32_t first,
                                       uint32_t rows) const {
    const uint32_t units = 1u << swizzle, group = first / 8, n = rows / 8;
    // Eight rows of a swizzle, in lines of 128 bytes.
    const uint32_t atom = 128 * units + (swizzle == 3 ? 0 : 128);
    if (!swizzle) {
      const uint32_t low = start + group * stride;
      return {low, low + (n - 1) * stride + 128 + leading};
    }
    if (!transposed) {
      const uint32_t low = (start + group * stride) & ~127u;
      return {low, low + (n - 1) * stride + atom};
    }
    const uint32_t low = (start + group / units * leading) & ~127u,
                   more = (group % units + n - 1) / units;
    return {low, low + more * leading + stride + atom};
  }
  /// The 16 bytes of row r at k-unit c (of two), K-major.
  uint32_t rowUnit(uint32_t r, uint32_t c) const {
    const uint32_t at = swizzle
                            ? r % 8 * (16u << swizzle) + r / 8 * stride + c * 16
                            : r % 8 * 16 + r / 8 * stride + c * leading;
    return swizzled(start + at);
  }
  /// The 16 bytes of eight rows 8u .. 8u+7 at k, MN-major (16-bit types).
  uint32_t columnUnit(uint32_t u, uint32_t k) const {
    const uint32_t units = 1u << swizzle;
    const uint32_t at = swizzle ? u % units * 16 + u / units * leading +
                                      k % 8 * (16 * units) + k / 8 * stride
                                : u * stride + k % 8 * 16 + k / 8 * leading;
    return swizzled(start + at);
  }
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_INSN_MATRIXDESCRIPTOR_H
