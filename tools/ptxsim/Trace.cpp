// --trace: values of a warp's registers, at a line or whenever one changes.

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/FaultText.h"
#include "runtime/ptxsim/Observer.h"
#include "tools/ptxsim/Arguments.h"
#include "tools/ptxsim/Error.h"
#include "tools/ptxsim/Extension.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

/// A register as it was declared.
struct Traced {
  uint32_t row = 0;
  Type type = Type::None;
  std::string name;
  bool operator==(const Traced &o) const { return row == o.row; }
};

using Lanes = std::array<uint64_t, warpSize>;

Lanes valuesOf(Warp &w, const Traced &r) {
  Lanes v{};
  for (unsigned l = 0; l < warpSize; ++l)
    if (r.type == Type::Pred)
      v[l] = w.word(r.row) >> l & 1;
    else
      switch (std::max(16u, bitsOf(r.type))) {
      case 16:
        v[l] = w.row<uint16_t>(r.row)[l];
        break;
      case 32:
        v[l] = w.row<uint32_t>(r.row)[l];
        break;
      default:
        v[l] = w.row<uint64_t>(r.row)[l];
      }
  return v;
}

/// As the declaration says: .f32 1.5, .s32 -1, .u32 and .pred decimal, .b32
/// hexadecimal.
std::string format(Type type, uint64_t bits) {
  if (type == Type::F32)
    return fmt::format("{}", std::bit_cast<float>(uint32_t(bits)));
  if (type == Type::F64)
    return fmt::format("{}", std::bit_cast<double>(bits));
  if (isSigned(type)) {
    const unsigned shift = 64 - bitsOf(type);
    return fmt::format("{}", int64_t(bits << shift) >> shift);
  }
  if (isUnsigned(type) || type == Type::Pred)
    return fmt::format("{}", bits);
  return fmt::format("{:#x}", bits);
}

class Trace : public Extension, Observer {
public:
  void addOptions(CLI::App &app) override {
    options = &app;
    const auto text = [&](const char *name, std::string &value,
                          const char *type, const char *help) {
      app.add_option(name, value, help)->type_name(type)->group("Tracing");
    };
    app.add_option("--trace", specs,
                   "LINE: the registers of the instructions on this line of "
                   "PTX, after they have executed; REG (%r1): its value "
                   "whenever it changes")
        ->type_name("LINE|REG")
        ->group("Tracing")
        ->allow_extra_args(false)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    text("--trace-cta", ctaText, "X[,Y[,Z]]", "of which CTA (default 0)");
    text("--trace-warp", warpText, "N", "of which warp (default 0)");
    text("--trace-lane", laneText, "N", "of which lane only (default: all)");
    text("--trace-limit", limitText, "N", "lines at most (default 1000)");
  }

  Observer *beforeLaunch(const Module &m, const Kernel &kernel) override {
    if (specs.empty()) {
      for (const char *name :
           {"--trace-cta", "--trace-warp", "--trace-lane", "--trace-limit"})
        if (options->get_option(name)->count())
          fail("{}: expected --trace=LINE or --trace=REG beside it", name);
      return nullptr;
    }
    std::vector<uint64_t> at = parseNumbers("--trace-cta", ctaText, ',');
    if (at.size() > 3)
      fail("--trace-cta: expected at most three numbers, but got '{}'",
           ctaText);
    at.resize(3);
    cta = {uint32_t(at[0]), uint32_t(at[1]), uint32_t(at[2])};
    warp = one("--trace-warp", warpText, 31);
    if (!laneText.empty())
      lane = unsigned(one("--trace-lane", laneText, 31));
    left = one("--trace-limit", limitText, ~0ull);
    if (!left)
      fail("--trace-limit: expected a number of lines from 1, but got 0");
    const auto &module = static_cast<const ModuleImpl &>(m);
    function = &module.functions[size_t(&kernel - module.entries.data())];
    for (const std::string &spec : specs)
      add(spec);
    return this;
  }

  void afterLaunch(const Launched &launched) override {
    if (specs.empty() || any)
      return;
    const Dim3 grid = launched.grid, block = launched.block;
    const uint64_t warps =
        (uint64_t(block.x) * block.y * block.z + warpSize - 1) / warpSize;
    if (cta.x >= grid.x || cta.y >= grid.y || cta.z >= grid.z)
      fail("--trace-cta: expected a CTA of the grid of ({},{},{}), but got "
           "({},{},{})",
           grid.x, grid.y, grid.z, cta.x, cta.y, cta.z);
    if (warp >= warps)
      fail("--trace-warp: expected a warp below {}, but got {}", warps, warp);
    fmt::print(stderr, "--trace: warp {} of CTA ({},{},{}) has {}\n", warp,
               cta.x, cta.y, cta.z,
               !seen           ? "not been executed"
               : lines.empty() ? "not changed that register in such lanes"
                               : "not executed that line in such lanes");
  }

private:
  static uint64_t one(const char *option, const std::string &text,
                      uint64_t most) {
    const std::vector<uint64_t> n = parseNumbers(option, text, ',');
    if (n.size() != 1 || n[0] > most)
      fail("{}: expected a number up to {}, but got '{}'", option, most, text);
    return n[0];
  }

