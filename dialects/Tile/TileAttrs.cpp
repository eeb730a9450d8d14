#include "dialects/Tile/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k2c::tile;

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tile/TileAttrs.cpp.inc"
      >();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t stages, int64_t warpsM) {
  // schedule_c1
  if (stages < 1 || stages > 8)
    return emitError() << "expected 1 to 8 stages, but got " << stages;
  // schedule_c2
  if (warpsM < 0 || (warpsM & (warpsM - 1)))
    return emitError() << "expected warps_m to be 0 or a power of two, but got "
                       << warpsM;
  return success();
}
