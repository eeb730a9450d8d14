#ifndef RUNTIME_PTXSIM_SCANNER_H
#define RUNTIME_PTXSIM_SCANNER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace ptxsim {

struct Position {
  uint32_t line = 1, column = 1;
};

/// An error in PTX text, on its way to loadModule().
struct LoadError {
  Position position;
  std::string text;
};

/// Reads PTX text character by character; every read first skips white space
/// and comments.
class Scanner {
public:
  explicit Scanner(std::string_view text);

  bool atEnd() { return skip(), p == end; }
  /// The next character, 0 at the end.
  char peek() { return skip(), p == end ? '\0' : *p; }
  bool accept(char c);
  void expect(char c, const char *where);
  /// A name: letters, digits, _ and $, possibly with % in front; empty if there
  /// is none.
  std::string_view name();
  /// A directive or type: a dot and a name, `.reg`, without what may follow at
  /// the next dot; or a plain word.
  std::string_view word();
  /// Like name(), but with dots and double colons: an opcode with its
  /// modifiers, or a directive.
  std::string_view dottedName();
  /// True when a single ':' follows.
  bool acceptColon();
  std::string_view quoted();
  /// Everything up to and without `c`.
  std::string_view until(char c);
  /// Skips a { ... } block, the opening brace already read.
  void skipBlock();

  struct Number {
    bool isFloat = false;
    bool single = false; ///< written 0f...: value holds 32 bits
    uint64_t value = 0;  ///< the integer, or the bits of a double
  };
  /// An integer or a float, with an optional sign.
  Number number();
  /// An integer.
  int64_t integer();

  Position position();
  [[noreturn]] void error(std::string text);
  /// Text between `from` and the current place.
  const char *here() const { return p; }

private:
  void skip();
  const char *p, *end, *lineStart;
  uint32_t line = 1;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_SCANNER_H
