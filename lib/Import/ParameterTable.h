//===- ParameterTable.h - The parameters that a config implies --*- C++ -*-===//
#ifndef LIB_IMPORT_PARAMETERTABLE_H
#define LIB_IMPORT_PARAMETERTABLE_H

#include "k2c/Import/ModelFacts.h"

namespace k2c {

enum class BlockKind { Dense, MoE };

/// One parameter: a vector or a matrix, for the model, for every layer of a
/// kind, or for every expert of those.
struct ParameterSpec {
  enum class Per { Model, Layer, Expert };
  enum class Role {
    Vector, ///< norm weights and the router's bias: float32 in the final layout
    Linear, ///< may be quantized
    Router, ///< bf16 or float32, never quantized
    Outside, ///< embedding and head: bf16, need not exist when only blocks run
  };

  std::string name;   ///< symbol, `dense.q_a_proj`
  std::string tensor; ///< checkpoint name with {layer} and {expert}
  Per per = Per::Layer;
  Role role = Role::Linear;
  BlockKind kind = BlockKind::Dense;
  int64_t rows = 0, columns = 0; ///< columns 0: a vector
  std::string shape; ///< the shape in fields of config.json, for messages
  bool isNorm = false;

  int64_t elements() const { return rows * (columns ? columns : 1); }
  std::string tensorOf(int64_t layer, int64_t expert) const;
};

/// The parameters of a kind of block, in the order of the block's ops.
std::vector<ParameterSpec> blockParameters(const ModelFacts &facts,
                                           BlockKind kind);
/// Embedding, final norm, head.
std::vector<ParameterSpec> endParameters(const ModelFacts &facts);

/// First layer of the kind and the layer after its last.
std::pair<int64_t, int64_t> layerRange(const ModelFacts &facts, BlockKind kind);

} // namespace k2c

#endif // LIB_IMPORT_PARAMETERTABLE_H
