#include "test/Unit/ptxsim_forms/Exact.h"

#include <algorithm>
#include <bit>

namespace ptxsim::forms::exact {

namespace {

void trim(Natural &a) {
  while (!a.words.empty() && a.words.back() == 0)
    a.words.pop_back();
}

/// Enough bits of a quotient or a root for any format here, and then some: what
/// lies behind them is only `more`.
constexpr unsigned quotientBits = 130;

Number notANumber() {
  Number n;
  n.kind = Number::NaN;
  return n;
}

Number infinite(bool negative) {
  Number n;
  n.kind = Number::Infinite;
  n.negative = negative;
  return n;
}

bool roundsUp(Rounding rounding, bool negative, bool odd, bool half,
              bool rest) {
  switch (rounding) {
  case Rounding::Nearest:
    return half && (rest || odd);
  case Rounding::NearestAway:
    return half;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return negative && (half || rest);
  case Rounding::Up:
    return !negative && (half || rest);
  }
  return false;
}

/// magnitude / 2^shift, rounded.
Natural shifted(const Number &n, int shift, Rounding rounding) {
  if (shift <= 0)
    return n.magnitude << unsigned(-shift);
  Natural q = n.magnitude >> unsigned(shift);
  const bool half = n.magnitude.bit(shift - 1);
  bool rest = n.more;
  for (int i = 0; i + 1 < shift && !rest; ++i)
    rest = n.magnitude.bit(i);
  if (roundsUp(rounding, n.negative, q.bit(0), half, rest))
    q = q + Natural(1);
  return q;
}

} // namespace

Natural::Natural(uint64_t value)
    : words{uint32_t(value), uint32_t(value >> 32)} {
  trim(*this);
}

unsigned Natural::bits() const {
  return words.empty() ? 0
                       : unsigned(words.size()) * 32 -
                             unsigned(std::countl_zero(words.back()));
}

bool Natural::bit(unsigned index) const {
  return index / 32 < words.size() && (words[index / 32] >> index % 32 & 1);
}

uint64_t Natural::low() const {
  uint64_t value = words.empty() ? 0 : words[0];
  if (words.size() > 1)
    value |= uint64_t(words[1]) << 32;
  return value;
}

Natural operator<<(const Natural &a, unsigned n) {
  Natural r;
  r.words.resize(a.words.size() + n / 32 + 1);
  for (size_t i = 0; i < a.words.size(); ++i) {
    const uint64_t wide = uint64_t(a.words[i]) << n % 32;
    r.words[i + n / 32] |= uint32_t(wide);
    r.words[i + n / 32 + 1] |= uint32_t(wide >> 32);
  }
  trim(r);
  return r;
}

Natural operator>>(const Natural &a, unsigned n) {
  Natural r;
  for (size_t i = n / 32; i < a.words.size(); ++i) {
    uint64_t wide = a.words[i];
    if (i + 1 < a.words.size())
      wide |= uint64_t(a.words[i + 1]) << 32;
    r.words.push_back(uint32_t(wide >> n % 32));
  }
  trim(r);
  return r;
}

Natural operator+(const Natural &a, const Natural &b) {
  Natural r;
  uint64_t carry = 0;
  for (size_t i = 0; i < std::max(a.words.size(), b.words.size()) || carry;
       ++i) {
    carry += i < a.words.size() ? a.words[i] : 0;
    carry += i < b.words.size() ? b.words[i] : 0;
    r.words.push_back(uint32_t(carry));
    carry >>= 32;
  }
  return r;
}

Natural operator-(const Natural &a, const Natural &b) {
  Natural r;
  int64_t borrow = 0;
  for (size_t i = 0; i < a.words.size(); ++i) {
    borrow += int64_t(a.words[i]) - (i < b.words.size() ? b.words[i] : 0);
    r.words.push_back(uint32_t(borrow));
    borrow >>= 32;
  }
  trim(r);
  return r;
}

Natural operator*(const Natural &a, const Natural &b) {
  Natural r;
  r.words.resize(a.words.size() + b.words.size() + 1);
  for (size_t i = 0; i < a.words.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.words.size() || carry; ++j) {
      carry += r.words[i + j];
      if (j < b.words.size())
        carry += uint64_t(a.words[i]) * b.words[j];
      r.words[i + j] = uint32_t(carry);
      carry >>= 32;
    }
  }
  trim(r);
  return r;
}

