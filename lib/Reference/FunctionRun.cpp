//===- FunctionRun.cpp - Runs of single functions -------------------------===//

#include "Bindings.h"
#include "Parameters.h"
#include "k2c/Reference/Run.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace k2c::reference {

static std::string nameOf(DictionaryAttr attributes, const char *fallback,
                          unsigned index) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>("k2.name"))
      return name.str();
  return fallback + std::to_string(index);
}

static FunctionOpInterface findFunction(ModuleOp module, StringRef name) {
  FunctionOpInterface found;
  module.walk([&](FunctionOpInterface function) {
    if (function.getName() != name)
      return WalkResult::advance();
    found = function;
    return WalkResult::interrupt();
  });
  return found;
}

std::vector<std::string> closedFunctions(ModuleOp module) {
  std::vector<std::string> names;
  module.walk([&](func::FuncOp function) {
    if (function.getNumArguments() == 0 && !function.isExternal())
      names.push_back(function.getName().str());
  });
  return names;
}

template <typename Real>
static llvm::Expected<FunctionRun> run(FunctionOpInterface function,
                                       const HostTensors &input,
                                       const RunOptions &options) {
  std::vector<Value<Real>> arguments;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    llvm::Expected<Value<Real>> value = bindValue<Real>(
        type, nameOf(function.getArgAttrDict(i), "arg", i), input);
    if (!value)
      return value.takeError();
    arguments.push_back(std::move(*value));
  }
  NamedParameters<Real> parameters(input);
  Interpreter<Real> interpreter(options.rounding, &parameters);
  auto results =
      interpreter.run(function.getFunctionBody(), std::move(arguments));
  if (!results)
    return results.takeError();
  FunctionRun done;
  for (auto [i, value] : llvm::enumerate(*results))
    exportValue(value, nameOf(function.getResultAttrDict(i), "result", i),
                done.results);
  done.failures = std::move(interpreter.failures);
  return done;
}

llvm::Expected<FunctionRun> runFunction(ModuleOp module, StringRef entry,
                                        const HostTensors &input,
                                        const RunOptions &options) {
  FunctionOpInterface function = findFunction(module, entry);
  if (!function || function.isExternal())
    return llvm::createStringError(
        "entry: expected a function with a body called " + entry.str() +
        ", but got none");
  return options.wide ? run<double>(function, input, options)
                      : run<float>(function, input, options);
}

} // namespace k2c::reference
