// cvt: a source is a number, exactly; the conversion rounds it once to what the
// destination has, flushes and clamps. The forms are those of cvt_forms.txt,
// their meaning is the ISA's.

#include "test/Unit/ptxsim_forms/Convert.h"

#include <fstream>
#include <map>
#include <sstream>

using namespace ptxsim::forms;
using exact::Number;
using exact::Rounding;

namespace {

constexpr ConvertType types[] = {{"u8", 8, 'u'},
                                 {"u16", 16, 'u'},
                                 {"u32", 32, 'u'},
                                 {"u64", 64, 'u'},
                                 {"s8", 8, 's'},
                                 {"s16", 16, 's'},
                                 {"s32", 32, 's'},
                                 {"s64", 64, 's'},
                                 {"f16", 16, 'f', exact::f16},
                                 {"bf16", 16, 'f', exact::bf16},
                                 {"f32", 32, 'f', exact::f32},
                                 {"f64", 64, 'f', exact::f64},
                                 {"tf32", 32, 'f', exact::tf32},
                                 {"f16x2", 16, 'f', exact::f16, 2},
                                 {"bf16x2", 16, 'f', exact::bf16, 2},
                                 {"e4m3x2", 8, 'f', exact::e4m3, 2},
                                 {"e5m2x2", 8, 'f', exact::e5m2, 2}};

const std::map<std::string, Rounding> roundings = {
    {"rn", Rounding::Nearest},     {"rz", Rounding::Zero},
    {"rm", Rounding::Down},        {"rp", Rounding::Up},
    {"rni", Rounding::Nearest},    {"rzi", Rounding::Zero},
    {"rmi", Rounding::Down},       {"rpi", Rounding::Up},
    {"rna", Rounding::NearestAway}};

const ConvertType &typeNamed(const std::string &name) {
  for (const ConvertType &type : types)
    if (type.name == name)
      return type;
  throw std::invalid_argument("cvt of an unknown type " + name);
}

Number valueOf(const ConvertType &type, uint64_t bits) {
  if (type.isFloat())
    return exact::read(type.format, bits);
  if (type.kind == 's')
    return exact::integer(extended(bits, type.width));
  return exact::integer(bits & ones(type.width));
}

/// The low bits of an integer, with the type's sign.
uint64_t low(const ConvertType &type, uint64_t value) {
  return type.kind == 's' ? uint64_t(extended(value, type.width))
                          : value & ones(type.width);
}

/// The nearest to an integral number that the integer type has.
uint64_t clamped(const ConvertType &type, const Number &n) {
  const bool isSigned = type.kind == 's';
  const uint64_t most = isSigned ? ones(type.width) >> 1 : ones(type.width);
  const uint64_t limit = !n.negative ? most : isSigned ? most + 1 : 0;
  uint64_t magnitude = limit;
  if (n.kind == Number::Finite) {
    const exact::Natural whole = n.magnitude << unsigned(n.exponent);
    if (whole.bits() <= 64 && whole.low() < limit)
      magnitude = whole.low();
  }
  return n.negative ? 0 - magnitude : magnitude;
}

/// Does every value of the integer type `from` exist in `to`?
bool holdsAll(const ConvertType &to, const ConvertType &from) {
  const unsigned bits = from.width - (from.kind == 's');
  if (to.isFloat())
    return bits <= to.format.mantissa + 1;
  return (to.kind == 's' || from.kind == 'u') &&
         bits <= to.width - (to.kind == 's');
}

} // namespace

uint64_t Conversion::operator()(uint64_t a) const {
  if (ftz && from.isF32())
    a = from.format.flush(a);
  const Number n = valueOf(from, a);
  if (!to.isFloat()) {
    if (!from.isFloat() && !sat)
      return low(to, n.negative ? 0 - n.magnitude.low() : n.magnitude.low());
    if (n.kind == Number::NaN)
      return from.width < 64 && to.width < 64
                 ? 0
                 : low(to, uint64_t(1) << (to.width - 1));
    return clamped(to, round(n, rounding));
  }
  const exact::Format f = to.format;
  uint64_t d =
      exact::write(f, integral ? round(n, rounding) : n, rounding, satfinite);
  if (ftz && to.isF32())
    d = f.flush(d);
  if (sat)
    return f.isNaN(d) || d & f.sign() ? 0 : std::min(d, f.one());
  return relu && d & f.sign() ? 0 : d;
}

