#include "test/Unit/ptxsim_forms/AtomicReference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ptxsim::forms {

namespace {

uint64_t maskOf(unsigned bits) {
  return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

int64_t asSigned(uint64_t value, unsigned bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}

/// f16 has 5 bits of exponent and 10 of fraction, bf16 8 and 7.
unsigned fractionBits(const std::string &type) {
  return type == "f16" ? 10 : 7;
}
int lowestExponent(const std::string &type) {
  return type == "f16" ? -14 : -126;
}

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

} // namespace

double AtomicElement::decode(uint64_t value) const {
  if (type == "f64")
    return std::bit_cast<double>(value);
  if (type == "f32")
    return std::bit_cast<float>(uint32_t(value));
  const unsigned fraction = fractionBits(type);
  const uint64_t top = maskOf(15 - fraction);
  const uint64_t exponent = value >> fraction & top;
  const double part = double(value & maskOf(fraction));
  const double sign = value >> 15 & 1 ? -1.0 : 1.0;
  const int lowest = lowestExponent(type);
  if (exponent == top)
    return part ? std::numeric_limits<double>::quiet_NaN()
                : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(part, lowest - int(fraction));
  return sign * std::ldexp(part + std::ldexp(1.0, fraction),
                           int(exponent) - 1 + lowest - int(fraction));
}

uint64_t AtomicElement::encode(double value) const {
  if (type == "f64")
    return std::bit_cast<uint64_t>(value);
  if (type == "f32")
    return std::bit_cast<uint32_t>(float(value));
  const unsigned fraction = fractionBits(type);
  const int lowest = lowestExponent(type);
  const uint64_t top = maskOf(15 - fraction);
  const uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return 0x7fff;
  const double size = std::fabs(value);
  if (std::isinf(size))
    return sign | top << fraction;
  int exponent = lowest;
  if (size > 0)
    exponent = std::max(lowest, std::ilogb(size));
  // In units of the last place; nearbyint rounds ties to even.
  const double units =
      std::nearbyint(std::ldexp(size, int(fraction) - exponent));
  // Units of 2^(fraction + 1) carry into the exponent by themselves.
  const uint64_t bits =
      uint64_t(units) + (uint64_t(exponent - lowest) << fraction);
  return sign | std::min<uint64_t>(bits, top << fraction);
}

bool AtomicElement::isNan(uint64_t value) const {
  return floating() && std::isnan(decode(value));
}

uint64_t AtomicElement::apply(uint64_t old, uint64_t b, uint64_t c) const {
  const uint64_t mask = maskOf(bits);
  if (floating() && operation == "add") {
    if (type == "f64")
      return encode(decode(old) + decode(b));
    if (type == "f32") {
      const float x = float(decode(old)), y = float(decode(b));
      return encode(flush ? flushed(flushed(x) + flushed(y)) : x + y);
    }
    // Exact, or so near that rounding twice is rounding once (53 bits against
    // 8).
    return encode(decode(old) + decode(b));
  }
  const bool less = floating()       ? decode(b) < decode(old)
                    : type[0] == 's' ? asSigned(b, bits) < asSigned(old, bits)
                                     : b < old;
  if (operation == "min")
    return less ? b : old;
  if (operation == "max")
    return less ? old : b;
  if (operation == "add")
    return (old + b) & mask;
  if (operation == "and")
    return old & b;
  if (operation == "or")
    return old | b;
  if (operation == "xor")
    return old ^ b;
  if (operation == "exch")
    return b;
  if (operation == "inc")
    return old >= b ? 0 : old + 1;
  if (operation == "dec")
    return old == 0 || old > b ? b : old - 1;
  if (operation == "cas")
    return old == b ? c : old;
  return ~old; // no such operation: nothing agrees
}

std::vector<AtomicCase> atomicCases(const AtomicElement &element) {
  std::vector<uint64_t> values;
  std::vector<AtomicCase> cases;
  if (element.type == "f32") {
    cases = {{1, 1, 0},
             {0x00800000, 0x80800001, 0},
             {0x80000003, 0x80000004, 0},
             {0x80000003, 0, 0},
             {0, 0x80000003, 0},
             {0x3f800000, 0x33800000, 0}, // ties: 1 + 2^-24, to even
             {0x3f800001, 0x33800000, 0},
             {0x3f800000, 0x33800001, 0},
             {0x3f800000, 0xb3000000, 0},
             {0x80000000, 0x80000000, 0},
             {0, 0x80000000, 0},
             {0x3f800000, 0xbf800000, 0},
             {0x7f7fffff, 0x7f7fffff, 0},
             {0x7f800000, 0xff800000, 0}};
    values = {0x007fffff, 0x40490fdb, 0xc2c80000, 0x00800001,
              0x4b800000, 0x7f800000, 0x3f800001, 0x7fc00000};
  } else if (element.type == "f64") {
    cases = {{1, 1, 0},
             {0x3ff0000000000000, 0x3ca0000000000000, 0},
             {0x3ff0000000000001, 0x3ca0000000000000, 0},
             {0x3ff0000000000000, 0x3ca0000000000001, 0},
             {0x8000000000000000, 0x8000000000000000, 0},
             {0, 0x8000000000000000, 0},
             {0x7fefffffffffffff, 0x7fefffffffffffff, 0},
             {0x7ff0000000000000, 0xfff0000000000000, 0}};
    values = {0x000fffffffffffff, 0x400921fb54442d18, 0xc059000000000000,
              0x0010000000000001, 0x4340000000000000, 0x7ff0000000000000,
              0x3ff0000000000001, 0x7ff8000000000000};
  } else if (element.type == "f16") {
    cases = {{1, 1, 0},           {0x0400, 0x8401, 0}, {0x8003, 0x8004, 0},
             {0x3c00, 0x1000, 0}, {0x3c01, 0x1000, 0}, {0x3c00, 0x1001, 0},
             {0x8000, 0x8000, 0}, {0, 0x8000, 0},      {0x7bff, 0x7bff, 0},
             {0x7c00, 0xfc00, 0}};
    values = {0x03ff, 0x4248, 0xd640, 0x0401, 0x6800, 0x7c00, 0xbc01, 0x7e00};
  } else if (element.type == "bf16") {
    cases = {{1, 1, 0},           {0x0080, 0x8081, 0}, {0x8003, 0x8004, 0},
             {0x3f80, 0x3b80, 0}, {0x3f81, 0x3b80, 0}, {0x3f80, 0x3b81, 0},
             {0x8000, 0x8000, 0}, {0, 0x8000, 0},      {0x7f7f, 0x7f7f, 0},
             {0x7f80, 0xff80, 0}};
    values = {0x007f, 0x4049, 0xc2c8, 0x0081, 0x4b80, 0x7f80, 0xbf81, 0x7fc0};
  } else if (element.bits == 64) {
    values = {0,
              1,
              5,
              0x7fffffffffffffff,
              0x8000000000000000,
              ~uint64_t(0),
              0x1ffffffff,
              0x8000000080000001};
  } else if (element.bits == 16) {
    values = {0, 1, 5, 0x7fff, 0x8000, 0xffff, 0x00ff, 0xff00};
  } else {
    values = {0,          1,          5,          0x7fffffff,
              0x80000000, 0xffffffff, 0x0000ffff, 0x80000001};
  }
  for (uint64_t old : values)
    for (uint64_t b : values)
      cases.push_back({old, b, (old ^ b) + 7 & maskOf(element.bits)});
  // The ISA does not say which zero, or what of a NaN, min and max take.
  if (element.floating() && element.operation != "add")
    std::erase_if(cases, [&](const AtomicCase &c) {
      const double old = element.decode(c.old), b = element.decode(c.b);
      return std::isnan(old) || std::isnan(b) || (old == 0 && b == 0);
    });
  return cases;
}

Contention contention(const AtomicElement &element, bool ordered,
                      unsigned rotate) {
  Contention all{0, {}};
  const std::string &o = element.operation;
  const uint64_t mask = maskOf(element.bits);
  for (unsigned thread = 0; thread < 32; ++thread) {
    const unsigned t = (thread + rotate) % 32;
    AtomicCase c{0, 0, 0};
    if (element.floating() && o == "add") {
      // Rounded sums depend on the order, sums of small integers do not.
      all.first = element.encode(!ordered                ? 1
                                 : element.type == "f64" ? 1e15
                                 : element.type == "f32" ? 1e6
                                 : element.type == "f16" ? 100
                                                         : 10);
      c.b = element.encode(ordered ? 1 + t / 53.0 : t % 4);
    } else if (element.floating()) {
      all.first = element.encode(o == "min" ? 11.5 : -4);
      c.b = element.encode((int(t * 37 % 64) - 20) / 4.0);
    } else if (o == "add") {
      all.first = mask - 15;
      c.b = (1 + t * 0x0101010101010101) & mask;
    } else if (o == "min" || o == "max") {
      all.first = o == "min" ? mask >> 2 : mask - (mask >> 2);
      c.b = (t + 1) * 0x9e3779b97f4a7c15 >> (64 - element.bits);
    } else if (o == "inc" || o == "dec") {
      all.first = 3;
      c.b = 10;
    } else if (o == "exch") {
      all.first = 7;
      c.b = 100 + t;
    } else if (o == "cas") {
      c.b = t;
      c.c = t + 1;
    } else {
      const uint64_t bit = uint64_t(1) << t * (element.bits / 32);
      all.first = o == "and" ? mask : o == "xor" ? 0x5a5a5a5a : 0;
      c.b = o == "and" ? mask & ~bit : bit;
    }
    all.operands.push_back(c);
  }
  return all;
}

bool explains(const AtomicElement &element, const Contention &contention,
              std::vector<uint64_t> olds, uint64_t last) {
  // Operands are such that memory never gets a value again that it had, except
  // by operations that all threads do alike.
  std::vector<bool> done(olds.size());
  uint64_t now = contention.first;
  for (size_t left = olds.size(); left > 0; --left) {
    size_t next = olds.size();
    for (size_t i = 0; i < olds.size(); ++i) {
      if (done[i] || olds[i] != now)
        continue;
      const AtomicCase &c = contention.operands[i];
      next = i;
      if (element.apply(now, c.b, c.c) == now)
        break; // what changes nothing comes first
    }
    if (next == olds.size())
      return false;
    done[next] = true;
    now = element.apply(now, contention.operands[next].b,
                        contention.operands[next].c);
  }
  return now == last;
}

} // namespace ptxsim::forms
