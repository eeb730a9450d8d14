// What decode functions ask of a statement: its modifiers and the register rows
// of its operands.

#include "runtime/ptxsim/FunctionBuilder.h"

#include <algorithm>
#include <fmt/format.h>

using namespace ptxsim;

const Operand &Decoder::at(size_t i) const {
  if (i >= operands.size())
    error("too few operands");
  return operands[i];
}

bool Decoder::take(std::string_view name) {
  for (size_t i = 0; i < modifiers.size(); ++i)
    if (modifiers[i] == name) {
      std::copy(modifiers.begin() + i + 1, modifiers.end(),
                modifiers.begin() + i);
      modifiers = modifiers.first(modifiers.size() - 1);
      return true;
    }
  return false;
}

int Decoder::takeOneOf(std::initializer_list<std::string_view> names) {
  int index = 0;
  for (std::string_view name : names) {
    if (take(name))
      return index;
    ++index;
  }
  return -1;
}

Type Decoder::takeType() {
  for (size_t i = 0; i < modifiers.size(); ++i)
    if (auto type = parseType(modifiers[i])) {
      std::copy(modifiers.begin() + i + 1, modifiers.end(),
                modifiers.begin() + i);
      modifiers = modifiers.first(modifiers.size() - 1);
      return *type;
    }
  return Type::None;
}

void Decoder::expect(size_t least, size_t most) {
  if (operands.size() >= least && operands.size() <= most)
    return;
  error(least == most ? fmt::format("expected {} operands, but got {}", least,
                                    operands.size())
                      : fmt::format("expected {} to {} operands, but got {}",
                                    least, most, operands.size()));
}

uint32_t Decoder::destination(const Operand &o, unsigned bits) {
  bits = std::max(16u, bits);
  if (o.kind == Operand::Sink)
    return scratch(bits);
  if (o.kind != Operand::Register)
    error("expected a register as destination");
  if (o.bits != bits)
    error(fmt::format(
        "expected a destination register of {} bits, but got one of {}", bits,
        o.bits));
  function.note(o.row, o.bits, RegisterUse::Writes);
  return o.row;
}

uint32_t Decoder::accumulator(const Operand &o) {
  const uint32_t row = destination(o, 32);
  if (o.kind == Operand::Register)
    function.note(row, 32, RegisterUse::Reads);
  return row;
}

uint32_t Decoder::destinationAtLeast(const Operand &o, unsigned bits,
                                     unsigned &actual) {
  bits = std::max(16u, bits);
  actual = o.kind == Operand::Register ? o.bits : bits;
  if (actual < bits)
    error(fmt::format("expected a destination register of at least {} bits, "
                      "but got one of {}",
                      bits, o.bits));
  return destination(o, actual);
}

uint32_t Decoder::source(const Operand &o, Type type) {
  unsigned bits = std::max(16u, bitsOf(type));
  switch (o.kind) {
  case Operand::Register:
    if (o.bits != bits)
      error(fmt::format(
          "expected a source register of {} bits, but got one of {}", bits,
          o.bits));
    function.note(o.row, o.bits, RegisterUse::Reads);
    return o.row;
  case Operand::Integer:
    if (type == Type::F32 || type == Type::F64 || type == Type::F16 ||
        type == Type::BF16)
      error("an integer where a floating-point number is needed");
    return constant(o.imm, bitsOf(type));
  case Operand::Float: {
    if (type == Type::F64)
      return constant(o.single ? std::bit_cast<uint64_t>(double(
                                     std::bit_cast<float>(uint32_t(o.imm))))
                               : o.imm,
                      64);
    if (type == Type::F32 || (type == Type::B32 && o.single))
      return constant(o.single ? o.imm
                               : std::bit_cast<uint32_t>(
                                     float(std::bit_cast<double>(o.imm))),
                      32);
    if (type == Type::B64 && !o.single)
      return constant(o.imm, 64);
    error(fmt::format("a floating-point number where .{} is needed",
                      typeName(type)));
  }
  case Operand::Special: {
    auto which = staticSpecial(o.text);
    if (!which)
      error(fmt::format("unsupported special register '%{}'", o.text));
    return function.special(*which, bits);
  }
  case Operand::Symbol:
    if (bits < 32)
      error("an address in a register of 16 bits");
    return function.symbolRow(o, bits);
  default:
    error("expected a register or an immediate as source");
  }
}

uint32_t Decoder::sourceAtLeast(const Operand &o, Type type, unsigned &actual) {
  unsigned bits = std::max(16u, bitsOf(type));
  actual = bits;
  if (o.kind != Operand::Register)
    return source(o, type);
  if (o.bits < bits)
    error(fmt::format(
        "expected a source register of at least {} bits, but got one of {}",
        bits, o.bits));
  actual = o.bits;
  function.note(o.row, o.bits, RegisterUse::Reads);
  return o.row;
}

uint32_t Decoder::predicateDestination(const Operand &o) {
  if (o.kind == Operand::Sink)
    return scratch(64);
  if (o.kind != Operand::Predicate || o.negated)
    error("expected a predicate register as destination");
  function.note(o.row, 1, RegisterUse::Writes);
  return o.row;
}

PredicateSource Decoder::predicateSource(const Operand &o) {
  if (o.kind == Operand::Predicate) {
    function.note(o.row, 1, RegisterUse::Reads);
    return {o.row, o.negated ? allLanes : 0};
  }
  if (o.kind == Operand::Integer)
    return {0, o.imm ? 0 : allLanes};
  error("expected a predicate as source");
}

void Decoder::carry(bool reads, bool writes) {
  if (reads)
    function.note(carryWord, 1, RegisterUse::Reads);
  if (writes)
    function.note(carryWord, 1, RegisterUse::Writes);
}

int64_t Decoder::integer(const Operand &o) {
  if (o.kind != Operand::Integer)
    error("expected an integer immediate");
  return int64_t(o.imm);
}

std::span<const Operand> Decoder::elements(const Operand &o) const {
  if (o.kind == Operand::Vector)
    return o.elements;
  return {&o, 1};
}

Decoder::AddressRef Decoder::address(size_t i) {
  const Operand &o = at(i);
  if (o.kind != Operand::Address)
    error(fmt::format("expected an address [..] as operand {}", i + 1));
  if (!o.elements.empty())
    error("coordinates in an address");
  return {o.row, o.bits, o.space, o.imm, o.symbol};
}

bool Decoder::inFunction() const { return function.inFunction(); }

uint32_t Decoder::constant(uint64_t value, unsigned bits) {
  return function.constant(value, bits);
}
uint32_t Decoder::scratch(unsigned bits) { return function.scratch(bits); }
const uint32_t *Decoder::list(std::span<const uint32_t> rows) {
  return function.list(rows);
}
Op &Decoder::emit(Handler handler) { return function.emit(handler); }
void Decoder::error(std::string message) const {
  function.error(fmt::format("{} in '{}'", message, function.text));
}