  void add(const std::string &spec) {
    if (spec.find_first_not_of("0123456789") == spec.npos) {
      const uint64_t line = one("--trace", spec, 0xffffffff);
      if (std::none_of(function->infos.begin(), function->infos.end(),
                       [&](const OpInfo &info) { return info.line == line; }))
        fail("--trace={}: entry '{}' has no instruction on line {}", spec,
             function->kernel.name, line);
      lines.push_back(uint32_t(line));
      return;
    }
    const size_t before = changing.size();
    for (const RegisterName &n : function->registerNames)
      for (uint32_t i = 0; i < std::max(n.count, 1u); ++i)
        if (spec ==
            (n.range ? fmt::format("{}{}", n.name, i) : std::string(n.name)))
          changing.push_back({n.row + i * n.stride, n.type, spec});
    if (changing.size() == before)
      fail("--trace={}: expected a line or a register of entry '{}' ({})", spec,
           function->kernel.name, someRegisters());
    last.resize(changing.size());
    known.resize(changing.size());
  }

  /// As they were declared: %r<40> are %r0 to %r39.
  std::string someRegisters() const {
    constexpr size_t most = 12;
    std::vector<std::string> names;
    for (const RegisterName &n : function->registerNames) {
      const std::string name = n.range ? fmt::format("{}<{}>", n.name, n.count)
                                       : std::string(n.name);
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
    if (names.size() > most)
      names.resize(most), names.push_back("...");
    return names.empty() ? "it has none"
                         : fmt::format("{}", fmt::join(names, " "));
  }

  bool watches(const Warp &w) const {
    const Dim3 id = w.cta->id;
    return w.function == function && w.index == warp && id.x == cta.x &&
           id.y == cta.y && id.z == cta.z;
  }

  void issue(Warp &w, const Op &, uint32_t) override {
    if (!watches(w))
      return;
    seen = true;
    for (size_t i = 0; i < changing.size(); ++i)
      if (!known[i])
        last[i] = valuesOf(w, changing[i]), known[i] = true;
  }

  void executed(Warp &w, const Op &op, uint32_t mask, uint32_t again) override {
    if (!watches(w))
      return;
    const OpInfo &info = function->infos[w.indexOf(op)];
    for (size_t i = 0; i < changing.size(); ++i) {
      const Lanes now = valuesOf(w, changing[i]);
      if (now == last[i])
        continue;
      uint32_t changed = 0;
      for (unsigned l = 0; l < warpSize; ++l)
        changed |= uint32_t(now[l] != last[i][l]) << l;
      last[i] = now;
      print(info, changed, changing[i], now);
    }
    if ((mask & ~again) &&
        std::find(lines.begin(), lines.end(), info.line) != lines.end())
      for (const Traced &r : registersOf(op))
        print(info, mask & ~again, r, valuesOf(w, r));
  }

  /// All that an op names.
  std::vector<Traced> registersOf(const Op &op) const {
    const size_t index = size_t(&op - function->ops.data());
    std::vector<uint32_t> rows;
    if (index + 1 < function->operandStart.size())
      rows.assign(function->operandRows.begin() + function->operandStart[index],
                  function->operandRows.begin() +
                      function->operandStart[index + 1]);
    // wgmma has its registers in a list only.
    if (rows.empty() && function->infos[index].form.starts_with("wgmma.mma"))
      rows.assign(op.list, op.list + op.count);
    std::vector<Traced> found;
    for (uint32_t row : rows)
      for (const RegisterName &n : function->registerNames)
        if (row >= n.row && row - n.row < n.stride * std::max(n.count, 1u)) {
          const Traced r{row, n.type, registerName(*function, row)};
          if (std::find(found.begin(), found.end(), r) == found.end())
            found.push_back(r);
        }
    return found;
  }

  void print(const OpInfo &info, uint32_t mask, const Traced &r,
             const Lanes &values) {
    if (lane && !(mask >> *lane & 1))
      return;
    any = true;
    if (!left)
      return;
    std::string text;
    if (lane) {
      text = fmt::format("lane {}: {}", *lane, format(r.type, values[*lane]));
    } else {
      bool same = true;
      for (unsigned l = 0; l < warpSize; ++l)
        same &= !(mask >> l & 1) ||
                values[l] == values[unsigned(std::countr_zero(mask))];
      if (same)
        text = fmt::format(
            "lanes {:#x}: {}", mask,
            format(r.type, values[unsigned(std::countr_zero(mask))]));
      else
        for (unsigned l = 0; l < warpSize; ++l)
          text += (l ? " " : "") + (mask >> l & 1 ? format(r.type, values[l])
                                                  : std::string("-"));
    }
    fmt::print("{}:{}: {}: {} = {}\n", function->module->filename, info.line,
               info.form, r.name, text);
    if (!--left)
      fmt::print("(--trace-limit reached)\n");
  }

  std::vector<std::string> specs;
  std::string ctaText = "0", warpText = "0", laneText, limitText = "1000";
  const Function *function = nullptr;
  Dim3 cta;
  uint64_t warp = 0, left = 0;
  bool seen = false, any = false; ///< the warp; something to print
  const CLI::App *options = nullptr;
  std::optional<unsigned> lane;
  std::vector<uint32_t> lines;
  std::vector<Traced> changing;
  std::vector<Lanes> last;
  std::vector<bool> known;
};

} // namespace

std::unique_ptr<Extension> tool::makeTrace() {
  return std::make_unique<Trace>();
}
