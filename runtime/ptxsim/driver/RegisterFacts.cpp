#include "runtime/ptxsim/driver/RegisterFacts.h"
#include "runtime/ptxsim/model/Registers.h"

#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

Result<RegisterFacts> readFacts(const std::string &value) {
  const auto wrong = [&] {
    return Status::error(fmt::format(
        "registers: expected none, a number from 1 to 255, or a file "
        "with the output of ptxas -v or JSON, but got '{}'",
        value));
  };
  RegisterFacts facts;
  if (value == "none")
    return facts;
  if (!value.empty() &&
      value.find_first_not_of("0123456789") == std::string::npos) {
    std::from_chars(value.data(), value.data() + value.size(), facts.all);
    if (facts.all < 1 || facts.all > 255)
      return wrong();
    return facts;
  }
  std::ifstream file(value);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf()))
    return wrong();
  auto byKernel = readRegisters(std::move(content).str(), value);
  if (!byKernel)
    return Status::error("registers: " + byKernel.message());
  facts.byKernel = std::move(*byKernel);
  return facts;
}

} // namespace

uint32_t RegisterFacts::of(const std::string &kernel) const {
  auto it = byKernel.find(kernel);
  return it == byKernel.end() ? all : it->second;
}

Status ptxsim::cuda::readDriverOptions(std::string_view text,
                                       DeviceOptions &options,
                                       RegisterFacts &registers) {
  constexpr std::string_view name = "registers=";
  DeviceOptions changed = options;
  RegisterFacts facts = registers;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (!item.starts_with(name)) {
      if (Status status = readOptions(item, changed); !status)
        return status;
      continue;
    }
    auto read = readFacts(std::string(item.substr(name.size())));
    if (!read)
      return read.status();
    facts = std::move(*read);
  }
  options = changed;
  registers = std::move(facts);
  return {};
}
