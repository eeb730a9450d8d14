#include "runtime/ptxsim/FunctionBuilder.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

/// Bytes of a register's row: 32 lanes of 2, 4 or 8 bytes; a predicate is one
/// word.
uint32_t rowBytes(Type type) {
  if (type == Type::Pred)
    return 4;
  return std::max(16u, bitsOf(type)) / 8 * warpSize;
}

unsigned widthIndex(unsigned bits) {
  return bits <= 16 ? 0 : bits == 32 ? 1 : 2;
}

struct Family {
  std::string_view opcode;
  DecodeFn decode;
};
constexpr Family families[] = {
#define PTXSIM_OPCODE(opcode, decode) {opcode, decode},
#include "runtime/ptxsim/Opcodes.def"
#undef PTXSIM_OPCODE
};

const std::unordered_map<std::string_view, std::vector<DecodeFn>> &
opcodeTable() {
  static const auto table = [] {
    std::unordered_map<std::string_view, std::vector<DecodeFn>> t;
    for (const Family &family : families)
      t[family.opcode].push_back(family.decode);
    return t;
  }();
  return table;
}

} // namespace

uint32_t FunctionBuilder::allocate(uint32_t bytes) {
  uint32_t row = f.registerBytes;
  bytes = (bytes + 63) / 64 * 64;
  // Far more than the hardware has: 262,144 registers of 64 bits.
  if (bytes > (1u << 26) - std::min(row, 1u << 26))
    scanner.error("too many registers");
  f.registerBytes += bytes;
  return row;
}

void FunctionBuilder::declareRegister(Type type, std::string_view name,
                                      uint32_t count, bool range) {
  uint32_t stride = rowBytes(type);
  if (count > 1u << 20)
    error("too many registers");
  uint32_t row = allocate(stride * std::max(count, 1u));
  f.registers.push_back({row, stride * std::max(count, 1u)});
  if (inFunction())
    f.callees[uint32_t(current)].registers.push_back(
        {row, std::max(count, 1u), stride});
  f.registerNames.push_back({name, row, stride, count, type, range});
  f.kernel.registers += count;
  const bool isNew =
      range ? scopes.back()
                  .ranges.try_emplace(name, Range{count, row, stride, type})
                  .second
            : scopes.back()
                  .registers.try_emplace(name, Register{row, type})
                  .second;
  if (!isNew)
    scanner.error(fmt::format("register '{}' is already declared", name));
}

std::optional<Operand>
FunctionBuilder::findRegister(std::string_view name) const {
  auto operand = [](uint32_t row, Type type) {
    Operand o;
    o.kind = type == Type::Pred ? Operand::Predicate : Operand::Register;
    o.row = row;
    o.bits = uint8_t(std::max(16u, bitsOf(type)));
    return o;
  };
  size_t digits = name.size();
  while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  std::string_view prefix = name.substr(0, digits),
                   suffix = name.substr(digits);
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (!scope->registers.empty())
      if (auto it = scope->registers.find(name); it != scope->registers.end())
        return operand(it->second.row, it->second.type);
    if (suffix.empty() || suffix.size() > 7 ||
        (suffix.size() > 1 && suffix[0] == '0'))
      continue;
    auto it = scope->ranges.find(prefix);
    if (it == scope->ranges.end())
      continue;
    const Range &range = it->second;
    uint32_t index = 0;
    for (char c : suffix)
      index = index * 10 + uint32_t(c - '0');
    if (index < range.count)
      return operand(range.row + index * range.stride, range.type);
  }
  return std::nullopt;
}

const Variable *FunctionBuilder::findVariable(std::string_view name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto it = scope->variables.find(name); it != scope->variables.end())
      return &it->second;
  auto it = outer.find(name);
  return it == outer.end() ? nullptr : &it->second;
}