int compare(const Natural &a, const Natural &b) {
  if (a.words.size() != b.words.size())
    return a.words.size() < b.words.size() ? -1 : 1;
  for (size_t i = a.words.size(); i-- > 0;)
    if (a.words[i] != b.words[i])
      return a.words[i] < b.words[i] ? -1 : 1;
  return 0;
}

uint64_t Format::largest() const {
  // e4m3's largest is 0x7e: the code before its NaN.
  if (!infinity)
    return canonicalNaN() - 1;
  return (((uint64_t(1) << exponent) - 1) << (mantissa + unused)) -
         smallestUnit();
}

uint64_t Format::one() const {
  return ((uint64_t(1) << (exponent - 1)) - 1) << (mantissa + unused);
}

bool Format::isNaN(uint64_t bits) const {
  return (bits & (sign() - 1)) > (infinity ? infinite() : largest());
}

uint64_t Format::flush(uint64_t bits) const {
  return (bits & (sign() - 1)) < smallestNormal() ? bits & sign() : bits;
}

Number read(Format format, uint64_t bits) {
  bits &= format.sign() | (format.sign() - 1);
  Number n;
  n.negative = bits & format.sign();
  bits &= format.sign() - 1;
  if (format.isNaN(bits)) {
    n.kind = Number::NaN;
    return n;
  }
  if (format.infinity && bits == format.infinite()) {
    n.kind = Number::Infinite;
    return n;
  }
  bits >>= format.unused;
  const uint64_t hidden = uint64_t(1) << format.mantissa;
  const int field = int(bits >> format.mantissa);
  const int bias = (1 << (format.exponent - 1)) - 1;
  n.magnitude = Natural((bits & (hidden - 1)) | (field ? hidden : 0));
  n.exponent = std::max(field, 1) - bias - int(format.mantissa);
  return n;
}

Number integer(uint64_t value) {
  Number n;
  n.magnitude = Natural(value);
  return n;
}

Number integer(int64_t value) {
  Number n = integer(value < 0 ? 0 - uint64_t(value) : uint64_t(value));
  n.negative = value < 0;
  return n;
}

uint64_t write(Format format, const Number &number, Rounding rounding,
               bool finite) {
  if (number.kind == Number::NaN)
    return format.canonicalNaN();
  const uint64_t sign = number.negative ? format.sign() : 0;
  if (number.isZero())
    return sign;
  const uint64_t most =
      finite || !format.infinity ? format.largest() : format.infinite();
  if (number.kind == Number::Infinite)
    return sign | most;
  const bool away = rounding == Rounding::Nearest ||
                    rounding == Rounding::NearestAway ||
                    (rounding == Rounding::Down && number.negative) ||
                    (rounding == Rounding::Up && !number.negative);
  const uint64_t tooLarge = sign | (away ? most : format.largest());
  const int bias = (1 << (format.exponent - 1)) - 1;
  const int leading = int(number.magnitude.bits()) - 1 + number.exponent;
  if (leading > bias + 2)
    return tooLarge;
  // The exponent of the last bit that the format has at this size.
  const int least = 1 - bias - int(format.mantissa);
  const int unit = std::max(leading - int(format.mantissa), least);
  const uint64_t rounded =
      shifted(number, unit - number.exponent, rounding).low();
  // A carry out of the mantissa increments the exponent by itself.
  const uint64_t bits = ((uint64_t(unit - least) << format.mantissa) + rounded)
                        << format.unused;
  return bits > format.largest() ? tooLarge : sign | bits;
}

Number round(const Number &number, Rounding rounding) {
  if (number.kind != Number::Finite || number.exponent >= 0)
    return number;
  Number n = number;
  n.magnitude = shifted(number, -number.exponent, rounding);
  n.exponent = 0;
  n.more = false;
  return n;
}

