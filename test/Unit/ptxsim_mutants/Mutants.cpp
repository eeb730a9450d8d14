#include "test/Unit/ptxsim_mutants/Mutants.h"

#include <algorithm>
#include <bit>
#include <map>

using namespace mutants;

namespace {

const char *classOf(const Line &l) {
  if (!l.isInstruction)
    return nullptr;
  if (l.is("bar.") || l.is("barrier."))
    return "barrier";
  if (l.is("fence") || l.is("membar") || l.is("wgmma.fence"))
    return "fence";
  if (l.opcode.find("wait_group") != l.opcode.npos ||
      l.opcode.find("wait_all") != l.opcode.npos || l.is("mbarrier.try_wait") ||
      l.is("mbarrier.test_wait"))
    return "wait";
  if (l.opcode.find("commit_group") != l.opcode.npos)
    return "commit";
  if (l.is("mbarrier.arrive") || l.is("mbarrier.expect_tx") ||
      l.is("mbarrier.complete_tx") || l.is("cp.async.mbarrier"))
    return "arrive";
  if (l.is("mbarrier.init"))
    return "init";
  return nullptr;
}

bool isPolling(const Line &l) {
  return l.is("mbarrier.try_wait") || l.is("mbarrier.test_wait");
}

bool isAccess(const Line &l) {
  for (const char *prefix :
       {"ld.param", "ld.const", "ld.local", "st.local", "ld.global.nc"})
    if (l.is(prefix))
      return false;
  for (const char *prefix : {"ld", "st", "atom", "red.", "cp.async.c",
                             "cp.async.bulk", "cp.reduce", "wgmma.mma"})
    if (l.is(prefix))
      return !classOf(l);
  return false;
}

/// Can it be a fault to execute `l` after `other`, which follows it (later), or
/// before `other`, which precedes it? Moves that only order more, like a wait
/// that comes earlier, are no faults.
bool matters(const Line &l, const std::string &name, const Line &other,
             bool later, bool usesGlobal) {
  if (!other.isInstruction)
    return false;
  const char *otherName = classOf(other);
  auto is = [&](const char *n) {
    return otherName && otherName == std::string(n);
  };
  auto isShared = [&] {
    return isAccess(other) &&
           (usesGlobal || !(other.is("ld.global") || other.is("st.global")));
  };
  if (name == "commit")
    // Copies leave its group, or the group is not there to be waited for.
    return later ? is("wait")
                 : other.is(l.is("wgmma") ? "wgmma.mma" : "cp.") && !otherName;
  if (name == "init")
    return later && otherName && !is("init");
  if (l.is("wgmma.fence"))
    return later && other.is("wgmma.mma");
  if (l.is("wgmma.wait"))
    return later ? other.is("wgmma") || is("arrive") || other.is("st")
                 : is("commit");
  if (name == "wait")
    return later ? isShared() || is("barrier") || is("arrive") : is("commit");
  if (name == "arrive")
    return later ? is("wait") : isShared();
  if (l.is("fence.proxy"))
    return later ? other.is("cp.") || other.is("wgmma.mma") || is("arrive")
                 : isShared();
  if (name == "fence")
    return isAccess(other) || otherName;
  return isShared() || is("wait") || is("arrive") || is("fence") ||
         is("init") || is("commit");
}

class Maker {
public:
  Maker(const std::vector<Line> &lines, const std::vector<bool> &runs)
      : lines(lines), runs(runs), addresses(addressRegisters(lines, runs)) {
    for (const Line &l : lines)
      usesGlobal |=
          l.isInstruction && (l.is("membar") || l.is("fence.acq_rel") ||
                              l.is("fence.sc") || l.is("atom") || l.is("red."));
    for (const Line &l : lines)
      if (l.isInstruction && (l.is("bar.") || l.is("barrier.")) &&
          !l.operands.empty())
        ids.insert(l.operands[0]);
  }

  std::vector<Mutant> make() {
    for (at = 0; at < lines.size(); ++at) {
      if (!lines[at].isInstruction || !runs[at])
        continue;
      if (const char *name = classOf(lines[at]))
        order(name);
      addressing();
    }
    return std::move(out);
  }

private:
  const Line &line() const { return lines[at]; }
  static std::string written(const Line &l,
                             const std::vector<std::string> &operands) {
    std::string text = l.guard + l.opcode + " ";
    for (size_t i = 0; i < operands.size(); ++i)
      text += (i ? ", " : "") + operands[i];
    return text + ";";
  }
  void add(const std::string &kind, const std::string &what,
           std::vector<std::pair<size_t, std::string>> edits) {
    out.push_back({at, kind, what, std::move(edits), "", ""});
  }
  void replace(const std::string &kind, const std::string &what,
               const std::string &text) {
    add(kind, what, {{at, text}});
  }
  void withOperand(const std::string &kind, size_t i, const std::string &to) {
    auto operands = line().operands;
    const std::string what = operands[i] + " -> " + to;
    operands[i] = to;
    replace(kind, what, written(line(), operands));
  }
  /// Operand i comes out of `code`, in which $ is its old value and %mutant its
  /// new one.
  void computed(const std::string &kind, const std::string &what, size_t i,
                std::string code) {
    auto operands = line().operands;
    for (size_t p; (p = code.find('$')) != code.npos;)
      code.replace(p, 1, operands[i]);
    operands[i] = "%mutant";
    replace(kind, what,
            "{ .reg .b32 %mutant; " + code + " " + written(line(), operands) +
                " }");
  }