Variable FunctionBuilder::declareInFrame(std::string_view name, uint64_t size,
                                         uint32_t align, bool isTemporary) {
  constexpr uint32_t limit = 512 * 1024;
  const uint64_t offset = (uint64_t(frameEnd) + align - 1) / align * align;
  if (size > limit || offset + size > limit)
    error("local memory of more than 512 KiB");
  frameEnd = uint32_t(offset + size);
  frameMost = std::max(frameMost, frameEnd);
  if (!isTemporary)
    for (Scope &scope : scopes)
      scope.keepsFrame = true;
  Variable v{Space::Local, offset,       size,       align,
             false,        inFunction(), isTemporary};
  scopes.back().variables[name] = v;
  return v;
}

const std::vector<std::string_view> *
FunctionBuilder::findTargets(std::string_view name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto it = scope->targets.find(name); it != scope->targets.end())
      return &it->second;
  return nullptr;
}

void FunctionBuilder::declareLabel(std::string_view name, Position at) {
  if (!scopes.back().labels.try_emplace(name, uint32_t(f.ops.size())).second)
    throw LoadError{at, fmt::format("label '{}' is already defined", name)};
}

bool FunctionBuilder::knows(std::string_view opcode) {
  return opcodeTable().contains(opcode.substr(0, opcode.find('.')));
}

void FunctionBuilder::closeScope() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  if (!scope.keepsFrame)
    frameEnd = scope.frameBase;
  for (const Fixup &fixup : scope.fixups) {
    auto it = scope.labels.find(fixup.label);
    if (it != scope.labels.end())
      jumps[fixup.op].targets[fixup.index] = it->second;
    else if (!scopes.empty())
      scopes.back().fixups.push_back(fixup);
    else
      throw LoadError{fixup.position,
                      fmt::format("label '{}' is not defined", fixup.label)};
  }
}

uint32_t FunctionBuilder::constant(uint64_t value, unsigned bits,
                                   bool dynamicShared) {
  if (bits < 64)
    value &= (1ull << bits) - 1;
  bits = std::max(16u, bits);
  auto &rows = (dynamicShared ? dynamicRows : constantRows)[widthIndex(bits)];
  auto [it, isNew] = rows.try_emplace(value, 0);
  if (isNew) {
    it->second = allocate(bits / 8 * warpSize);
    f.constants.push_back({it->second, bits, value, dynamicShared});
  }
  return it->second;
}

uint32_t FunctionBuilder::frameRow(uint64_t offset, unsigned bits) {
  bits = std::max(16u, bits);
  auto [it, isNew] = frameRows[widthIndex(bits)].try_emplace(offset, 0);
  if (isNew) {
    it->second = allocate(bits / 8 * warpSize);
    f.callees[uint32_t(current)].frameRows.push_back(
        {it->second, bits, offset});
  }
  return it->second;
}

uint32_t FunctionBuilder::special(Special which, unsigned bits) {
  bits = std::max(16u, bits);
  auto [it, isNew] = specialRows.try_emplace(uint32_t(which) << 8 | bits, 0);
  if (isNew) {
    it->second = allocate(bits / 8 * warpSize);
    f.specials.push_back({it->second, bits, which});
  }
  return it->second;
}

uint32_t FunctionBuilder::scratch(unsigned bits) {
  // One row serves as every sink: nothing reads it.
  return special(Special::Scratch, std::max(64u, bits));
}

void FunctionBuilder::setLoc(uint32_t file, uint32_t line, uint32_t column) {
  if (f.locs.empty())
    f.locs.emplace_back();
  f.locs.push_back({file, line, column});
  loc = uint32_t(f.locs.size() - 1);
}

