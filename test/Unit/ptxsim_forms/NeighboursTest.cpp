// The test of a form fails with a neighbour in its place, where the ISA gives
// them different results: forms that differ in one modifier, or of which one
// has one more. `alike` lists where it does not; cvt is left out (most of its
// modifiers have an effect only between some types).

#include "test/Unit/ptxsim_forms/Form.h"

#include <algorithm>
#include <cstdlib>
#include <map>

using namespace ptxsim::forms;

namespace {

std::vector<std::string> split(const std::string &name) {
  std::vector<std::string> parts(1);
  for (char c : name)
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// Modifiers that change no result: order, scopes, caches, spaces.
bool silent(const std::string &modifier) {
  static const std::set<std::string> all = {
      "",        "ca",      "cg",   "cs",       "lu",      "cv",
      "wb",      "wt",      "nc",   "volatile", "relaxed", "acquire",
      "release", "acq_rel", "sc",   "weak",     "mmio",    "cta",
      "cluster", "gpu",     "sys",  "shared",   "global",  "local",
      "const",   "param",   "tile", "aligned",  "uni",     "sync"};
  return all.count(modifier) || modifier.starts_with("L1::") ||
         modifier.starts_with("L2::") || modifier.starts_with("shared::");
}

/// `s32`: its kind, s, and its width.
bool isType(const std::string &t) {
  static const std::set<std::string> all = {
      "b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",  "u32",   "s32",
      "f32", "b64", "u64", "s64", "f64", "f16", "bf16", "s16x2", "u16x2"};
  return all.count(t);
}
bool sameWidth(const std::string &a, const std::string &b) {
  return isType(a) && isType(b) &&
         a.substr(a.find_first_of("1368")) == b.substr(b.find_first_of("1368"));
}

/// Of two modifiers at a place, `a` before `b` in the alphabet; "" is none.
bool alike(const std::vector<std::string> &parts, size_t place,
           const std::string &a, const std::string &b) {
  const std::string &op = parts[0];
  const auto has = [&](std::initializer_list<const char *> any) {
    return std::ranges::any_of(any, [&](const std::string &part) {
      return std::ranges::find(parts, part) != parts.end();
    });
  };
  const auto is = [&](std::initializer_list<const char *> any) {
    return std::ranges::find(any, op) != any.end();
  };
  const auto pair = [&](const char *x, const char *y) {
    return a == x && b == y;
  };
  const bool comparison = is({"set", "setp"}),
             signs = a[0] == 's' && b[0] == 'u' && sameWidth(a, b);
  // What is only moved has no type; loads extend what has a sign.
  if (is({"st", "mov", "selp", "slct", "wmma"}) && sameWidth(a, b))
    return op != "slct" || place + 1 < parts.size();
  if (is({"ld", "ldu"}) && sameWidth(a, b))
    return (a[0] != 's' && b[0] != 's') || a.ends_with("64");
  // The low bits of sums and products; equality; true and false.
  if (signs && (is({"add", "sub", "addc", "subc"}) || has({"add", "lo"})))
    return true;
  if (comparison && sameWidth(a, b) && a[0] != 'f' && b[0] != 'f' &&
      (has({"eq", "ne"}) || (op == "set" && signs)))
    return true;
  if (comparison && (pair("ge", "hs") || pair("gt", "hi") || pair("le", "ls") ||
                     pair("lo", "lt")))
    return true; // of unsigned types
  if (comparison && pair("", "ftz"))
    return has({"nan", "num", "f16", "f16x2"});
  if (op == "shr" && b[0] == 'u' && a[0] == 'b')
    return true;
  // Formats of 16 bits are ordered as their bits are.
  if (pair("bf16", "f16") || pair("bf16x2", "f16x2"))
    return is({"abs", "neg"}) || has({"min", "max"});
  if (pair("b32", "b64"))
    return has({"and", "or", "xor"});
  // The default, and what is the same for numbers above 0.
  if (pair("", "rn"))
    return is({"add", "sub", "mul", "mma", "wmma"});
  if (pair("rm", "rz"))
    return op == "sqrt" || has({"sat"});
  if (is({"sin", "cos"}) && pair("", "ftz"))
    return true; // x and 1 for subnormal x
  // As good as the approximation may be; the stronger of two waits.
  if (a == "approx" || a == "full")
    return b[0] == 'r';
  // The effect of a hint is not seen; a restricted fence is a weaker one; .sat
  // makes NaN zero as .oob does.
  if (op == "prefetch" || (op == "fence" && b.starts_with("sync_restrict")) ||
      (pair("", "oob") && has({"sat"})))
    return true;
  static const std::set<std::vector<std::string>> others = {
      {"", "cc"},
      {"", "mbarrier_init"},
      {"", "noComplete"},
      {"", "read"},
      {"", "to"},
      {"alias", "async"},
      {"arrive", "sync"},
      {"commit_group", "wait_all"},
      {"dec", "inc"},
      {"gl", "sys"},
      {"launch_dependents", "wait"},
      {"param", "param::entry"},
      {"test_wait", "try_wait"}};
  if (pair("dec", "inc"))
    return op == "setmaxnreg";
  if (others.count({a, b}))
    return true;
  // Fragments are opaque: a load that agrees with nothing else may do.
  return op == "wmma" && has({"load", "store"});
}

/// `every`: one pair in so many.
void compare(size_t every) {
  // Names by what is left without one modifier: (place, rest) -> (modifier).
  std::map<std::pair<size_t, std::string>, std::set<std::string>> groups;
  for (const std::string &name : registered()) {
    if (name.starts_with("cvt."))
      continue;
    const std::vector<std::string> parts = split(name);
    for (size_t i = 1; i <= parts.size(); ++i) {
      std::string rest;
      for (size_t j = 0; j < parts.size(); ++j)
        if (j != i)
          rest += "." + parts[j];
      if (i < parts.size())
        groups[{i, rest}].insert(parts[i]);
      std::string whole;
      for (const std::string &part : parts)
        whole += "." + part;
      groups[{i, whole}].insert("");
    }
  }
  size_t pairs = 0;
  for (const auto &[where, modifiers] : groups) {
    if (modifiers.size() < 2)
      continue;
    auto spell = [&, where = where](const std::string &modifier) {
      std::vector<std::string> parts = split(where.second.substr(1));
      std::string name;
      if (!modifier.empty())
        parts.insert(parts.begin() + where.first, modifier);
      for (const std::string &part : parts)
        name += (name.empty() ? "" : ".") + part;
      return name;
    };
    for (const std::string &a : modifiers)
      for (const std::string &b : modifiers) {
        if (a == b || (silent(a) && silent(b)))
          continue;
        if (pairs++ % every)
          continue;
        const std::string name = spell(a), other = spell(b);
        if (!registered().count(name) || !registered().count(other))
          continue;
        if (passesWith(name, other) &&
            !alike(split(name), where.first, std::min(a, b), std::max(a, b)) &&
            !alike(split(other), where.first, std::min(a, b), std::max(a, b)))
          ADD_FAILURE() << name << " passes as " << other;
      }
  }
  testing::Test::RecordProperty("pairs", int(pairs));
  EXPECT_GT(pairs, 1000u);
}

} // namespace

/// All pairs in a full test run, else one in seven.
TEST(Forms, TellNeighboursApart) {
  compare(std::getenv("K2C_FULL_TESTS") ? 1 : 7);
}