  // --- order ---

  void order(const std::string &name) {
    const Line &l = line();
    if (isPolling(l)) {
      if (l.operands[0] != "_")
        replace("drop", name,
                l.guard + "setp.eq.u32 " + l.operands[0] + ", 0, 0;");
      if (l.opcode.find(".parity") != l.opcode.npos)
        computed("parity", "other phase", 2, "xor.b32 %mutant, $, 1;");
      return;
    }
    replace("drop", name, "");
    shifts(name);
    if (l.opcode.find("wait_group") != l.opcode.npos && !l.operands.empty() &&
        isInteger(l.operands[0]))
      withOperand("weaken", 0, std::to_string(std::stoi(l.operands[0]) + 1));
    if (l.opcode.find("expect_tx") != l.opcode.npos)
      for (const char *delta : {"16", "-16"})
        computed("tx", delta, l.operands.size() - 1,
                 std::string("add.s32 %mutant, $, ") + delta + ";");
    if (name == "init")
      for (const char *delta : {"1", "-1"})
        computed("count", delta, 1,
                 std::string("add.s32 %mutant, $, ") + delta + ";");
    if (name == "barrier" && !l.is("bar.warp") && !l.is("barrier.cluster"))
      barrier();
  }

  void barrier() {
    const Line &l = line();
    const bool named =
        l.opcode.find(".red") == l.opcode.npos && l.operands.size() == 2;
    if (named)
      for (const char *delta : {"32", "-32"})
        computed("count", delta, 1,
                 std::string("add.s32 %mutant, $, ") + delta + ";");
    // With one barrier only, another number changes nothing.
    for (const std::string &id : ids)
      if (id != l.operands[0] && isInteger(id)) {
        withOperand("id", 0, id);
        return;
      }
    if (!isInteger(l.operands[0]))
      withOperand("id", 0, "1");
  }

  /// To where others see a difference: past one line that matters, and past all
  /// of the block.
  void shifts(const std::string &name) {
    std::vector<std::string> names;
    for (const std::string &operand : line().operands) {
      std::string base = baseOf(operand);
      names.push_back(base.empty() ? operand : base);
    }
    for (int step : {-1, 1}) {
      size_t near = at, far = at;
      for (size_t i = at + size_t(step);
           i < lines.size() && !lines[i].isBoundary; i += size_t(step)) {
        // Not above where its operands come from, and not below where its
        // result is used.
        bool defines = false;
        for (const std::string &operand : lines[i].operands)
          for (const std::string &n : names)
            defines |= n[0] == '%' && operand.find(n) != operand.npos;
        if (defines)
          break;
        if (matters(line(), name, lines[i], step > 0, usesGlobal)) {
          if (near == at)
            near = i;
          far = i;
        }
      }
      const std::string self = written(line(), line().operands);
      for (size_t to : {near, far}) {
        if (to == at)
          continue;
        const std::string &old = lines[to].text;
        const std::string without = old.substr(0, old.find("//"));
        add("shift",
            name + (step > 0 ? " down to " : " up to ") +
                std::to_string(to + 1),
            {{at, ""},
             {to, step > 0 ? without + " " + self : self + " " + without}});
        if (near == far)
          break;
      }
    }
  }

  // --- addresses ---

  void addressing() {
    const Line &l = line();
    for (size_t i = 0; i < l.operands.size(); ++i)
      offset(i);
    if (l.operands.size() < 2 || !addresses.contains(l.operands[0]) ||
        l.is("ld") || l.is("mbarrier"))
      return;
    const bool isXor = l.is("xor");
    bool constant = false;
    for (size_t i = 1; i < l.operands.size(); ++i)
      if (isInteger(l.operands[i])) {
        constant = true;
        change(isXor ? "swizzle" : "index", i);
      }
    if (isXor && !constant && l.operands.size() == 3) {
      Line moved = l;
      moved.opcode = "mov" + l.opcode.substr(l.opcode.find('.'));
      moved.operands.pop_back();
      probed("swizzle", "no xor", moved);
    }
  }

