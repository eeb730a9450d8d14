#include "k2c/InitAll.h"

#include "k2c/Transforms/Plan/Passes.h"

void k2c::registerAllPasses() {
  mlir::registerTransformsPasses();
  mlir::registerConversionPasses();
  registerPlanPasses();
}
