// cvt as PTX: exactly the forms that ptxas 13.0 accepts for sm_90a are
// accepted, and every accepted one computes what the scalar reference does.

#include "Kernel.h"
#include "runtime/ptxsim/numeric/Convert.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <sstream>

using namespace harness;
using ptxsim::Conversion;
using ptxsim::Rounding;
using ptxsim::Type;

namespace {

/// Inputs/cvt_forms.txt: found by giving ptxas every combination of rounding,
/// modifiers and types below.
std::vector<std::string> acceptedForms() {
  std::istringstream in(readFile("cvt_forms.txt"));
  std::vector<std::string> forms;
  for (std::string line; std::getline(in, line);)
    forms.push_back(line);
  return forms;
}

std::vector<std::string> split(const std::string &form) {
  std::vector<std::string> parts;
  std::istringstream in(form);
  for (std::string part; std::getline(in, part, '.');)
    parts.push_back(part);
  return parts;
}

bool isPair(const std::string &type) { return type.ends_with("x2"); }

unsigned registerBits(const std::string &type) {
  if (type == "e4m3x2" || type == "e5m2x2")
    return 16;
  if (isPair(type))
    return 32;
  return std::max(16u, bitsOf(*ptxsim::parseType(type)));
}

std::string statement(const std::string &form) {
  std::vector<std::string> parts = split(form);
  std::string to = parts[parts.size() - 2], from = parts.back();
  auto reg = [](const std::string &type, int n) {
    unsigned bits = registerBits(type);
    return (bits == 16 ? "%h" : bits == 32 ? "%r" : "%d") + std::to_string(n);
  };
  std::string text = form + " " + reg(to, 1) + ", " + reg(from, 2);
  if (isPair(to) && from == "f32")
    text += ", " + reg(from, 3);
  return text + ";";
}

TEST(CvtForms, EveryFormThatPtxasAcceptsLoads) {
  std::string text;
  for (const std::string &form : acceptedForms())
    EXPECT_EQ(loadError(statement(form)), "") << form;
}

TEST(CvtForms, EveryFormThatPtxasRefusesIsRefused) {
  std::set<std::string> accepted;
  for (const std::string &form : acceptedForms())
    accepted.insert(form);
  const char *types[] = {"u8",    "u16",    "u32",  "u64",    "s8",    "s16",
                         "s32",   "s64",    "f16",  "bf16",   "f32",   "f64",
                         "f16x2", "bf16x2", "tf32", "e4m3x2", "e5m2x2"};
  const char *roundings[] = {"",     ".rn",  ".rz",  ".rm",  ".rp",
                             ".rna", ".rni", ".rzi", ".rmi", ".rpi"};
  const char *modifiers[] = {
      "", ".ftz", ".sat", ".ftz.sat", ".relu", ".satfinite", ".satfinite.relu"};
  size_t refused = 0;
  for (std::string to : types)
    for (std::string from : types)
      for (std::string rounding : roundings)
        for (std::string modifier : modifiers) {
          std::string form =
              "cvt" + rounding + modifier + "." + to + "." + from;
          if (accepted.count(form))
            continue;
          std::string error = loadError(statement(form));
          EXPECT_NE(error, "") << form;
          ++refused;
          // The message names the form.
          EXPECT_NE(error.find(form), std::string::npos) << error;
        }
  EXPECT_EQ(refused, std::size(types) * std::size(types) * 70 - 840);
}

/// Patterns of one scalar type: all of 16 bits, or edges and random ones.
std::vector<uint64_t> patterns(Type type) {
  std::vector<uint64_t> values;
  unsigned bits = bitsOf(type);
  if (bits <= 16) {
    for (uint64_t i = 0; i < 1ull << bits; ++i)
      values.push_back(i);
    return values;
  }
  std::mt19937_64 random{unsigned(type)};
  uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1;
  // Around powers of two and their negatives.
  for (unsigned b = 0; b < bits; ++b)
    for (int64_t d = -2; d <= 2; ++d)
      for (uint64_t v : {(1ull << b) + d, uint64_t(0) - ((1ull << b) + d)})
        values.push_back(v & all);
  // Floating-point numbers around integers and halves of them.
  for (int i = 0; i < 3000; ++i) {
    double x = std::ldexp(double(int(random() % 2001) - 1000),
                          int(random() % 8) - 4 + (i % 3) * 12);
    if (type == Type::F32)
      values.push_back(std::bit_cast<uint32_t>(float(x)));
    else if (type == Type::F64)
      values.push_back(std::bit_cast<uint64_t>(x));
    values.push_back(random() & all);
    values.push_back(random() >> random() % 64 & all);
  }
  const uint64_t specials32[] = {0x7f800000, 0xff800000, 0x7fc00001,
                                 0xffc12345, 0x7f7fffff, 0x477fefff,
                                 0x477ff000, 0x38800000, 0x33000001};
  const uint64_t specials64[] = {0x7ff0000000000000, 0xfff0000000000000,
                                 0x7ff8000000000001, 0x7fefffffffffffff};
  if (bits == 32)
    values.insert(values.end(), std::begin(specials32), std::end(specials32));
  else
    values.insert(values.end(), std::begin(specials64), std::end(specials64));
  return values;
}

Conversion conversionOf(const std::vector<std::string> &parts) {
  Conversion c;
  for (size_t i = 1; i + 2 < parts.size(); ++i) {
    const std::string &m = parts[i];
    if (m == "ftz")
      c.ftz = true;
    else if (m == "sat")
      c.sat = true;
    else if (m == "relu")
      c.relu = true;
    else if (m == "satfinite")
      c.satfinite = true;
    else {
      c.integral = m.ends_with("i");
      c.rounding = m == "rna"    ? Rounding::NearestAway
                   : m[1] == 'n' ? Rounding::NearestEven
                   : m[1] == 'z' ? Rounding::Zero
                   : m[1] == 'm' ? Rounding::Down
                                 : Rounding::Up;
    }
  }
  return c;
}

/// The scalar element type of a pair.
Type element(const std::string &type) {
  return *ptxsim::parseType(isPair(type) ? type.substr(0, type.size() - 2)
                                         : type);
}

TEST(CvtForms, ScalarFormsComputeTheReference) {
  for (const std::string &form : acceptedForms()) {
    std::vector<std::string> parts = split(form);
    std::string to = parts[parts.size() - 2], from = parts.back();
    if (isPair(to) || isPair(from))
      continue;
    Conversion c = conversionOf(parts);
    c.to = element(to), c.from = element(from);
    std::vector<uint64_t> in = patterns(c.from);
    std::vector<uint64_t> out =
        apply(form + " d, a;", registerBits(to), {{registerBits(from), in}});
    uint64_t mask =
        registerBits(to) == 64 ? ~0ull : (1ull << registerBits(to)) - 1;
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], convert(c, in[i]) & mask)
          << form << " of " << std::hex << in[i];
  }
}

