// Faults as text: where, the line of PTX, the values, the allocation, the
// likely cause.

#include "runtime/ptxsim/FaultText.h"
#include "runtime/ptxsim/Cta.h"

#include <algorithm>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

/// Longer lines are cut: wgmma names up to 128 registers.
constexpr size_t widest = 120;
constexpr size_t mostValues = 8;

/// The line of a place in the text.
std::string_view lineAt(std::string_view text, size_t at) {
  const size_t begin = at ? text.rfind('\n', at - 1) + 1 : 0; // npos + 1 is 0
  return text.substr(begin, text.find('\n', at) - begin);
}

/// Line `number` of the text; empty if there is none.
std::string_view lineOf(std::string_view text, uint32_t number) {
  size_t at = 0;
  for (uint32_t i = 1; i < number; ++i) {
    at = text.find('\n', at);
    if (at == text.npos)
      return {};
    ++at;
  }
  return at < text.size() ? lineAt(text, at) : std::string_view();
}

/// What is underlined in a line: [begin, begin + size).
struct Mark {
  size_t begin = 0, size = 0;
};

/// The line with its number, and below it a caret at `caret` and tildes.
std::string snippet(std::string_view line, uint32_t number, Mark caret,
                    Mark operand = {}) {
  const bool cutLeft = caret.begin > widest / 2;
  const size_t left = cutLeft ? caret.begin - widest / 4 : 0;
  std::string shown(line.substr(left, widest));
  std::string under;
  const auto mark = [&](Mark m, char first) {
    for (size_t i = m.begin; i < m.begin + m.size; ++i)
      if (i >= left && i - left < shown.size()) {
        under.resize(std::max(under.size(), i - left + 1), ' ');
        under[i - left] = i == m.begin ? first : '~';
      }
  };
  mark(operand, '~');
  mark(caret, '^');
  // A tab is as wide below as it is above.
  for (size_t i = 0; i < under.size() && i < shown.size(); ++i)
    if (shown[i] == '\t' && under[i] == ' ')
      under[i] = '\t';
  if (left + widest < line.size())
    shown += " ...";
  if (!shown.empty() && shown.back() == '\r')
    shown.pop_back();
  return fmt::format("\n{:>5} | {}{}\n      | {}{}", number,
                     cutLeft ? "... " : "", shown, cutLeft ? "    " : "",
                     under);
}

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

bool hasWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos;
       at = text.find(word, at + 1))
    if ((!at || !isNameCharacter(text[at - 1])) &&
        (at + word.size() == text.size() ||
         !isNameCharacter(text[at + word.size()])))
      return true;
  return false;
}

/// An instruction in the module's text.
struct Place {
  std::string_view line;      ///< empty: it is not in the text
  std::string_view statement; ///< from the opcode to the semicolon
  Mark opcode, address;       ///< in the line
};

Place placeOf(const Function &f, const OpInfo &info) {
  const std::string &text = f.module->text;
  Place place;
  // The ret at the end of a body has no text of its own.
  if (info.form.data() < text.data() ||
      info.form.data() >= text.data() + text.size())
    return place;
  const size_t at = size_t(info.form.data() - text.data());
  place.line = lineAt(text, at);
  place.opcode = {size_t(info.form.data() - place.line.data()),
                  info.form.size()};
  place.statement = std::string_view(text).substr(at, text.find(';', at) - at);
  const size_t open = place.statement.find('['),
               close = place.statement.find(']', open);
  if (open != place.statement.npos && close != place.statement.npos)
    place.address = {place.opcode.begin + open, close - open + 1};
  return place;
}

/// `file:line:column: kind: `.
std::string position(const Function &f, const OpInfo &info, const char *kind) {
  return fmt::format("{}:{}:{}: {}: ", f.module->filename, info.line,
                     info.column, kind);
}

std::string snippetOf(const Function &f, const OpInfo &info, bool withAddress) {
  const Place place = placeOf(f, info);
  if (place.line.empty())
    return {};
  return snippet(place.line, info.line, place.opcode,
                 withAddress ? place.address : Mark());
}

const RegisterName *nameOf(const Function &f, uint32_t row) {
  for (const RegisterName &n : f.registerNames)
    if (row >= n.row && row - n.row < n.stride * std::max(n.count, 1u))
      return &n;
  return nullptr;
}

