#ifndef RUNTIME_PTXSIM_FUNCTIONBUILDER_H
#define RUNTIME_PTXSIM_FUNCTIONBUILDER_H

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Program.h"
#include "runtime/ptxsim/Scanner.h"
#include "runtime/ptxsim/Warp.h"

#include <span>

namespace ptxsim {

/// A variable that has an address.
struct Variable {
  Space space = Space::Global;
  uint64_t address = 0;
  uint64_t size = 0;
  uint32_t align = 1;
  bool dynamicShared = false; ///< .extern .shared x[]
  bool inFrame = false; ///< address counts from the start of a function's frame
  bool isParam = false; ///< .param in a body: an argument or result of calls
};

/// How control leaves an op.
enum class Jump : uint8_t { None, Branch, Indexed, Exit, Call, Return };

/// Builds one Function while its body is parsed: register rows, scopes, labels,
/// constants, ops.
class FunctionBuilder {
public:
  FunctionBuilder(Function &function, Scanner &scanner)
      : f(function), scanner(scanner), decoder(*this) {}

  // --- scopes: { } blocks with registers, variables and labels of their own
  // ---
  void openScope() {
    scopes.emplace_back();
    scopes.back().frameBase = frameEnd;
  }
  void closeScope();
  size_t depth() const { return scopes.size(); }
  /// `.reg .b32 name` or, with count, `.reg .b32 name<count>`.
  void declareRegister(Type type, std::string_view name, uint32_t count,
                       bool range);
  void declareVariable(std::string_view name, Variable variable) {
    scopes.back().variables[name] = variable;
  }
  /// A variable of the module that this kernel uses, with its functions.
  void declareOuter(std::string_view name, Variable variable) {
    outer[name] = variable;
  }
  /// A variable of the thread's frame; a .param variable gives its place back
  /// at the end of its scope.
  Variable declareInFrame(std::string_view name, uint64_t size, uint32_t align,
                          bool isTemporary = false);
  void declareLabel(std::string_view name, Position at);
  void declareTargets(std::string_view name,
                      std::vector<std::string_view> labels) {
    scopes.back().targets[name] = std::move(labels);
  }
  /// A register as an operand.
  std::optional<Operand> findRegister(std::string_view name) const;
  /// A variable of a scope of the function.
  const Variable *findVariable(std::string_view name) const;
  const std::vector<std::string_view> *findTargets(std::string_view name) const;

  // --- rows ---
  uint32_t allocate(uint32_t bytes);
  uint32_t constant(uint64_t value, unsigned bits, bool dynamicShared = false);
  /// A row with the address of offset `offset` of the function's frame.
  uint32_t frameRow(uint64_t offset, unsigned bits);
  /// The address of a symbol.
  uint32_t symbolRow(const Operand &symbol, unsigned bits) {
    return symbol.inFrame ? frameRow(symbol.imm, bits)
                          : constant(symbol.imm, bits, symbol.dynamicShared);
  }
  uint32_t special(Special which, unsigned bits);
  uint32_t scratch(unsigned bits);
  const uint32_t *list(std::span<const uint32_t> rows) {
    return f.lists.emplace_back(rows.begin(), rows.end()).data();
  }

  // --- ops ---
  void setLoc(uint32_t file, uint32_t line, uint32_t column);
  /// Decodes an instruction with the first family that takes it. `text` is the
  /// instruction up to its semicolon.
  void instruction(std::string_view opcode, PredicateSource guard,
                   std::span<const Operand> operands, Position position,
                   std::string_view text);
  /// Is there a family for this base opcode?
  static bool knows(std::string_view opcode);
  Op &emit(Handler handler);
  /// Says how the op emitted last ends its block; labels of Branch (one) and
  /// Indexed (many) are resolved when their scope ends.
  void jump(Jump kind, std::span<const std::string_view> labels = {});
  /// What follows belongs to f.callees[index], not to the kernel.
  void beginFunction(uint32_t index);
  void endFunction();
  bool inFunction() const { return current >= 0; }
  /// Emits a call; its callee's body follows later.
  void call(CallSite site, std::string_view form, PredicateSource guard,
            Position position, std::string_view text);
  /// The body of a function that the system has: false if it has none of this
  /// name, or with other parameters.
  bool builtin(std::string_view name, Position at);
  /// Resolves what is open, orders the blocks. `stack` bytes are for frames if
  /// functions call themselves or others through pointers.
  void finish(uint32_t stack);

  [[noreturn]] void error(std::string text) const {
    throw LoadError{position, std::move(text)};
  }

  Function &f;

private:
  friend class Decoder;
  struct Range {
    uint32_t count, row, stride;
    Type type;
  };
  struct Register {
    uint32_t row;
    Type type;
  };
  struct Fixup {
    uint32_t op;
    size_t index; ///< into jumps[op].targets
    std::string_view label;
    Position position;
  };
  struct Scope {
    std::unordered_map<std::string_view, Range> ranges; ///< by prefix
    std::unordered_map<std::string_view, Register> registers;
    std::unordered_map<std::string_view, Variable> variables;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> targets;
    std::vector<Fixup> fixups;
    uint32_t frameBase = 0;
    bool keepsFrame = false; ///< has .local variables
  };
  struct Block {
    uint32_t begin = 0, end = 0; ///< ops; none in nodes of calls
    std::vector<uint32_t> successors;
  };
  struct JumpInfo {
    Jump kind = Jump::None;
    std::vector<uint32_t> targets;
    int function = -1; ///< of a Return
  };
  void orderBlocks();
  uint32_t layoutStack();
  void noteOperands(std::span<const Operand> operands);
  // For the check of undefined registers (UndefinedPlan.cpp).
  void note(uint32_t row, unsigned bits, RegisterUse::Role role) {
    named.push_back({row, uint8_t(bits), role});
  }
  bool isRegister(uint32_t row) const;
  std::vector<uint32_t> maybeUndefined() const;
  void noteParameters();
  void planUndefined();

  Scanner &scanner;
  Decoder decoder;
  std::vector<Scope> scopes;
  std::unordered_map<std::string_view, Variable> outer;
  int current = -1; ///< the callee under construction
  uint32_t frameEnd = 0, frameMost = 0;
  struct CallEdge {
    uint32_t op;
    int caller;
    const CallSite *site;
  };
  std::vector<CallEdge> callEdges;
  std::unordered_map<uint64_t, uint32_t> frameRows[3];
  std::unordered_map<uint32_t, JumpInfo> jumps;
  std::unordered_map<uint64_t, uint32_t> constantRows[3]; ///< by log2(bits) - 4
  std::unordered_map<uint64_t, uint32_t> dynamicRows[3];
  std::unordered_map<uint32_t, uint32_t> specialRows;
  size_t branchTargets = 0;
  uint32_t loc = 0;
  std::vector<Block> blocks;
  std::vector<RegisterUse>
      uses; ///< of op i: from useStart[i] to useStart[i + 1]
  std::vector<uint32_t> useStart;
  // The instruction being decoded.
  Position position;
  PredicateSource guard{0, 0};
  std::string_view form, text;
  std::vector<std::string_view> allModifiers, modifiers;
  std::vector<RegisterUse> named; ///< registers that it names
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_FUNCTIONBUILDER_H
