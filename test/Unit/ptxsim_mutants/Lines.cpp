#include "test/Unit/ptxsim_mutants/Lines.h"

#include <cctype>
#include <map>

using namespace mutants;

namespace {

std::string trimmed(const std::string &s) {
  size_t b = s.find_first_not_of(" \t\r"), e = s.find_last_not_of(" \t\r");
  return b == s.npos ? "" : s.substr(b, e - b + 1);
}

bool isNameChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

/// Splits at commas outside brackets.
std::vector<std::string> split(const std::string &s) {
  std::vector<std::string> out;
  int depth = 0;
  std::string item;
  for (char c : s) {
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c == ',' && depth == 0)
      out.push_back(trimmed(item)), item.clear();
    else
      item += c;
  }
  if (!trimmed(item).empty())
    out.push_back(trimmed(item));
  return out;
}

void parse(Line &line) {
  std::string code = trimmed(line.text.substr(0, line.text.find("//")));
  if (code.empty() || code[0] == '.')
    return; // a comment, a directive
  line.isBoundary = true;
  size_t name = 0;
  while (name < code.size() && isNameChar(code[name]))
    ++name;
  if (code.back() != ';' || code.find(';') != code.size() - 1 ||
      code[0] == '{' || code[0] == '}' ||
      (name < code.size() && code[name] == ':' && code[name + 1] != ':'))
    return;
  code.pop_back();
  if (code[0] == '@') {
    size_t end = code.find_first_of(" \t");
    if (end == code.npos)
      return;
    line.guard = code.substr(0, end) + " ";
    code = trimmed(code.substr(end));
  }
  size_t end = code.find_first_of(" \t");
  line.opcode = code.substr(0, end);
  if (end != code.npos)
    line.operands = split(code.substr(end));
  line.isInstruction = true;
  line.isBoundary = line.is("bra") || line.is("brx") || line.is("ret") ||
                    line.is("exit") || line.is("call") || line.is("trap");
}

/// All register names in an operand.
std::vector<std::string> registersIn(const std::string &operand) {
  std::vector<std::string> out;
  for (size_t i = 0; i < operand.size(); ++i)
    if (std::isalpha(static_cast<unsigned char>(operand[i])) ||
        operand[i] == '%' || operand[i] == '_') {
      size_t e = i + 1;
      while (e < operand.size() &&
             (isNameChar(operand[e]) || operand[e] == '.'))
        ++e;
      out.push_back(operand.substr(i, e - i));
      i = e;
    }
  return out;
}

} // namespace

bool mutants::isInteger(const std::string &s) {
  size_t i = s.size() > 1 && s[0] == '-';
  if (i >= s.size() || !std::isdigit(static_cast<unsigned char>(s[i])))
    return false;
  if (s.size() > i + 2 && s[i] == '0' && (s[i + 1] | 32) == 'x')
    return s.find_first_not_of("0123456789abcdefABCDEF", i + 2) == s.npos;
  return s.find_first_not_of("0123456789", i) == s.npos;
}

std::string mutants::baseOf(const std::string &operand) {
  if (operand.empty() || operand[0] != '[')
    return "";
  auto names = registersIn(operand);
  return names.empty() || names[0][0] != '%' ? "" : names[0];
}

std::vector<Line> mutants::linesOf(const std::string &text,
                                   const std::string &entry) {
  std::vector<Line> lines;
  bool inside = false, body = false;
  int depth = 0;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    Line &line = lines.emplace_back();
    line.text = text.substr(at, end - at);
    at = end + 1;
    if (line.text.find(".entry " + entry + "(") != line.text.npos)
      inside = true;
    if (!inside)
      continue;
    const bool wasBody = body;
    const std::string code = line.text.substr(0, line.text.find("//"));
    for (char c : code) {
      depth += (c == '{') - (c == '}');
      body |= c == '{';
    }
    if (wasBody && depth > 0)
      parse(line);
    if (wasBody && depth == 0)
      inside = body = false;
  }
  return lines;
}

std::string mutants::textOf(const std::vector<Line> &lines) {
  std::string text;
  for (const Line &line : lines)
    text += line.text, text += '\n';
  return text;
}

std::set<std::string> mutants::addressRegisters(const std::vector<Line> &lines,
                                                const std::vector<bool> &runs) {
  std::set<std::string> known;
  std::multimap<std::string, const Line *> definitions;
  std::vector<std::string> work;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line &line = lines[i];
    if (!line.isInstruction || !runs[i])
      continue;
    for (const std::string &operand : line.operands)
      if (operand[0] == '[')
        for (const std::string &name : registersIn(operand))
          work.push_back(name);
    // wgmma's descriptors are addresses too.
    if (line.is("wgmma.mma_async") && line.operands.size() > 2)
      work.push_back(line.operands[1]), work.push_back(line.operands[2]);
    if (!line.operands.empty() && line.operands[0][0] != '[')
      for (const std::string &name : registersIn(line.operands[0]))
        definitions.emplace(name, &line);
  }
  while (!work.empty()) {
    std::string name = work.back();
    work.pop_back();
    if (!known.insert(name).second)
      continue;
    auto [b, e] = definitions.equal_range(name);
    for (; b != e; ++b)
      for (size_t i = 1; i < b->second->operands.size(); ++i)
        if (b->second->operands[i][0] != '[')
          for (const std::string &source : registersIn(b->second->operands[i]))
            work.push_back(source);
  }
  return known;
}
