//===- BlockBuilder.h - The ops of one block --------------------*- C++ -*-===//
#ifndef LIB_IMPORT_BLOCKBUILDER_H
#define LIB_IMPORT_BLOCKBUILDER_H

#include "StorageTypes.h"
#include "dialects/K2/K2.h"
#include "mlir/IR/Builders.h"

namespace k2c {

/// The k2 type of a parameter in its final layout.
mlir::Type parameterType(const ModelFacts &facts, const ParameterSpec &spec,
                         Storage storage, mlir::MLIRContext *context);

/// Emits ops of the model at the builder's insertion point. Locations carry the
/// module's name in the model source.
class BlockBuilder {
public:
  BlockBuilder(mlir::OpBuilder &builder, const ModelFacts &facts,
               const StorageTypes &storage,
               const std::vector<ParameterSpec> &specs)
      : builder(builder), facts(facts), storage(storage), specs(specs) {}

  /// The body of a block: from its arguments to its k2.return.
  void buildBody(mlir::Block &block, BlockKind kind);

  mlir::Value norm(mlir::Value input, const std::string &param, double eps);
  mlir::Value linear(mlir::Value input, const std::string &param,
                     mlir::Type resultElement = {});
  mlir::Value weight(const std::string &param);
  mlir::Location location(const std::string &name);

private:
  mlir::Value attention(mlir::Value input, mlir::Block &block,
                        const std::string &prefix);
  mlir::Value rope(mlir::Value input, mlir::Block &block,
                   const std::string &name, int64_t heads, int64_t nope);
  mlir::Value slice(mlir::Value input, const std::string &name, int64_t offset,
                    int64_t size);
  mlir::Value mlp(mlir::Value input, const std::string &prefix);
  mlir::Value experts(mlir::Value input);
  mlir::Value expertLinear(mlir::Value input, const std::string &param,
                           mlir::Value routing, bool gather);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs, const std::string &name);

  const ParameterSpec &spec(const std::string &param) const;
  mlir::RankedTensorType rows(int64_t columns, mlir::Type element = {});

  mlir::OpBuilder &builder;
  const ModelFacts &facts;
  const StorageTypes &storage;
  const std::vector<ParameterSpec> &specs;
};

} // namespace k2c

#endif // LIB_IMPORT_BLOCKBUILDER_H
