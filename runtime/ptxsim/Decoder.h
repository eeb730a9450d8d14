#ifndef RUNTIME_PTXSIM_DECODER_H
#define RUNTIME_PTXSIM_DECODER_H

#include "runtime/ptxsim/Op.h"

#include <initializer_list>
#include <span>
#include <string>

namespace ptxsim {

class FunctionBuilder;

/// An operand as parsed. Registers are already resolved to their row.
struct Operand {
  enum Kind : uint8_t {
    Register,  ///< row, bits
    Predicate, ///< row (a predicate word), negated
    Integer,   ///< imm
    Float,     ///< imm holds the bits of a double; `single` if written 0f...
    Special,   ///< text is the name without %
    Symbol,    ///< imm is its address in `space`
    Vector,    ///< elements
    Pair,      ///< d|p: elements
    Address,   ///< [base + imm]: row and bits of the base (a register, or a
               ///< constant row for a symbol)
    Label,     ///< text
    Sink,      ///< _
  } kind = Sink;
  uint8_t bits = 0;
  bool negated = false;
  bool single = false;
  bool isRegister = false;    ///< of an address: its base is a register
  bool dynamicShared = false; ///< of a symbol: imm counts from the start of
                              ///< dynamic shared memory
  bool inFrame = false;       ///< of a symbol: imm counts from the start of the
                              ///< function's frame
  Space space =
      Space::Generic; ///< of a symbol, or of an address based on a symbol
  uint32_t row = 0;
  uint64_t imm = 0;
  uint64_t symbol = 0; ///< of an address based on a symbol: the symbol's
  std::string_view text;
  std::span<const Operand> elements;
};

enum class Special : uint8_t;
/// The special register of this name (without %) if it keeps its value while a
/// warp lives.
std::optional<Special> staticSpecial(std::string_view name);

/// A predicate source: `(word(row) ^ flip)` are the lanes where it is true.
struct PredicateSource {
  uint32_t row, flip;
};

/// What an opcode family's decode function works on: one instruction, its
/// modifiers still to be taken, its operands resolved.
class Decoder {
public:
  Decoder(FunctionBuilder &function) : function(function) {}

  std::string_view opcode() const { return base; }

  // --- modifiers: what follows the opcode, split at dots ---
  /// Removes the first modifier equal to `name`, wherever it stands.
  bool take(std::string_view name);
  /// Removes the first of `names` that is present and returns its index, -1 if
  /// none is.
  int takeOneOf(std::initializer_list<std::string_view> names);
  /// Removes the first modifier that is a type name; Type::None if there is
  /// none.
  Type takeType();
  /// The modifiers not yet taken, in order.
  std::span<const std::string_view> rest() const { return modifiers; }
  /// True when all modifiers have been taken. A decode function returns false
  /// otherwise: the form is not its own.
  bool done() const { return modifiers.empty(); }

  // --- operands ---
  size_t size() const { return operands.size(); }
  const Operand &operator[](size_t i) const { return operands[i]; }
  /// Fails the load unless there are between `least` and `most` operands.
  void expect(size_t least, size_t most);
  void expect(size_t count) { expect(count, count); }
  /// Row of a register to be written, which must be of exactly `bits` (8-bit
  /// values live in 16-bit registers). A sink gives a scratch row.
  uint32_t destination(const Operand &operand, unsigned bits);
  /// Row of a source of exactly this type's width: a register, an immediate, a
  /// special register or a symbol's address.
  uint32_t source(const Operand &operand, Type type);
  /// A 32-bit register that is read and written.
  uint32_t accumulator(const Operand &operand);
  uint32_t destination(size_t i, unsigned bits) {
    return destination(at(i), bits);
  }
  uint32_t source(size_t i, Type type) { return source(at(i), type); }
  /// Register rows of any width not less than `bits`: ld, st and cvt allow
  /// wider registers. `actual` is the register's width.
  uint32_t destinationAtLeast(const Operand &operand, unsigned bits,
                              unsigned &actual);
  uint32_t sourceAtLeast(const Operand &operand, Type type, unsigned &actual);
  /// Predicate words.
  uint32_t predicateDestination(const Operand &operand);
  PredicateSource predicateSource(const Operand &operand);
  /// The instruction reads or writes the carry flag.
  void carry(bool reads, bool writes);
  /// An integer immediate, or an error.
  int64_t integer(const Operand &operand);
  bool isInteger(const Operand &operand) const {
    return operand.kind == Operand::Integer;
  }
  /// The elements of a {..} operand, or the operand itself as a list of one.
  std::span<const Operand> elements(const Operand &operand) const;
  /// The address operand `i` must be one; sets op.a (a row of 64-bit or 32-bit
  /// addresses, see addressBits) and op.imm.
  struct AddressRef {
    uint32_t row;
    uint8_t bits;
    Space space; ///< of the symbol at the base; Generic for a register
    uint64_t offset;
    uint64_t symbol = 0; ///< address of the symbol at the base
  };
  AddressRef address(size_t i);
  /// Is this a device function, not a kernel?
  bool inFunction() const;
  /// A row that holds `value` in all lanes.
  uint32_t constant(uint64_t value, unsigned bits);
  /// A row that nothing reads.
  uint32_t scratch(unsigned bits);
  /// Copies rows into memory that lives as long as the function, for Op::list.
  const uint32_t *list(std::span<const uint32_t> rows);

  // --- results ---
  /// Appends an op with the instruction's guard. The reference is good until
  /// the next emit.
  Op &emit(Handler handler);
  /// Fails the load: `file:line:col: <message> in 'text of the instruction'`.
  [[noreturn]] void error(std::string message) const;

  /// The function under construction, for control flow.
  FunctionBuilder &function;

private:
  friend class FunctionBuilder;
  const Operand &at(size_t i) const;
  std::string_view base;
  std::span<std::string_view> modifiers;
  std::span<const Operand> operands;
};

/// Decodes one instruction, or returns false if the form is not the family's
/// own (nothing must have been emitted then).
using DecodeFn = bool (*)(Decoder &);

#define PTXSIM_OPCODE(opcode, decode) bool decode(Decoder &);
#include "runtime/ptxsim/Opcodes.def"
#undef PTXSIM_OPCODE

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_DECODER_H
