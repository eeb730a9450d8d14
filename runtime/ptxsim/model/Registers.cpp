#include "runtime/ptxsim/model/Registers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace ptxsim;
using nlohmann::json;

namespace {

Result<std::map<std::string, uint32_t>> readJson(const std::string &text,
                                                 const std::string &file) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded())
    return Status::error(fmt::format("{}: not JSON", file));
  std::map<std::string, uint32_t> registers;
  for (const auto &item : root.items()) {
    const json &v = item.value();
    if (!v.is_number_unsigned() || v == 0 || v > 255)
      return Status::error(
          fmt::format("{}: {}: expected a number of registers from 1 to 255, "
                      "but got {}",
                      file, item.key(), v.dump()));
    registers[item.key()] = v.get<uint32_t>();
  }
  return registers;
}

} // namespace

Result<std::map<std::string, uint32_t>>
ptxsim::readRegisters(const std::string &text, const std::string &file) {
  if (text.find_first_not_of(" \t\r\n") != text.npos &&
      text[text.find_first_not_of(" \t\r\n")] == '{')
    return readJson(text, file);
  std::map<std::string, uint32_t> registers;
  std::istringstream in(text);
  std::string entry;
  const std::string compiling = "Compiling entry function '", used = "Used ";
  for (std::string line; std::getline(in, line);) {
    if (const size_t at = line.find(compiling); at != line.npos) {
      const size_t begin = at + compiling.size();
      entry = line.substr(begin, line.find('\'', begin) - begin);
    } else if (const size_t at = line.find(used);
               at != line.npos && line.find(" registers", at) != line.npos &&
               !entry.empty()) {
      registers[entry] =
          uint32_t(std::strtoul(line.c_str() + at + used.size(), nullptr, 10));
      entry.clear();
    }
  }
  if (registers.empty())
    return Status::error(fmt::format(
        "{}: expected the output of ptxas -v or a JSON object, but found no "
        "'Compiling entry function' with 'Used N registers'",
        file));
  return registers;
}
