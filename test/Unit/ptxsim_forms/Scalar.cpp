#include "test/Unit/ptxsim_forms/Scalar.h"

#include <map>
#include <memory>

namespace ptxsim::forms {

namespace {

struct Registered {
  std::string name;
  Scalar scalar;
  std::vector<uint64_t> expected;

  /// Once, when the test needs it.
  const std::vector<uint64_t> &results() {
    if (expected.empty())
      for (const auto &[a, b, c] : scalar.operands)
        expected.push_back(same(scalar.result(a, b, c)));
    return expected;
  }
  uint64_t same(uint64_t result) const {
    result &= ones(scalar.widths.d);
    return scalar.same ? scalar.same(result) : result;
  }
  std::string meaning() const {
    return scalar.meaning.empty() ? name : scalar.meaning;
  }
};

std::vector<std::shared_ptr<Registered>> &all() {
  static std::vector<std::shared_ptr<Registered>> list;
  return list;
}

void run(Registered &r) {
  const Scalar &s = r.scalar;
  std::string statement = s.statement;
  if (statement.empty()) {
    statement = "$ d, a";
    if (s.widths.b)
      statement += ", b";
    if (s.widths.c)
      statement += ", c";
  }
  for (size_t at; (at = statement.find('$')) != statement.npos;)
    statement.replace(at, 1, r.name);
  const std::vector<uint64_t> got = results(statement, s.widths, s.operands);
  const std::vector<uint64_t> &expected = r.results();
  size_t wrong = 0;
  for (size_t t = 0; t < got.size() && wrong < 4; ++t) {
    if (r.same(got[t]) == expected[t])
      continue;
    ++wrong;
    const auto &[a, b, c] = s.operands[t];
    ADD_FAILURE() << statement << std::hex << ": a = 0x" << a << ", b = 0x" << b
                  << ", c = 0x" << c << " gives 0x" << got[t] << ", expected 0x"
                  << expected[t];
  }
}

/// A list made once per key.
template <class Make>
const Operands &made(const std::string &kind, uint64_t key, Make make) {
  static std::map<std::pair<std::string, uint64_t>, Operands> lists;
  const auto [at, isNew] = lists.try_emplace({kind, key});
  if (isNew) {
    at->second = make();
    if (at->second.size() > 1024)
      throw std::logic_error("more operands than threads: " + kind);
  }
  return at->second;
}

std::vector<uint64_t> edges(unsigned width) {
  const uint64_t top = uint64_t(1) << (width - 1);
  std::vector<uint64_t> list = {
      0,   1,       2,       3,        7,           top - 1,
      top, top + 1, top | 5, top >> 1, ones(width), ones(width) - 1};
  list.push_back(uint64_t(0x8182838485868788) & ones(width));
  list.push_back(uint64_t(0x7f3e5d1c2b6a4907) >> (64 - width));
  Sequence numbers;
  for (int i = 0; i < 4; ++i)
    list.push_back(numbers.next() & ones(width));
  return list;
}

uint64_t keyOf(exact::Format f) { return f.exponent << 8 | f.mantissa; }

/// Zeros, the ends of the subnormal and of the normal numbers, numbers near 1.
std::vector<uint64_t> special(exact::Format f) {
  const uint64_t one = f.one(), normal = f.smallestNormal();
  return {0,
          f.sign(),
          1,
          f.sign() | (normal - 1),
          normal,
          f.sign() | normal | normal / 2,
          one,
          one + 1,
          f.sign() | one,
          one - normal + normal / 4,
          f.sign() | (one - normal),
          one + normal + normal / 2,
          f.largest(),
          f.sign() | f.largest(),
          f.infinite(),
          f.sign() | f.infinite(),
          f.infinite() | normal / 2,
          f.sign() | f.infinite() | normal / 2 | 3};
}

/// Of either sign, its exponent among the `binades` that end with [1, 2).
uint64_t nearOne(exact::Format f, Sequence &numbers, unsigned binades) {
  const uint64_t n = numbers.next();
  return f.one() - (n >> 8) % binades * f.smallestNormal() +
         (n >> 12 & (f.smallestNormal() - 1)) + (n & 1 ? f.sign() : 0);
}

} // namespace

void form(const std::string &name, const Scalar &scalar) {
  auto r = std::make_shared<Registered>(Registered{name, scalar, {}});
  all().push_back(r);
  form(name, [r] { run(*r); });
}

uint64_t Sequence::next() {
  // splitmix64
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

const Operands &integers(unsigned width) {
  return made("integers", width, [&] {
    Operands list;
    for (uint64_t a : edges(width))
      list.push_back({a, 0, 0});
    // Numbers that a half rounds.
    for (uint64_t a : {0x1001, 0x2345, 0x4803, 0x5fff, 0x7bcd})
      list.push_back({a, 0, 0});
    // Next to the middle between two numbers of each format: rounding twice,
    // through a larger format, goes wrong there.
    for (const unsigned mantissa : {7, 10, 23, 52})
      for (const uint64_t odd : {1, 3})
        for (const int beside : {-1, 0, 1}) {
          if (mantissa + 4 > width)
            continue;
          const uint64_t middle =
              (uint64_t(1) << (width - 2)) + (odd << (width - 3 - mantissa));
          list.push_back({middle + uint64_t(beside), 0, 0});
          list.push_back({(0 - middle + uint64_t(beside)) & ones(width), 0, 0});
        }
    // Every bit alone, and every bit missing.
    for (unsigned i = 0; i < width; ++i) {
      list.push_back({uint64_t(1) << i, 0, 0});
      list.push_back({ones(width) >> i, 0, 0});
      list.push_back({ones(width) & ~(ones(width) >> i), 0, 0});
    }
    return list;
  });
}

const Operands &integerPairs(unsigned width) {
  return made("integerPairs", width, [&] {
    Operands list;
    for (uint64_t a : edges(width))
      for (uint64_t b : edges(width))
        list.push_back({a, b, 0});
    return list;
  });
}

const Operands &integerTriples(unsigned width) {
  return made("integerTriples", width, [&] {
    Operands list;
    const std::vector<uint64_t> values = edges(width);
    size_t i = 0;
    for (uint64_t a : values)
      for (uint64_t b : values)
        for (unsigned k = 0; k < 3; ++k)
          list.push_back({a, b, values[(5 * i++ + k) % values.size()]});
    return list;
  });
}

const Operands &floats(exact::Format f) {
  return made("floats", keyOf(f), [&] {
    Operands list;
    for (uint64_t a : special(f))
      list.push_back({a, 0, 0});
    Sequence numbers;
    for (int i = 0; i < 60; ++i)
      list.push_back({nearOne(f, numbers, 6), 0, 0});
    for (int i = 0; i < 40; ++i)
      list.push_back({numbers.next() & (f.sign() | (f.sign() - 1)), 0, 0});
    return list;
  });
}

const Operands &floatPairs(exact::Format f) {
  return made("floatPairs", keyOf(f), [&] {
    Operands list;
    for (uint64_t a : special(f))
      for (uint64_t b : special(f))
        list.push_back({a, b, 0});
    Sequence numbers;
    for (int i = 0; i < 80; ++i) {
      const uint64_t a = nearOne(f, numbers, 4);
      list.push_back({a, nearOne(f, numbers, 4), 0});
    }
    for (int i = 0; i < 20; ++i) {
      const uint64_t a = numbers.next() & (f.sign() | (f.sign() - 1));
      list.push_back({a, numbers.next() & (f.sign() | (f.sign() - 1)), 0});
    }
    return list;
  });
}

const Operands &floatTriples(exact::Format f) {
  return made("floatTriples", keyOf(f), [&] {
    Operands list;
    const std::vector<uint64_t> values = special(f);
    for (size_t a : {0, 1, 2, 5, 8, 9, 12, 14, 16})
      for (size_t b : {0, 3, 4, 6, 9, 13, 15, 17})
        for (size_t c : {0, 1, 3, 5, 7, 10, 13, 15, 16})
          list.push_back({values[a], values[b], values[c]});
    // A product in the middle between two numbers, and something that is too
    // small for any larger format to hold both.
    for (const unsigned high : {f.mantissa / 2, f.mantissa - 1})
      for (const uint64_t sign : {uint64_t(0), f.sign()})
        for (const uint64_t c : {uint64_t(0), uint64_t(1), f.sign() | 1})
          list.push_back({(f.one() + (uint64_t(1) << high)) | sign,
                          f.one() + (uint64_t(1) << (f.mantissa - 1 - high)),
                          c});
    // The canonical NaN is the one that .oob knows.
    for (size_t a : {0, 5, 12, 15, 16})
      for (size_t b : {0, 8, 13, 16}) {
        list.push_back({f.canonicalNaN(), values[a], values[b]});
        list.push_back({values[a], f.canonicalNaN(), values[b]});
        list.push_back({values[a], values[b], f.canonicalNaN()});
      }
    Sequence numbers;
    for (int i = 0; i < 80; ++i) {
      const uint64_t a = nearOne(f, numbers, 4), b = nearOne(f, numbers, 4);
      list.push_back({a, b, nearOne(f, numbers, 4)});
      // What is left of a product is its rounding error: only a fused
      // multiplication has it.
      list.push_back(
          {a, b,
           f.sign() ^ exact::write(
                          f,
                          exact::multiply(exact::read(f, a), exact::read(f, b)),
                          exact::Rounding::Nearest)});
    }
    return list;
  });
}

const Operands &packed(const Operands &halves) {
  return made("packed", uint64_t(&halves), [&] {
    Operands list;
    for (size_t i = 0; i < halves.size(); ++i) {
      std::array<uint64_t, 3> both{};
      for (unsigned k = 0; k < 3; ++k)
        both[k] = halves[i][k] | halves[(i + 7) % halves.size()][k] << 16;
      list.push_back(both);
    }
    return list;
  });
}

const Operands &withPredicate(const Operands &operands) {
  return made("withPredicate", uint64_t(&operands), [&] {
    Operands list;
    for (const auto &[a, b, c] : operands) {
      list.push_back({a, b, 0});
      list.push_back({a, b, 1});
    }
    return list;
  });
}

std::function<uint64_t(uint64_t, uint64_t, uint64_t)>
onHalves(std::function<uint64_t(uint64_t, uint64_t, uint64_t)> f) {
  return [=](uint64_t a, uint64_t b, uint64_t c) {
    return (f(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff) |
           (f(a >> 16, b >> 16, c >> 16) & 0xffff) << 16;
  };
}

std::function<uint64_t(uint64_t)>
onHalves(std::function<uint64_t(uint64_t)> f) {
  return [=](uint64_t d) { return f(d & 0xffff) | f(d >> 16) << 16; };
}

std::function<uint64_t(uint64_t)> anyNaN(exact::Format format) {
  return
      [=](uint64_t d) { return format.isNaN(d) ? format.canonicalNaN() : d; };
}

std::function<uint64_t(uint64_t)> anyNaNAnyZero(exact::Format format) {
  return [=](uint64_t d) {
    return format.isNaN(d) ? format.canonicalNaN() : d == format.sign() ? 0 : d;
  };
}

TEST(Forms, ScalarFormsDiffer) {
  // Forms with the same registers and operands by their results.
  using Key = std::pair<const Operands *, std::array<unsigned, 4>>;
  std::map<Key, std::map<std::vector<uint64_t>, Registered *>> byResults;
  std::map<std::pair<Key, std::string>, Registered *> byMeaning;
  for (const auto &r : all()) {
    const test::Widths &w = r->scalar.widths;
    const Key key{&r->scalar.operands, {w.d, w.a, w.b, w.c}};
    const auto [alike, first] =
        byResults[key].try_emplace(r->results(), r.get());
    if (!first && alike->second->meaning() != r->meaning())
      ADD_FAILURE() << "no operands tell " << r->name << " from "
                    << alike->second->name;
    const auto [meant, isNew] =
        byMeaning.try_emplace({key, r->meaning()}, r.get());
    if (!isNew && meant->second->results() != r->results())
      ADD_FAILURE() << r->name << " and " << meant->second->name
                    << " should mean the same";
  }
  EXPECT_GT(all().size(), 4000u);
}

} // namespace ptxsim::forms
