// Runs passes on IR of any stage: mlir-opt with the dialects and passes of k2c.
#include "k2c/InitAll.h"
#include "k2c/Pipelines/Pipelines.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  k2c::registerAllDialects(registry);
  k2c::registerAllPasses();
  k2c::registerPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "k2c optimizer driver\n", registry));
}
