#include "k2c/InitAll.h"

#include "dialects/Check/Check.h"
#include "dialects/K2/K2.h"
#include "dialects/Plan/Plan.h"
#include "dialects/Tile/Tile.h"
#include "k2c/Conversion/K2ToTile/Passes.h"
#include "k2c/Target/PTX.h"

void k2c::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::gpu::GPUDialect,
                  mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  registry.insert<check::CheckDialect>();
  registry.insert<k2::K2Dialect>();
  registry.insert<plan::PlanDialect>();
  registry.insert<tile::TileDialect>();
  registerK2TileModels(registry);
  registerPTXTranslations(registry);
}
