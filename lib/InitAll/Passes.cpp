#include "k2c/InitAll.h"

void k2c::registerAllPasses() {
  mlir::registerTransformsPasses();
  mlir::registerConversionPasses();
}