unsigned Conversion::registerWidth() const {
  // An integer result is extended to a wider register: give it one.
  return to.isFloat() ? to.width * to.lanes : std::max(to.width, 32u);
}

std::string Conversion::meaning() const {
  Rounding r = rounding;
  bool flush = ftz && (from.isF32() || (to.isF32() && from.isFloat() &&
                                        from.format.exponent >= 8));
  std::string target = to.name, source = from.name;
  bool clamp = sat;
  if (!to.isFloat() && !from.isFloat()) {
    const unsigned width = registerWidth();
    if (sat)
      // To a type that lacks only the negative values: any width is the same.
      return from.kind == 's' && to.kind == 'u' && to.width + 1 >= from.width
                 ? "max(0," + source
                 : "clamp" + target + source;
    if (to.width <= from.width)
      return to.width >= width ? "low" : "low " + target;
    return to.width >= width || holdsAll(to, from) ? "low " + source
                                                   : target + source;
  }
  if (!from.isFloat()) {
    if (sat)
      r = Rounding::Zero; // 0 or 1, exactly
    if (holdsAll(to, from) || (from.kind == 'u' && r == Rounding::Down))
      r = Rounding::Zero;
  } else if (!to.isFloat()) {
    clamp = false; // always
    if (to.kind == 'u' && r == Rounding::Down)
      r = Rounding::Zero;
  } else if (!integral && from.format.mantissa <= to.format.mantissa &&
             from.format.exponent <= to.format.exponent) {
    r = Rounding::Zero;
  }
  if (clamp && r == Rounding::Down)
    r = Rounding::Zero;
  // Where a subnormal number is as good as zero.
  if ((r == Rounding::Zero || r == Rounding::Nearest) && from.isF32() &&
      (!to.isFloat() || integral || to.format.exponent < 8))
    flush = false;
  return std::to_string(int(r)) + (integral ? "i" : "") +
         (flush ? ".ftz" : "") + (clamp ? ".sat" : "") +
         (satfinite ? ".satfinite" : "") + (relu ? ".relu" : "") + "." +
         target + "." + source;
}

Conversion ptxsim::forms::conversion(const std::string &name) {
  std::vector<std::string> parts;
  std::istringstream in(name);
  for (std::string part; std::getline(in, part, '.');)
    parts.push_back(part);
  if (parts.size() < 3)
    throw std::invalid_argument("not a form of cvt: " + name);
  Conversion c;
  c.name = name;
  c.from = typeNamed(parts.back());
  c.to = typeNamed(parts[parts.size() - 2]);
  for (size_t i = 1; i + 2 < parts.size(); ++i) {
    const std::string &part = parts[i];
    if (const auto at = roundings.find(part); at != roundings.end()) {
      c.rounding = at->second;
      c.integral = part.ends_with("i") && c.to.isFloat();
      continue;
    }
    bool *flag = part == "ftz"         ? &c.ftz
                 : part == "sat"       ? &c.sat
                 : part == "satfinite" ? &c.satfinite
                 : part == "relu"      ? &c.relu
                                       : nullptr;
    if (!flag)
      throw std::invalid_argument("unknown modifier " + part + " of " + name);
    *flag = true;
  }
  return c;
}

const Operands &ptxsim::forms::convertOperands(const ConvertType &type) {
  static std::map<std::string, Operands> lists;
  if (!type.isFloat() && type.width > 8)
    return integers(type.width);
  Operands &list = lists[type.isFloat() ? type.name : "bytes"];
  if (!list.empty())
    return list;
  if (type.width == 8) {
    // What is above 8 bits in the register does not count.
    for (uint64_t a = 0; a < 256; ++a)
      list.push_back({a | (a * 0x5700 & 0xff00), 0, 0});
    return list;
  }
  list = floats(type.format);
  const auto near = [&](const Number &n, unsigned around) {
    const uint64_t bits = exact::write(type.format, n, Rounding::Zero);
    for (uint64_t d = 0; d <= 2 * around; ++d)
      for (uint64_t sign : {uint64_t(0), type.format.sign()})
        if (bits + d >= around)
          list.push_back({(bits + d - around) | sign, 0, 0});
  };
  const auto scaled = [](uint64_t value, int exponent) {
    Number n = exact::integer(value);
    n.exponent = exponent;
    return n;
  };
  for (uint64_t odd = 1; odd < 12; odd += 2)
    near(scaled(odd, -1), 1);
  for (const int bits : {7, 8, 15, 16, 31, 32, 63, 64})
    near(scaled(1, bits), 2);
  for (const ConvertType &other : types) {
    if (!other.isFloat() || other.format.mantissa >= type.format.mantissa)
      continue;
    const exact::Format f = other.format;
    for (const uint64_t edge :
         {f.smallestUnit(), f.smallestNormal() - f.smallestUnit(),
          f.smallestNormal(), f.largest()})
      near(exact::read(f, edge), 1);
    for (const uint64_t code :
         {uint64_t(0), f.one() + 2 * f.smallestUnit(),
          f.one() + 3 * f.smallestUnit(), f.largest() - f.smallestUnit()}) {
      Number middle = exact::read(f, code);
      middle.magnitude = (middle.magnitude << 1) + exact::Natural(1);
      --middle.exponent;
      near(middle, 1);
    }
  }
  return list;
}