Number negate(Number a) {
  a.negative = !a.negative;
  return a;
}

Number add(const Number &a, const Number &b, Rounding rounding) {
  if (a.kind == Number::NaN || b.kind == Number::NaN)
    return notANumber();
  if (a.kind == Number::Infinite || b.kind == Number::Infinite) {
    if (a.kind == b.kind && a.negative != b.negative)
      return notANumber();
    return a.kind == Number::Infinite ? a : b;
  }
  Number sum;
  sum.exponent = std::min(a.exponent, b.exponent);
  const Natural x = a.magnitude << unsigned(a.exponent - sum.exponent);
  const Natural y = b.magnitude << unsigned(b.exponent - sum.exponent);
  if (a.negative == b.negative) {
    sum.negative = a.negative;
    sum.magnitude = x + y;
    return sum;
  }
  const int order = compare(x, y);
  if (order == 0) {
    sum.negative = rounding == Rounding::Down;
    return sum;
  }
  sum.negative = order > 0 ? a.negative : b.negative;
  sum.magnitude = order > 0 ? x - y : y - x;
  return sum;
}

Number multiply(const Number &a, const Number &b) {
  if (a.kind == Number::NaN || b.kind == Number::NaN)
    return notANumber();
  const bool negative = a.negative != b.negative;
  if (a.kind == Number::Infinite || b.kind == Number::Infinite)
    return a.isZero() || b.isZero() ? notANumber() : infinite(negative);
  Number product;
  product.negative = negative;
  product.magnitude = a.magnitude * b.magnitude;
  product.exponent = a.exponent + b.exponent;
  return product;
}

Number divide(const Number &a, const Number &b) {
  if (a.kind == Number::NaN || b.kind == Number::NaN)
    return notANumber();
  const bool negative = a.negative != b.negative;
  if (a.kind == Number::Infinite)
    return b.kind == Number::Infinite ? notANumber() : infinite(negative);
  Number quotient;
  quotient.negative = negative;
  if (b.kind == Number::Infinite)
    return quotient;
  if (b.isZero())
    return a.isZero() ? notANumber() : infinite(negative);
  const unsigned shift = quotientBits + b.magnitude.bits();
  const Natural dividend = a.magnitude << shift;
  Natural rest;
  for (unsigned i = dividend.bits(); i-- > 0;) {
    rest = (rest << 1) + Natural(dividend.bit(i));
    quotient.magnitude = quotient.magnitude << 1;
    if (compare(rest, b.magnitude) >= 0) {
      rest = rest - b.magnitude;
      quotient.magnitude = quotient.magnitude + Natural(1);
    }
  }
  quotient.more = !rest.isZero();
  quotient.exponent = a.exponent - b.exponent - int(shift);
  return quotient;
}

Number squareRoot(const Number &a) {
  if (a.kind == Number::NaN || (a.negative && !a.isZero()))
    return notANumber();
  if (a.kind == Number::Infinite || a.isZero())
    return a;
  unsigned shift = 2 * quotientBits;
  if ((a.exponent - int(shift)) % 2 != 0)
    ++shift;
  const Natural square = a.magnitude << shift;
  Number root;
  for (unsigned i = (square.bits() + 1) / 2; i-- > 0;) {
    const Natural larger = root.magnitude + (Natural(1) << i);
    if (compare(larger * larger, square) <= 0)
      root.magnitude = larger;
  }
  root.more = compare(root.magnitude * root.magnitude, square) != 0;
  root.exponent = (a.exponent - int(shift)) / 2;
  return root;
}

int compare(const Number &a, const Number &b) {
  if (a.isZero() && b.isZero())
    return 0;
  const Number difference = add(a, negate(b), Rounding::Nearest);
  if (difference.kind == Number::NaN || difference.isZero())
    return 0; // equal infinities
  return difference.negative ? -1 : 1;
}

} // namespace ptxsim::forms::exact