TEST(CvtForms, PairsComputeTheReferenceInBothHalves) {
  for (const std::string &form : acceptedForms()) {
    std::vector<std::string> parts = split(form);
    std::string to = parts[parts.size() - 2], from = parts.back();
    if (!isPair(to))
      continue;
    Conversion c = conversionOf(parts);
    c.to = element(to), c.from = element(from);
    unsigned toBits = registerBits(to) / 2;
    std::vector<uint64_t> in = patterns(c.from), other = in, out;
    std::shuffle(other.begin(), other.end(), std::mt19937(7));
    if (from == "f32") {
      out =
          apply(form + " d, a, b;", registerBits(to), {{32, in}, {32, other}});
    } else {
      unsigned fromBits = registerBits(from) / 2;
      std::vector<uint64_t> packed;
      for (size_t i = 0; i < in.size(); ++i)
        packed.push_back(in[i] << fromBits | other[i]);
      out = apply(form + " d, a;", registerBits(to),
                  {{registerBits(from), packed}});
    }
    // The first source, or the upper half, is the upper half of the result.
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], convert(c, in[i]) << toBits | convert(c, other[i]))
          << form << " of " << std::hex << in[i] << ", " << other[i];
  }
}

TEST(CvtForms, IntegersInWiderRegisters) {
  // A destination wider than the type is extended by the type's sign; a wider
  // source gives its low bits.
  std::vector<uint64_t> in = {0x0080, 0xff7f, 0x12ff, 0x8000, 0x7fff, 5};
  auto check = [&](const char *text, unsigned to, unsigned from,
                   std::vector<uint64_t> expected) {
    EXPECT_EQ(apply(text, to, {{from, in}}), expected) << text;
  };
  check("cvt.s8.s32 d, a;", 32, 32,
        {0xffffff80, 0x7f, 0xffffffff, 0, 0xffffffff, 5});
  check("cvt.u8.u32 d, a;", 32, 32, {0x80, 0x7f, 0xff, 0, 0xff, 5});
  check("cvt.s64.s16 d, a;", 64, 32,
        {0x80, ~0ull - 0x80, 0x12ff, ~0ull - 0x7fff, 0x7fff, 5});
  check("cvt.sat.s8.s16 d, a;", 64, 64,
        {0x7f, ~0ull - 0x7f, 0x7f, ~0ull - 0x7f, 0x7f, 5});
  EXPECT_NE(loadError("cvt.rn.f32.s32 %d1, %r1;"), "");
  EXPECT_NE(loadError("cvt.u32.u64 %h1, %d1;"), "");
  EXPECT_NE(loadError("cvt.u64.u32 %d1, %h1;"), "");
}

} // namespace