namespace {

/// Like the lines of a list, but a and b from different ones.
const Operands &twoOf(const Operands &operands) {
  static std::map<const Operands *, Operands> lists;
  Operands &list = lists[&operands];
  if (list.empty())
    for (size_t i = 0; i < operands.size(); ++i)
      list.push_back(
          {operands[i][0], operands[(7 * i + 3) % operands.size()][0], 0});
  return list;
}

/// The lines of a list in both parts of a register.
const Operands &joined(const Operands &operands, unsigned width) {
  static std::map<const Operands *, Operands> lists;
  Operands &list = lists[&operands];
  if (list.empty())
    for (const auto &[a, b, c] : twoOf(operands))
      list.push_back({a | b << width, 0, 0});
  return list;
}

/// All codes of 8 bits.
const Operands &codes() {
  static Operands list;
  if (list.empty())
    for (uint64_t a = 0; a < 256; ++a)
      list.push_back({a, 0, 0});
  return list;
}

/// The same where the ISA leaves the choice, in one value.
uint64_t sameIn(const Conversion &c, uint64_t d) {
  if (!c.to.isFloat())
    return d;
  const exact::Format f = c.to.format;
  d &= ~(f.smallestUnit() - 1); // below tf32's mantissa
  return c.sat || c.relu ? anyNaNAnyZero(f)(d) : anyNaN(f)(d);
}

void convertForm(const Conversion &c) {
  const unsigned part = c.to.width;
  const auto same = [=](uint64_t d) {
    return c.to.lanes == 1
               ? sameIn(c, d)
               : sameIn(c, d & ones(part)) | sameIn(c, d >> part) << part;
  };
  const unsigned from = c.from.width;
  // From a register of the type's size, and from a wider one; they agree, or d
  // becomes what is wrong for one of them.
  std::string statement;
  if (!c.from.isFloat() && from < 64)
    statement = "{ .reg .b" + std::to_string(c.registerWidth()) +
                " e;\n  .reg .b64 wide;\n  .reg .pred differ;\n"
                "  cvt.u64.u" +
                std::to_string(std::max(from, 16u)) +
                " wide, a;\n  or.b64 wide, wide, 0x7654321000000000;\n" +
                (from < 32 ? "  or.b64 wide, wide, 0xabcd0000;\n" : "") +
                "  $ d, a;\n  $ e, wide;\n  setp.ne.b" +
                std::to_string(c.registerWidth()) +
                " differ, d, e;\n  @differ not.b" +
                std::to_string(c.registerWidth()) + " d, d; }";
  if (c.to.lanes == 1)
    return form(c.name, {{c.registerWidth(), std::max(from, 16u)},
                         convertOperands(c.from),
                         [=](uint64_t a, uint64_t, uint64_t) { return c(a); },
                         same,
                         statement,
                         c.meaning()});
  // Two values: of two registers, a's the upper one, or both parts of one.
  if (c.from.lanes == 1)
    return form(c.name, {{2 * part, from, from},
                         twoOf(convertOperands(c.from)),
                         [=](uint64_t a, uint64_t b, uint64_t) {
                           return c(a) << part | c(b);
                         },
                         same});
  form(c.name, {{2 * part, 2 * from},
                joined(from == 8 ? codes() : convertOperands(c.from), from),
                [=](uint64_t a, uint64_t, uint64_t) {
                  return c(a >> from) << part | c(a & ones(from));
                },
                same});
}

} // namespace

FORMS(conversions) {
  std::ifstream in(K2C_SOURCE_DIR
                   "/test/Unit/ptxsim_tensor/Inputs/cvt_forms.txt");
  for (std::string name; std::getline(in, name);)
    if (!name.empty() && name[0] != '#')
      convertForm(conversion(name));
}
