//===- Converter.h - State of the conversion from k2 to plan ----*- C++ -*-===//
#ifndef LIB_CONVERSION_K2TOPLAN_CONVERTER_H
#define LIB_CONVERSION_K2TOPLAN_CONVERTER_H

#include "dialects/K2/K2.h"
#include "dialects/Plan/Plan.h"
#include "dialects/Tile/Tile.h"
#include "llvm/ADT/StringMap.h"

namespace k2c {

/// Tokens of a page of the latent cache.
inline constexpr int64_t kPageSize = 64;

/// The model's facts that the runtime needs.
mlir::DictionaryAttr buildModelFacts(k2::ConfigAttr config,
                                     llvm::StringRef configHash);

/// Shape and class of a buffer.
struct BufferInfo {
  mlir::Type element;
  llvm::SmallVector<mlir::Attribute> shape;
  std::optional<int64_t> rowStride;
  plan::BufferClass bufferClass = plan::BufferClass::Step;
};

/// The buffer of an array with a reserved name; nothing for other names.
std::optional<BufferInfo> getArrayInfo(k2::ConfigAttr config,
                                       llvm::StringRef name);

/// Declares the params of a model; a quantised one makes two.
void buildParams(k2::ModelOp model, mlir::OpBuilder &builder);

/// The name of the param that holds the scales of a quantised one.
std::string scaleName(llvm::StringRef param);

/// What a tile kernel says about its launch.
struct KernelInfo {
  tile::KernelOp tile;
  plan::KernelOp plan;
  llvm::SmallVector<plan::ArgAttr> args;
  mlir::ArrayAttr grid;
  llvm::SmallVector<plan::WorklistAttr> worklists;
};

/// Declares a kernel for each `k2.kernel` of the model; null if the launch is
/// not described, after an error.
class Kernels {
public:
  mlir::LogicalResult build(k2::ModelOp model, mlir::ModuleOp module,
                            mlir::OpBuilder &builder);
  KernelInfo &find(llvm::StringRef name) { return infos[name]; }
  /// Tile kernels whose code another one has.
  llvm::ArrayRef<tile::KernelOp> duplicates() const { return copies; }

private:
  mlir::FailureOr<KernelInfo> read(k2::KernelOp kernel, tile::KernelOp tile);
  llvm::StringMap<KernelInfo> infos;
  llvm::StringMap<std::string> codes; // text without name and launch -> name
  llvm::SmallVector<tile::KernelOp> copies;
};

} // namespace k2c

#endif // LIB_CONVERSION_K2TOPLAN_CONVERTER_H
