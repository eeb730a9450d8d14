//===- Manifest.h - manifest.json of an artifact ----------------*- C++ -*-===//
//
// What the compiler tells the runtime, as plain data. The JSON form and the
// meaning of every field are in manifest.schema.json beside this file; reading
// is strict: a field that is missing, unknown or out of range is an error with
// its path. Names are resolved to indices, so that the executor looks nothing
// up while it runs.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_ARTIFACT_MANIFEST_H
#define RUNTIME_ARTIFACT_MANIFEST_H

#include "runtime/Artifact/Expr.h"

#include <map>

namespace k2rt {

/// The newest format this runtime reads.
inline constexpr int64_t kManifestFormat = 1;
/// The CTAs that a grid may have in x, y, z.
inline constexpr int64_t kGridLimit[3] = {INT32_MAX, 65535, 65535};

enum class ElementType { BF16, F32, F8E4M3, I32 };
std::string_view elementTypeName(ElementType type);
int64_t elementTypeSize(ElementType type);

struct ModelFacts {
  int64_t hiddenSize = 0, numLayers = 0, kvLoraRank = 0, ropeHeadDim = 0;
  int64_t vocabSize = 0, numExperts = 0, expertsPerToken = 0;
  int64_t maxPositions = 0, pageSize = 0;
  std::vector<float> inverseFrequencies;
  float ropeScale = 1.0f;
  std::string configHash;
  Symbols constants; ///< every integer of `model`, by its name
};

enum class Per { Model, Layer, Expert };

/// `rows` rows of a checkpoint tensor, which become rows `at`... of a param.
struct Part {
  std::string tensor; ///< pattern with {layer} and {expert}
  int64_t rows = 0, at = 0;
  int64_t columns =
      0; ///< of the checkpoint's tensor; 0 if it has one dimension
};

struct Param {
  std::string name;
  ElementType dtype = ElementType::BF16;
  std::vector<int64_t> shape; ///< one or two dimensions
  int64_t rowStride = 0;      ///< elements; of one dimension: its extent
  Per per = Per::Model;
  int64_t firstLayer = 0, endLayer = 1; ///< of Per::Model: 0, 1
  std::vector<Part> parts;

  int64_t rows() const { return shape.size() == 2 ? shape[0] : 1; }
  int64_t columns() const { return shape.back(); }
};

enum class BufferClass { Step, Persistent, Input, Worklist };

struct Buffer {
  std::string name;
  ElementType dtype = ElementType::BF16;
  std::vector<Expr> shape;
  /// Elements between rows (the last dimension); absent: rows follow each
  /// other.
  std::optional<int64_t> rowStride;
  BufferClass cls = BufferClass::Step;
};

enum class ArgKind { Pointer, I32, F32 };

struct KernelArg {
  ArgKind kind = ArgKind::Pointer;
  std::string name;
  bool reads = true, writes = false; ///< of a pointer
};

struct KernelInfo {
  std::string name, ptx, cubin, entry, ptxHash;
  int64_t block = 0, sharedBytes = 0, registers = 0;
  int64_t cluster[3] = {1, 1, 1};
  std::vector<KernelArg> args;
  std::vector<std::string> sourceOps;
};

/// Makes i32 [W, 2] = (sequence, first flat row) of tiles of `rows` flat rows
/// within one sequence; a token has `rowsPerToken` flat rows.
struct Worklist {
  std::string name;
  int64_t rows = 0, rowsPerToken = 0;
  int buffer = -1; ///< of the same name
};

struct LaunchArg {
  enum Kind { BufferRef, ParamRef, Integer, Float } kind = Integer;
  int target = -1;           ///< buffer or param
  std::optional<Expr> index; ///< of the buffer's first dimension
  Expr value;                ///< Integer
  float number = 0;          ///< Float
};

enum class CommandOp {
  Launch,
  Layers,
  When,
  MakeWorklist,
  Copy,
  Zero,
  Require,
  Trace
};

struct Command {
  CommandOp op = CommandOp::Launch;
  int target = -1;  ///< kernel, work list, or the buffer that is read or zeroed
  int target2 = -1; ///< the buffer that Copy writes
  Expr grid[3];
  std::vector<LaunchArg> args;
  int64_t from = 0, to = 0; ///< Layers
  std::string name;         ///< block of Layers, name of Trace
  Expr expr;                ///< condition of When, layer of Require and Trace
  bool programmatic = false;
  std::vector<Command> commands, otherwise;
};

struct Manifest {
  std::string target;
  ModelFacts model;
  std::vector<Param> params;
  std::vector<Buffer> buffers;
  std::vector<KernelInfo> kernels;
  std::vector<Worklist> worklists;
  std::map<std::string, std::vector<Command>> entries;

  /// -1 when there is no such buffer.
  int findBuffer(std::string_view name) const;
};

/// Reads and checks a manifest; `path` is for messages.
Expected<Manifest> parseManifest(const std::string &text,
                                 const std::string &path);

/// Calls `visit` with every command of a list, bodies included.
template <typename Visitor>
void walkCommands(const std::vector<Command> &commands, Visitor &&visit) {
  for (const Command &command : commands) {
    visit(command);
    walkCommands(command.commands, visit);
    walkCommands(command.otherwise, visit);
  }
}

} // namespace k2rt

#endif // RUNTIME_ARTIFACT_MANIFEST_H
