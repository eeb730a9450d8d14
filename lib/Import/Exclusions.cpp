//===- Exclusions.cpp - Modules that stay unquantized ---------------------===//

#include "Exclusions.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace k2c;

/// Longer than any in use; the matcher's memory grows with it.
static constexpr size_t longestPattern = 1000;

static llvm::Error refuse(llvm::StringRef entry, const llvm::Twine &rule,
                          const llvm::Twine &fact) {
  return llvm::createStringError(
      "quantization_config: expected " + rule + ", but got " + fact + " in '" +
      entry.take_front(80) + (entry.size() > 80 ? "..." : "") + "'");
}

/// Python's expression as a POSIX extended one.
static llvm::Expected<std::string> translate(llvm::StringRef entry,
                                             llvm::StringRef python) {
  if (python.size() > longestPattern)
    return refuse(entry,
                  "a pattern of at most " + llvm::Twine(longestPattern) +
                      " characters",
                  llvm::Twine(python.size()) + " characters");
  std::string posix;
  bool inSet = false;
  for (size_t i = 0; i < python.size(); ++i) {
    char c = python[i];
    if (c == '\\') {
      char escaped = i + 1 < python.size() ? python[++i] : '\0';
      if (escaped == 'd')
        posix += inSet ? "0-9" : "[0-9]";
      else if (escaped == 'w')
        posix += inSet ? "a-zA-Z0-9_" : "[a-zA-Z0-9_]";
      else if (escaped == '\0' || llvm::isAlnum(escaped) || inSet)
        return refuse(entry,
                      "a pattern whose only escapes are \\d, \\w and those of "
                      "punctuation outside of sets",
                      escaped ? "\\" + llvm::Twine(escaped)
                              : llvm::Twine("a lone backslash"));
      else
        posix += {'\\', escaped};
      continue;
    }
    if (inSet) {
      inSet = c != ']';
    } else if (c == '[') {
      inSet = true;
    } else if (c == '{') {
      // A few of them nested fill all memory.
      return refuse(entry, "a pattern without counted repetitions", "{");
    } else if (python.substr(i).starts_with("(?")) {
      if (!python.substr(i).starts_with("(?:"))
        return refuse(entry,
                      "a pattern without (? but for (?:", python.substr(i, 3));
      i += 2;
    }
    posix += c;
  }
  return posix;
}

llvm::Expected<Exclusions>
Exclusions::create(const std::vector<std::string> &entries) {
  Exclusions result;
  for (llvm::StringRef entry : entries) {
    llvm::StringRef python = entry;
    if (!python.consume_front("re:")) {
      result.names.push_back(entry.str());
      continue;
    }
    llvm::Expected<std::string> posix = translate(entry, python);
    if (!posix)
      return posix.takeError();
    // From the start of the name, as Python's re.match does.
    llvm::Regex &pattern = result.patterns.emplace_back("^(" + *posix + ")");
    std::string problem;
    if (!pattern.isValid(problem))
      return refuse(entry, "a regular expression after re:", problem);
  }
  return result;
}

/// Whether `entry` is `module`, ends it or begins it, at a component's border.
static bool namesModule(llvm::StringRef entry, llvm::StringRef module) {
  if (module.consume_front(entry) &&
      (module.empty() || module.starts_with(".")))
    return true;
  return module.consume_back(entry) && module.ends_with(".");
}

bool Exclusions::contains(const std::string &module) const {
  // Fused names stand for the parts that a serving engine joins.
  llvm::SmallVector<std::string, 4> spellings = {module,
                                                 "language_model." + module};
  auto [parent, leaf] = llvm::StringRef(module).rsplit('.');
  if (leaf == "gate_proj" || leaf == "up_proj")
    spellings.push_back(parent.str() + ".gate_up_proj");
  if (leaf == "q_a_proj" || leaf == "kv_a_proj_with_mqa")
    spellings.push_back(parent.str() + ".fused_qkv_a_proj_with_mqa");
  for (const std::string &spelling : spellings) {
    for (const std::string &name : names)
      if (namesModule(name, spelling))
        return true;
    for (const llvm::Regex &pattern : patterns)
      if (pattern.match(spelling))
        return true;
  }
  return false;
}
