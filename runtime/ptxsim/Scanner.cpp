#include "runtime/ptxsim/Scanner.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

enum CharClass : uint8_t { NameChar = 1, Digit = 2, HexDigit = 4, Blank = 8 };

constexpr std::array<uint8_t, 256> makeClasses() {
  std::array<uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c)
    table[c] = table[c - 32] = NameChar;
  for (int c = '0'; c <= '9'; ++c)
    table[c] = NameChar | Digit | HexDigit;
  for (int c = 'a'; c <= 'f'; ++c)
    table[c] = table[c - 32] = NameChar | HexDigit;
  table['_'] = table['$'] = NameChar;
  table[' '] = table['\t'] = table['\r'] = Blank;
  return table;
}
constexpr std::array<uint8_t, 256> classes = makeClasses();

bool is(char c, uint8_t mask) { return classes[uint8_t(c)] & mask; }

} // namespace

Scanner::Scanner(std::string_view text)
    : p(text.data()), end(text.data() + text.size()), lineStart(text.data()) {}

void Scanner::skip() {
  while (p != end) {
    if (is(*p, Blank)) {
      ++p;
    } else if (*p == '\n') {
      ++p, ++line, lineStart = p;
    } else if (*p == '/' && end - p > 1 && p[1] == '/') {
      const void *newline = std::memchr(p, '\n', end - p);
      p = newline ? static_cast<const char *>(newline) : end;
    } else if (*p == '/' && end - p > 1 && p[1] == '*') {
      Position start{line, uint32_t(p - lineStart + 1)};
      for (p += 2; end - p > 1 && !(p[0] == '*' && p[1] == '/'); ++p)
        if (*p == '\n')
          ++line, lineStart = p + 1;
      if (end - p < 2)
        throw LoadError{start, "a comment that does not end"};
      p += 2;
    } else {
      return;
    }
  }
}

bool Scanner::accept(char c) {
  skip();
  if (p == end || *p != c)
    return false;
  ++p;
  return true;
}

void Scanner::expect(char c, const char *where) {
  if (accept(c))
    return;
  error(p == end ? fmt::format("expected '{}' {}, but got the end of the text",
                               c, where)
                 : fmt::format("expected '{}' {}, but got '{}'", c, where, *p));
}

std::string_view Scanner::name() {
  skip();
  const char *start = p;
  if (p != end && *p == '%')
    ++p;
  if (p == end || !is(*p, NameChar) || is(*p, Digit)) {
    p = start;
    return {};
  }
  while (p != end && is(*p, NameChar))
    ++p;
  return {start, size_t(p - start)};
}

std::string_view Scanner::dottedName() {
  skip();
  const char *start = p;
  while (p != end) {
    if (is(*p, NameChar) || *p == '.')
      ++p;
    else if (*p == ':' && end - p > 1 && p[1] == ':')
      p += 2;
    else
      break;
  }
  return {start, size_t(p - start)};
}

std::string_view Scanner::word() {
  skip();
  const char *start = p;
  if (p != end && *p == '.')
    ++p;
  while (p != end &&
         (is(*p, NameChar) || (*p == ':' && end - p > 1 && p[1] == ':')))
    p += *p == ':' ? 2 : 1;
  return {start, size_t(p - start)};
}

bool Scanner::acceptColon() {
  skip();
  if (p == end || *p != ':' || (end - p > 1 && p[1] == ':'))
    return false;
  ++p;
  return true;
}

std::string_view Scanner::quoted() {
  expect('"', "before a string");
  const char *start = p;
  while (p != end && *p != '"' && *p != '\n')
    ++p;
  if (p == end || *p != '"')
    error("a string that does not end");
  return {start, size_t(p++ - start)};
}

std::string_view Scanner::until(char c) {
  skip();
  const char *start = p;
  for (; p != end && *p != c; ++p)
    if (*p == '\n')
      ++line, lineStart = p + 1;
  return {start, size_t(p - start)};
}

void Scanner::skipBlock() {
  for (unsigned depth = 1; depth;) {
    char c = peek();
    if (!c)
      error("a block that does not end");
    if (c == '"') {
      quoted();
      continue;
    }
    ++p;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
}

Scanner::Number Scanner::number() {
  skip();
  bool negative = false;
  if (p != end && (*p == '-' || *p == '+'))
    negative = *p++ == '-';
  skip();
  if (p == end || !(is(*p, Digit) || *p == '.'))
    error("expected a number");
  Number result;
  auto digits = [&](int base) {
    const char *start = p;
    while (p != end && is(*p, HexDigit))
      ++p;
    auto [rest, code] = std::from_chars(start, p, result.value, base);
    if (code != std::errc() || start == p)
      error(fmt::format("bad number '{}'", std::string_view(start, p - start)));
    p = rest;
  };
  char kind = *p == '0' && end - p > 1 ? char(p[1] | 0x20) : '\0';
  if (kind == 'f' || kind == 'd') {
    const char *start = p;
    p += 2;
    digits(16);
    if (p - start != (kind == 'f' ? 10 : 18))
      error(fmt::format("bad number '{}'", std::string_view(start, p - start)));
    result.isFloat = true;
    result.single = kind == 'f';
    if (negative)
      result.value ^= kind == 'f' ? 1ull << 31 : 1ull << 63;
    return result;
  }
  if (kind == 'x') {
    p += 2;
    digits(16);
  } else if (kind == 'b' && end - p > 2 && (p[2] == '0' || p[2] == '1')) {
    p += 2;
    digits(2);
  } else {
    const char *start = p;
    while (p != end && is(*p, Digit))
      ++p;
    bool exponent = p != end && (*p == 'e' || *p == 'E');
    if (p != end && (*p == '.' || exponent)) {
      if (*p == '.')
        for (++p; p != end && is(*p, Digit);)
          ++p;
      if (p != end && (*p == 'e' || *p == 'E')) {
        ++p;
        if (p != end && (*p == '-' || *p == '+'))
          ++p;
        while (p != end && is(*p, Digit))
          ++p;
      }
      double value = std::strtod(std::string(start, p).c_str(), nullptr);
      result.isFloat = true;
      result.value = std::bit_cast<uint64_t>(negative ? -value : value);
      return result;
    }
    p = start;
    const bool octal = *p == '0' && end - p > 1 && is(p[1], Digit);
    while (p != end && is(*p, Digit))
      ++p;
    auto [rest, code] = std::from_chars(start, p, result.value, octal ? 8 : 10);
    if (code != std::errc() || rest != p)
      error(fmt::format("bad number '{}'", std::string_view(start, p - start)));
  }
  if (p != end && *p == 'U')
    ++p;
  if (p != end && is(*p, NameChar))
    error("bad number");
  if (negative)
    result.value = -result.value;
  return result;
}

int64_t Scanner::integer() {
  Number n = number();
  if (n.isFloat)
    error("expected an integer, but got a floating-point number");
  return int64_t(n.value);
}

Position Scanner::position() {
  skip();
  return {line, uint32_t(p - lineStart + 1)};
}

void Scanner::error(std::string text) {
  throw LoadError{{line, uint32_t(p - lineStart + 1)}, std::move(text)};
}
