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
  Parser(ModuleImpl &module, Arena &arena)
      : module(module), arena(arena), s(module.text) {}
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
    uint64_t size = 0;
    bool unsized = false;
  };
  void directive(std::string_view name);
  VariableHeader variableHeader();
  void moduleVariable(Space space, bool isExtern);
  void initialise(uint64_t address, uint64_t size, Type type);
  void initialValue(std::byte *&to, std::byte *end, Type type);
  Type type();

  // Functions (ParserFunction.cpp).
  void entry();
  void skipFunction();
  void parameters(Function &f);
  void body(Function &f);
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

  ModuleImpl &module;
  Arena &arena;
  Scanner s;
  std::unordered_map<std::string_view, SharedVariable>
      shared; ///< of the module; laid out in each kernel that uses it
  std::vector<Operand> operands, pool;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_PARSER_H
