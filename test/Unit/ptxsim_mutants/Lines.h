#ifndef TEST_UNIT_PTXSIM_MUTANTS_LINES_H
#define TEST_UNIT_PTXSIM_MUTANTS_LINES_H

// PTX as lines, just as much of it as mutants need: compilers write one
// instruction a line.

#include <set>
#include <string>
#include <vector>

namespace mutants {

struct Line {
  std::string text;
  /// A line that holds one instruction and nothing else.
  bool isInstruction = false;
  /// Control may come or go here: a label, a branch, a brace, or a line that is
  /// not understood.
  bool isBoundary = false;
  std::string guard; ///< "@%p1 ", or empty
  std::string opcode;
  std::vector<std::string> operands;

  bool is(const char *prefix) const { return opcode.starts_with(prefix); }
};

/// The lines of a text; what is outside the entry is neither instruction nor
/// boundary.
std::vector<Line> linesOf(const std::string &text, const std::string &entry);
std::string textOf(const std::vector<Line> &lines);

/// Integer literal, decimal or hexadecimal.
bool isInteger(const std::string &operand);

/// The registers whose values reach the address of an access by lines that run.
std::set<std::string> addressRegisters(const std::vector<Line> &lines,
                                       const std::vector<bool> &runs);
/// The register of an address operand [%r1+16], empty if it has none.
std::string baseOf(const std::string &operand);

} // namespace mutants

#endif // TEST_UNIT_PTXSIM_MUTANTS_LINES_H
