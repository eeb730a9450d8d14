#ifndef RUNTIME_PTXSIM_PARSER_H
#define RUNTIME_PTXSIM_PARSER_H

#include "runtime/ptxsim/FunctionBuilder.h"
#include "runtime/ptxsim/Memory.h"

namespace ptxsim {

/// Parses a module's text (module.text, module.filename are set) into functions
/// and variables; throws LoadError. Variables of global and constant memory are
/// allocated in the arena and initialised.
class Parser {
public:
  Parser(ModuleImpl &module, Arena &arena, uint32_t stack)
      : module(module), arena(arena), stack(stack), s(module.text) {}
  void run();

private:
  // Module level (Parser.cpp).
  struct SharedVariable {
    uint64_t size;
    uint32_t align;
    bool dynamic;
  };
  struct VariableHeader {
    Type type = Type::None;
    std::string_view name;
    uint32_t align = 1;
    uint32_t declaredAlign = 1; ///< of the declaration; align is at least the
                                ///< size of an element
    uint64_t size = 0;
    bool unsized = false;
  };
  void directive(std::string_view name);
  VariableHeader variableHeader();
  void variableName(VariableHeader &v);
  /// Calls f for every variable of a declaration.
  template <class F> void variables(F f) {
    VariableHeader v = variableHeader();
    f(v);
    while (s.accept(',')) {
      variableName(v);
      f(v);
    }
    s.expect(';', "after a variable");
  }
  void moduleVariable(Space space, bool isExtern);
  void initialise(uint64_t address, uint64_t size, Type type);
  void initialValue(std::byte *&to, std::byte *end, Type type,
                    unsigned depth = 0);
  Type type();

  // Functions (ParserFunction.cpp).
  void entry();
  void parameters(Function &f);
  void body(FunctionBuilder &b);
  void finish(FunctionBuilder &b);
  void statement(FunctionBuilder &b);
  void bodyDirective(FunctionBuilder &b, std::string_view name);
  void registers(FunctionBuilder &b);
  Variable layoutShared(Function &f, uint64_t size, uint32_t align,
                        bool dynamic, std::string_view name);

  // Operands (ParserOperands.cpp).
  void instruction(FunctionBuilder &b, std::string_view opcode,
                   PredicateSource guard, Position at, const char *begin);
  Operand operand(FunctionBuilder &b);
  Operand element(FunctionBuilder &b);
  Operand named(FunctionBuilder &b, std::string_view name);
  Operand address(FunctionBuilder &b);
  PredicateSource guard(FunctionBuilder &b);
  std::optional<Variable> findSymbol(FunctionBuilder &b, std::string_view name);

  // Device functions and calls (ParserCall.cpp).
  struct Declared {
    std::string_view name;
    uint64_t address = 0;
    std::vector<Formal> params, results;
    std::optional<Scanner> body; ///< behind its opening brace
    uint64_t bodyBytes = 0;
    bool addressTaken = false;
    bool isUsed = false;
    Position usedAt;
    std::string_view aliasOf;
  };
  /// An entry whose functions' bodies follow when all have been seen.
  struct Open {
    size_t function;
    std::unique_ptr<FunctionBuilder> builder;
    std::unordered_map<std::string_view, uint32_t> callees;
    std::vector<const Declared *> bodies; ///< of the callees
    bool callsPointers = false;
  };
  void function();
  void alias();
  std::vector<Formal> formals();
  void prototype(FunctionBuilder &b, std::string_view name);
  void callTargets(std::string_view name);
  void call(FunctionBuilder &b, std::string_view opcode, PredicateSource guard,
            Position at, const char *begin);
  std::vector<Operand> callOperands(FunctionBuilder &b);
  std::vector<Actual> actuals(FunctionBuilder &b,
                              const std::vector<Operand> &given,
                              const std::vector<Formal> &formals,
                              const char *what, bool isResult);
  Declared *findFunction(std::string_view name);
  uint32_t calleeOf(FunctionBuilder &b, const Declared &function);
  void functionBody(FunctionBuilder &b, uint32_t index,
                    const Declared &function);
  void finishEntries();
  void checkFunctions();

  std::deque<Declared> functions;
  std::unordered_map<std::string_view, Declared *> functionNames;
  std::vector<Open> open;
  Open *linking = nullptr; ///< what is being parsed, if it has callees
  struct Prototype {
    std::vector<Formal> params, results;
    std::vector<uint64_t> targets;
  };
  std::unordered_map<std::string_view, Prototype> prototypes;
  uint64_t codeBase = 0;      ///< of pointers to the module's functions
  uint64_t registerBytes = 0; ///< of all kernels' register files
  uint64_t expanded = 0; ///< bytes of text of function bodies, as often as read

  ModuleImpl &module;
  Arena &arena;
  uint32_t stack; ///< bytes for functions that may call themselves
  Scanner s;
  std::unordered_map<std::string_view, SharedVariable>
      shared; ///< of the module; laid out in each kernel that uses it
  std::vector<Operand> operands, pool;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_PARSER_H