void FunctionBuilder::instruction(std::string_view opcode,
                                  PredicateSource guardOf,
                                  std::span<const Operand> operands,
                                  Position at, std::string_view textOf) {
  position = at;
  guard = guardOf;
  form = opcode;
  text = textOf;
  allModifiers.clear();
  size_t dot = opcode.find('.');
  decoder.base = opcode.substr(0, dot);
  while (dot != std::string_view::npos) {
    size_t next = opcode.find('.', dot + 1);
    allModifiers.push_back(opcode.substr(
        dot + 1, next == std::string_view::npos ? next : next - dot - 1));
    dot = next;
  }
  auto it = opcodeTable().find(decoder.base);
  decoder.operands = operands;
  for (DecodeFn decode : it->second) {
    modifiers = allModifiers;
    decoder.modifiers = modifiers;
    named.clear();
    if (decode(decoder))
      return noteOperands(operands);
  }
  error(fmt::format("unsupported form '{}' in '{}'", opcode, text));
}

/// For the checks of wgmma and of undefined registers: which registers the
/// instruction names.
void FunctionBuilder::noteOperands(std::span<const Operand> operands) {
  auto visit = [this](auto &self, const Operand &o) -> void {
    if (o.kind == Operand::Register || o.kind == Operand::Address)
      f.operandRows.push_back(o.row);
    for (const Operand &e : o.elements)
      self(self, e);
  };
  const size_t before = f.operandRows.size();
  size_t first = 0;
  if (decoder.base != "wgmma")
    for (const Operand &o : operands) {
      visit(visit, o);
      if (&o == operands.data())
        first = f.operandRows.size() - before;
    }
  f.firstOperandRows.resize(f.ops.size());
  if (!f.ops.empty())
    f.firstOperandRows.back() = uint32_t(first);
  // One instruction may have become several ops: the last one has them all.
  f.operandStart.resize(f.ops.size(),
                        f.operandStart.empty() ? 0 : f.operandStart.back());
  f.operandStart.push_back(uint32_t(f.operandRows.size()));
  if (!f.module->checksUndefined)
    return;
  for (const Operand &o : operands)
    if (o.kind == Operand::Address && o.isRegister)
      note(o.row, o.bits, RegisterUse::Address);
  useStart.resize(f.ops.size(), useStart.empty() ? 0 : useStart.back());
  uses.insert(uses.end(), named.begin(), named.end());
  useStart.push_back(uint32_t(uses.size()));
}

Op &FunctionBuilder::emit(Handler handler) {
  Op &op = f.ops.emplace_back();
  op.fn = handler;
  op.guard = guard.row;
  op.guardFlip = guard.flip;
  f.infos.push_back({position.line, position.column, loc, form});
  return op;
}

void FunctionBuilder::jump(Jump kind,
                           std::span<const std::string_view> labels) {
  uint32_t index = uint32_t(f.ops.size() - 1);
  JumpInfo &info = jumps[index];
  info.kind = kind;
  info.function = kind == Jump::Return ? current : -1;
  branchTargets += labels.size();
  if (branchTargets > 1u << 20)
    error("more than 1048576 targets of branches");
  info.targets.resize(labels.size());
  for (size_t i = 0; i < labels.size(); ++i)
    scopes.back().fixups.push_back({index, i, labels[i], position});
}

void FunctionBuilder::beginFunction(uint32_t index) {
  current = int(index);
  frameEnd = frameMost = 0;
  for (auto &rows : frameRows)
    rows.clear();
  f.callees[index].entry = uint32_t(f.ops.size());
  loc = 0;
}

void FunctionBuilder::endFunction() {
  if (inFunction())
    f.callees[uint32_t(current)].frameBytes = frameMost;
  else
    f.localBytes = frameMost;
}

void FunctionBuilder::call(CallSite site, std::string_view formOf,
                           PredicateSource guardOf, Position at,
                           std::string_view textOf) {
  position = at;
  guard = guardOf;
  form = formOf;
  text = textOf;
  const CallSite &kept = f.callSites.emplace_back(std::move(site));
  Op &op = emit(callFunction);
  op.imm = reinterpret_cast<uint64_t>(&kept);
  op.flags = Control;
  jump(Jump::Call);
  callEdges.push_back({uint32_t(f.ops.size() - 1), current, &kept});
  decoder.base = "call";
  named.clear();
  for (const Actual &a : kept.arguments)
    if (!a.isMemory && isRegister(a.row))
      note(a.row, a.bits, RegisterUse::Reads);
  for (const Actual &a : kept.places)
    if (!a.isMemory)
      note(a.row, a.bits, RegisterUse::Writes);
  noteOperands({});
}

