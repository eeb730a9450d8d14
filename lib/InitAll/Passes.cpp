#include "k2c/InitAll.h"

#include "k2c/Conversion/K2ToPlan/Passes.h"
#include "k2c/Conversion/K2ToTile/Passes.h"
#include "k2c/Conversion/TileToNVVM/Passes.h"
#include "k2c/Target/PTX.h"
#include "k2c/Transforms/K2/Passes.h"
#include "k2c/Transforms/Plan/Passes.h"
#include "k2c/Transforms/Tile/Passes.h"

void k2c::registerAllPasses() {
  mlir::registerTransformsPasses();
  mlir::registerConversionPasses();
  registerK2Passes();
  registerK2ToPlanPasses();
  registerK2ToTilePasses();
  registerConvertTileToNVVMPass();
  registerPlanPasses();
  registerTargetPasses();
  registerTilePasses();
}