std::string source(const Function &f, const OpInfo &info) {
  if (info.loc >= f.locs.size())
    return {};
  const SourceLoc &loc = f.locs[info.loc];
  if (!loc.file)
    return {};
  const auto it = f.module->files.find(loc.file);
  return fmt::format(" (at {}:{}:{})",
                     it == f.module->files.end() ? std::string_view("?")
                                                 : it->second,
                     loc.line, loc.column);
}

} // namespace

std::string ptxsim::registerName(const Function &f, uint32_t row) {
  const RegisterName *n = nameOf(f, row);
  if (!n)
    return {};
  return n->range ? fmt::format("{}{}", n->name, (row - n->row) / n->stride)
                  : std::string(n->name);
}

std::vector<uint32_t> ptxsim::addressRows(const Function &f, const Op &op) {
  const size_t index = size_t(&op - f.ops.data());
  std::vector<uint32_t> rows;
  if (index + 1 >= f.operandStart.size())
    return rows;
  const std::string_view statement = placeOf(f, f.infos[index]).statement;
  const size_t open = statement.find('[');
  std::string brackets; // all address operands
  for (size_t at = open; at != statement.npos; at = statement.find('[', at + 1))
    brackets +=
        std::string(statement.substr(at, statement.find(']', at) - at)) + ' ';
  for (uint32_t i = f.operandStart[index]; i < f.operandStart[index + 1]; ++i) {
    const uint32_t row = f.operandRows[i];
    const std::string name = registerName(f, row);
    if (!name.empty() && (open == statement.npos || hasWord(brackets, name)) &&
        std::find(rows.begin(), rows.end(), row) == rows.end())
      rows.push_back(row);
  }
  return rows;
}

std::string ptxsim::registerValue(const Warp &warp, uint32_t row,
                                  unsigned lane) {
  const RegisterName *n = nameOf(*warp.function, row);
  auto &w = const_cast<Warp &>(warp); // rows are handed out for writing
  if (!n)
    return "?";
  if (n->type == Type::Pred)
    return w.word(row) >> lane & 1 ? "1" : "0";
  switch (std::max(16u, bitsOf(n->type))) {
  case 16:
    return fmt::format("{:#x}", w.row<uint16_t>(row)[lane]);
  case 32:
    return fmt::format("{:#x}", w.row<uint32_t>(row)[lane]);
  default:
    return fmt::format("{:#x}", w.row<uint64_t>(row)[lane]);
  }
}

std::string ptxsim::faultText(const Warp &w, const Op &op,
                              std::optional<unsigned> lane,
                              std::string_view what, const Notes &notes) {
  const Function &f = *w.function;
  const OpInfo &info = f.infos[w.indexOf(op)];
  std::string text =
      position(f, info, "error") +
      fmt::format("{}: cta ({},{},{}) warp {}", info.form, w.cta->id.x,
                  w.cta->id.y, w.cta->id.z, w.index);
  if (lane)
    text +=
        fmt::format(" lane {} (thread {})", *lane, w.index * warpSize + *lane);
  text += fmt::format(": {}{}", what, source(f, info));
  text += snippetOf(f, info, true);
  if (lane) {
    std::string values;
    size_t shown = 0;
    for (uint32_t row : addressRows(f, op))
      if (shown++ < mostValues)
        values +=
            fmt::format("{}{} = {}", values.empty() ? "" : ", ",
                        registerName(f, row), registerValue(w, row, *lane));
    if (!values.empty())
      text += "\n" + position(f, info, "note") +
              fmt::format("lane {} has {}", *lane, values);
  }
  for (const Note &note : notes) {
    const OpInfo &at = note.op ? f.infos[w.indexOf(*note.op)] : info;
    text += "\n" + position(f, at, "note") + note.text;
    if (note.op && note.op != &op)
      text += source(f, at) + snippetOf(f, at, false);
  }
  return text;
}

std::string ptxsim::loadErrorText(const ModuleImpl &module, Position at,
                                  std::string_view what) {
  const std::string_view line = lineOf(module.text, at.line);
  std::string text = fmt::format("{}:{}:{}: error: {}", module.filename,
                                 at.line, at.column, what);
  if (at.column && at.column <= line.size())
    text += snippet(line, at.line, {at.column - 1, 1});
  return text;
}