/// How much local memory the frames need; 0 if that has no bound. Marks the
/// functions that may be active twice.
uint32_t FunctionBuilder::layoutStack() {
  // Nodes: the callees, and one for the functions that pointers may mean.
  const size_t n = f.callees.size(), hub = n;
  std::vector<std::vector<uint32_t>> to(n + 1), from(n + 1);
  std::vector<uint32_t> roots;
  auto edge = [&](size_t a, size_t b) {
    to[a].push_back(uint32_t(b)), from[b].push_back(uint32_t(a));
  };
  bool hasIndirect = false;
  for (const CallEdge &e : callEdges) {
    const bool indirect = e.site->callee == CallSite::Indirect;
    hasIndirect |= indirect;
    const uint32_t target = indirect ? uint32_t(hub) : e.site->callee;
    e.caller < 0 ? roots.push_back(target) : edge(size_t(e.caller), target);
  }
  if (hasIndirect)
    for (size_t c = 0; c < n; ++c)
      if (f.callees[c].address)
        edge(hub, c);
  // What is left after taking away nodes without callers and without callees,
  // again and again, is on a cycle or between two.
  std::vector<uint32_t> order;
  std::vector<uint8_t> gone(n + 1, 0);
  for (bool forwards : {true, false}) {
    std::vector<uint32_t> degree(n + 1, 0), ready;
    for (size_t i = 0; i <= n; ++i)
      if (!gone[i])
        for (uint32_t j : forwards ? to[i] : from[i])
          ++degree[j];
    for (size_t i = 0; i <= n; ++i)
      if (!gone[i] && !degree[i])
        ready.push_back(uint32_t(i));
    while (!ready.empty()) {
      const uint32_t i = ready.back();
      ready.pop_back();
      gone[i] = 1;
      if (forwards)
        order.push_back(i);
      for (uint32_t j : forwards ? to[i] : from[i])
        if (!--degree[j] && !gone[j])
          ready.push_back(j);
    }
  }
  bool bounded = true;
  for (size_t i = 0; i <= n; ++i)
    if (!gone[i]) {
      bounded = false;
      if (i < n)
        f.callees[i].recursive = true;
    }
  if (!bounded)
    return 0;
  std::vector<uint64_t> need(n + 1, 0);
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    uint64_t below = 0;
    for (uint32_t j : to[*i])
      below = std::max(below, need[j]);
    // A frame begins at a multiple of 16 and has 16 bytes at least.
    const uint64_t own =
        *i == hub ? 0
                  : std::max(16u, (f.callees[*i].frameBytes + 15) / 16 * 16);
    need[*i] = own + below;
  }
  uint64_t most = 16;
  for (uint32_t root : roots)
    most = std::max(most, need[root]);
  if (most > 512 * 1024)
    error("functions that need more than 512 KiB of stack");
  return uint32_t(most);
}

void FunctionBuilder::finish(uint32_t stack) {
  if (!f.callees.empty()) {
    const uint32_t need = layoutStack();
    f.stackBase = (f.localBytes + 15) / 16 * 16;
    f.localBytes = f.stackBase + (need ? need : stack);
  }
  for (auto &[index, info] : jumps) {
    Op &op = f.ops[index];
    for (uint32_t target : info.targets)
      if (target >= f.ops.size())
        error("a label behind the last instruction");
    if (info.kind == Jump::Branch)
      op.target = info.targets[0];
    if (info.kind == Jump::Indexed) {
      op.list = list(info.targets);
      op.count = uint16_t(info.targets.size());
    }
  }
  orderBlocks();
  if (f.module->checksUndefined && !f.ops.empty())
    planUndefined();
  f.raceFacts = raceFactsOf(f);
}
