#include "dialects/Tile/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k2c::tile;

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Tile/TileTypes.cpp.inc"
      >();
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 Attribute layout) {
  // buffer_c1
  if (shape.size() < 2)
    return emitError()
           << "expected a stage dim and at least one tile dim, but got rank "
           << shape.size();
  for (int64_t extent : shape)
    // buffer_c2
    if (extent <= 0)
      return emitError() << "expected positive static extents, but got "
                         << extent;
  // buffer_c3
  if (!elementType.isIntOrFloat() ||
      elementType.getIntOrFloatBitWidth() % 8 != 0)
    return emitError() << "expected an element type of whole bytes, but got "
                       << elementType;
  std::string why;
  // buffer_c4
  if (auto shared = dyn_cast_or_null<SharedAttr>(layout);
      shared && !shared.getMap(shape.drop_front(),
                               elementType.getIntOrFloatBitWidth() / 8, &why))
    return emitError() << "expected a layout that fits a stage, but got "
                       << layout << ": " << why;
  return success();
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  Attribute layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return BufferType::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), shape, elementType,
                                layout);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType();
  if (getLayout())
    printer << ", " << getLayout();
  printer << '>';
}
