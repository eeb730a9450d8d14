#include "runtime/ptxsim/Parser.h"
#include "runtime/ptxsim/Warp.h"

#include <fmt/format.h>

using namespace ptxsim;

namespace {
constexpr size_t poolSize = 4096;
} // namespace

void Parser::instruction(FunctionBuilder &b, std::string_view opcode,
                         PredicateSource guard, Position at,
                         const char *begin) {
  operands.clear();
  pool.clear();
  pool.reserve(poolSize); // spans point into it
  if (opcode == "call" || opcode == "call.uni")
    return call(b, opcode, guard, at, begin);
  if (!FunctionBuilder::knows(opcode))
    throw LoadError{at, fmt::format("unsupported instruction '{}'", opcode)};
  while (!s.accept(';')) {
    if (!operands.empty())
      s.expect(',', "between operands");
    operands.push_back(operand(b));
  }
  std::string_view text(begin, size_t(s.here() - begin));
  b.instruction(opcode, guard, operands, at, text);
}

PredicateSource Parser::guard(FunctionBuilder &b) {
  bool negated = s.accept('!');
  std::string_view name = s.name();
  auto reg = b.findRegister(name);
  if (!reg || reg->kind != Operand::Predicate)
    s.error(fmt::format("expected a predicate register as guard, but got '{}'",
                        name));
  return {reg->row, negated ? allLanes : 0};
}

Operand Parser::operand(FunctionBuilder &b) {
  if (s.accept('[')) {
    Operand o = address(b);
    s.expect(']', "after an address");
    return o;
  }
  if (s.accept('{')) {
    Operand o;
    o.kind = Operand::Vector;
    size_t first = pool.size();
    if (!s.accept('}')) {
      do {
        if (pool.size() >= poolSize)
          s.error("too many operands");
        pool.push_back(element(b));
      } while (s.accept(','));
      s.expect('}', "after a vector");
    }
    o.elements = std::span<const Operand>(pool).subspan(first);
    return o;
  }
  Operand o = element(b);
  if (s.accept('|')) {
    Operand second = element(b);
    size_t first = pool.size();
    if (first + 2 > poolSize)
      s.error("too many operands");
    pool.push_back(o);
    pool.push_back(second);
    Operand pair;
    pair.kind = Operand::Pair;
    pair.elements = std::span<const Operand>(pool).subspan(first, 2);
    return pair;
  }
  return o;
}

Operand Parser::element(FunctionBuilder &b) {
  char c = s.peek();
  if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.') {
    Scanner::Number n = s.number();
    Operand o;
    o.kind = n.isFloat ? Operand::Float : Operand::Integer;
    o.single = n.single;
    o.imm = n.value;
    return o;
  }
  if (s.accept('!')) {
    Operand o = named(b, s.name());
    if (o.kind != Operand::Predicate)
      s.error("expected a predicate register after '!'");
    o.negated = true;
    return o;
  }
  std::string_view name = s.name();
  if (name.empty())
    s.error(c ? fmt::format("unexpected '{}' in an operand", c)
              : "an instruction that does not end");
  return named(b, name);
}

Operand Parser::named(FunctionBuilder &b, std::string_view name) {
  if (name.empty())
    s.error("expected a name in an operand");
  if (auto reg = b.findRegister(name))
    return *reg;
  Operand o;
  o.text = name;
  if (name == "_")
    return o;
  if (name[0] == '%') {
    // %tid.x: the component belongs to the name.
    std::string_view component;
    if (s.peek() == '.')
      component = s.dottedName();
    o.kind = Operand::Special;
    o.text =
        std::string_view(name.data() + 1, name.size() - 1 + component.size());
    if (component.size() && component.data() != name.data() + name.size())
      s.error(fmt::format("unexpected '{}'", component));
    return o;
  }
  if (name == "WARP_SZ") {
    o.kind = Operand::Integer;
    o.imm = warpSize;
    return o;
  }
  if (auto variable = findSymbol(b, name)) {
    o.kind = Operand::Symbol;
    o.space = variable->space;
    o.imm = variable->address;
    o.dynamicShared = variable->dynamicShared;
    o.inFrame = variable->inFrame;
    if (s.peek() == '+' || s.peek() == '-')
      o.imm += uint64_t(s.integer());
    return o;
  }
  if (Declared *d = findFunction(name)) {
    d->addressTaken = true;
    o.kind = Operand::Symbol;
    o.imm = d->address;
    return o;
  }
  o.kind = Operand::Label;
  return o;
}

std::optional<Variable> Parser::findSymbol(FunctionBuilder &b,
                                           std::string_view name) {
  if (const Variable *v = b.findVariable(name))
    return *v;
  if (auto it = shared.find(name); it != shared.end()) {
    Variable v = layoutShared(b.f, it->second.size, it->second.align,
                              it->second.dynamic, name);
    b.declareOuter(name, v);
    return v;
  }
  if (auto it = module.globals.find(name); it != module.globals.end())
    return Variable{Space::Global, it->second.first, it->second.second, 1,
                    false};
  return std::nullopt;
}

/// [register], [register + 8], [symbol], [symbol + 8], [1024], [register,
/// {coordinates}]; the bracket is read already.
Operand Parser::address(FunctionBuilder &b) {
  Operand base = element(b);
  Operand o = base;
  o.kind = Operand::Address;
  switch (base.kind) {
  case Operand::Register:
    if (base.bits < 32)
      s.error("an address in a register of 16 bits");
    o.isRegister = true;
    break;
  case Operand::Symbol:
    o.row = b.symbolRow(base, 64);
    o.bits = 64;
    o.symbol = base.imm;
    o.imm = 0;
    break;
  case Operand::Integer:
    o.row = b.constant(base.imm, 64);
    o.bits = 64;
    o.imm = 0;
    break;
  default:
    s.error(fmt::format(
        "expected a register or a variable as address, but got '{}'",
        base.text));
  }
  if (s.peek() == '+' || s.peek() == '-') {
    // [r+-8] has two signs.
    bool negative = s.accept('-');
    if (!negative)
      s.accept('+');
    uint64_t offset = uint64_t(s.integer());
    o.imm += negative ? -offset : offset;
  }
  if (s.accept(',')) {
    if (s.peek() != '{')
      s.error("expected coordinates in { } in an address");
    o.elements = operand(b).elements;
  }
  return o;
}