  /// [%r1+16]: an access of the same size further on.
  void offset(size_t i) {
    const Line &l = line();
    const std::string &o = l.operands[i];
    size_t plus = o.find('+');
    if (o[0] != '[' || o[1] != '%' || plus == o.npos || o.back() != ']' ||
        o.find(',') != o.npos || l.is("ld.param"))
      return;
    std::string number = o.substr(plus + 1, o.size() - plus - 2);
    if (!isInteger(number))
      return;
    const long value = std::stol(number, nullptr, 0);
    const long unit = value ? value & -value : 16;
    withOperand("index", i,
                o.substr(0, plus + 1) + std::to_string(value + unit) + "]");
    if (!l.is("ld."))
      return;
    const std::string type = l.opcode.substr(l.opcode.rfind('.') + 2);
    if (type != "32" && type != "64" && type != "16")
      return;
    std::string name;
    for (char c : l.operands[0] + ",") {
      if (c == ',')
        out.back().garbage +=
            l.guard + "mov.b" + type + " " + name + ", 21845; ",
            name.clear();
      else if (c != '{' && c != '}' && c != ' ')
        name += c;
    }
  }

  void change(const std::string &kind, size_t i) {
    const Line &l = line();
    const bool moves = l.is("mov"), masks = l.is("and"), joins = l.is("or"),
               adds = l.is("add") || l.is("sub"),
               shifts = l.is("shl") || l.is("shr"),
               multiplies = l.is("mul") || l.is("mad"), mixes = l.is("xor");
    if (!(moves || masks || joins || adds || shifts || multiplies || mixes))
      return;
    unsigned long long bits =
        l.operands[i][0] == '-'
            ? uint64_t(std::stoll(l.operands[i], nullptr, 0))
            : std::stoull(l.operands[i], nullptr, 0);
    const auto value = int64_t(bits);
    const int64_t low = value ? value & -value : 1;
    auto to = [&](int64_t changed, const char *as = nullptr) {
      Line other = l;
      other.operands[i] = std::to_string(changed);
      probed(as ? as : kind, l.operands[i] + " -> " + other.operands[i], other);
    };
    if (joins && bits >> 32) {
      // A matrix descriptor: the distance of groups of rows, and the swizzle.
      to(int64_t(bits ^ 1ull << 39)), to(int64_t(bits ^ 1ull << 62), "swizzle");
      return;
    }
    if (multiplies && (value < -65536 || value > 65536))
      return; // a reciprocal
    if (moves || adds)
      to(value + low);
    else if (shifts || multiplies)
      to(value + 1);
    else if (masks)
      to(value ^ low);
    else
      for (int64_t bit : {low, low << 1})
        to(value ^ bit);
  }

  /// A mutant that computes operand 0 in another way: traps if that makes a
  /// difference.
  void probed(const std::string &kind, const std::string &what,
              const Line &changed) {
    const Line &l = line();
    const std::string text = written(changed, changed.operands);
    replace(kind, what, text);
    const std::string type = l.opcode.substr(l.opcode.rfind('.') + 1);
    const bool is64 =
        type.ends_with("64") || l.is("mul.wide") || l.is("mad.wide");
    if (!is64 && !type.ends_with("32"))
      return;
    const std::string bits = is64 ? "64" : "32";
    out.back().garbage =
        l.guard + "mov.b" + bits + " " + l.operands[0] + ", 1431655765;";
    Line other = changed;
    other.operands[0] = "%mutant";
    out.back().probe =
        "{ .reg .b" + bits + " %mutant; .reg .pred %differs; " +
        written(other, other.operands) + " " + written(l, l.operands) +
        " setp.ne.u32 %differs, 0, 0; " + l.guard + "setp.ne.b" + bits +
        " %differs, %mutant, " + l.operands[0] + "; @%differs trap; }";
  }

  const std::vector<Line> &lines;
  const std::vector<bool> &runs;
  bool usesGlobal = false; ///< threads talk through global memory
  std::set<std::string> addresses, ids;
  std::vector<Mutant> out;
  size_t at = 0;
};

} // namespace

std::vector<Mutant> mutants::mutantsOf(const std::vector<Line> &lines,
                                       const std::vector<bool> &runs) {
  return Maker(lines, runs).make();
}

std::string mutants::apply(const std::vector<Line> &lines,
                           const Mutant &mutant) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string *line = &lines[i].text;
    for (const auto &[at, to] : mutant.edits)
      if (at == i)
        line = &to;
    text += *line, text += '\n';
  }
  return text;
}

std::string mutants::with(const std::vector<Line> &lines, size_t line,
                          const std::string &to) {
  return apply(lines, {line, "", "", {{line, to}}, "", ""});
}
