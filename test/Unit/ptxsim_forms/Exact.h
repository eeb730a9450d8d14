#ifndef TEST_UNIT_PTXSIM_FORMS_EXACT_H
#define TEST_UNIT_PTXSIM_FORMS_EXACT_H

// Floating point by exact arithmetic: a number is a natural number times a
// power of two, an operation has no error, and only `write` rounds, once, as
// the definition of a rounding mode says. Nothing here uses the host's
// floating point.

#include <cstdint>
#include <vector>

namespace ptxsim::forms::exact {

/// A natural number of any size, 32 bits a word, least significant first,
/// without leading zeros.
struct Natural {
  std::vector<uint32_t> words;

  Natural() = default;
  explicit Natural(uint64_t value);
  bool isZero() const { return words.empty(); }
  unsigned bits() const;
  bool bit(unsigned index) const;
  /// Its 64 lowest bits.
  uint64_t low() const;
};

Natural operator<<(const Natural &a, unsigned n);
Natural operator>>(const Natural &a, unsigned n);
Natural operator+(const Natural &a, const Natural &b);
/// a must not be less than b.
Natural operator-(const Natural &a, const Natural &b);
Natural operator*(const Natural &a, const Natural &b);
int compare(const Natural &a, const Natural &b);

struct Format {
  unsigned exponent, mantissa;
  /// e4m3 has no infinity, and one NaN.
  bool infinity = true;
  /// Bits below the mantissa that the format does not have (tf32).
  unsigned unused = 0;

  unsigned width() const { return 1 + exponent + mantissa + unused; }
  uint64_t sign() const { return uint64_t(1) << (width() - 1); }
  uint64_t largest() const;
  uint64_t smallestNormal() const { return uint64_t(1) << (mantissa + unused); }
  uint64_t infinite() const { return largest() + smallestUnit(); }
  uint64_t smallestUnit() const { return uint64_t(1) << unused; }
  /// What ptxas calls canonical: all ones behind the sign.
  uint64_t canonicalNaN() const { return sign() - 1; }
  uint64_t one() const;
  bool isNaN(uint64_t bits) const;
  /// Subnormal numbers become zeros of their sign.
  uint64_t flush(uint64_t bits) const;
};

inline constexpr Format f16{5, 10}, bf16{8, 7}, f32{8, 23}, f64{11, 52},
    tf32{8, 10, true, 13}, e5m2{5, 2}, e4m3{4, 3, false};

enum class Rounding { Nearest, Zero, Down, Up, NearestAway };

struct Number {
  enum Kind { Finite, Infinite, NaN } kind = Finite;
  bool negative = false;
  /// Finite: magnitude * 2^exponent, and a little more (less than
  /// 2^exponent) if `more` is set.
  Natural magnitude;
  int exponent = 0;
  bool more = false;

  bool isZero() const { return kind == Finite && magnitude.isZero(); }
};

Number read(Format format, uint64_t bits);
Number integer(int64_t value);
Number integer(uint64_t value);

/// `finite` makes of what is too large the largest finite number.
uint64_t write(Format format, const Number &number, Rounding rounding,
               bool finite = false);
/// To the nearest integer by the mode, of the same sign even if it is zero.
Number round(const Number &number, Rounding rounding);

Number negate(Number a);
/// The rounding decides the sign of a zero that comes of a difference.
Number add(const Number &a, const Number &b, Rounding rounding);
Number multiply(const Number &a, const Number &b);
Number divide(const Number &a, const Number &b);
Number squareRoot(const Number &a);
/// -1, 0, 1; not for NaN. Zeros are equal.
int compare(const Number &a, const Number &b);

} // namespace ptxsim::forms::exact

#endif // TEST_UNIT_PTXSIM_FORMS_EXACT_H
