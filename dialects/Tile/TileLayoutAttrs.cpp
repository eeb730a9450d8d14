//===- TileLayoutAttrs.cpp - #tile.linear and #tile.shared ------*- C++ -*-===//

#include "dialects/Tile/Tile.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace k2c::tile;

//===----------------------------------------------------------------------===//
// #tile.linear
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> flatten(const std::vector<Coord> &coords) {
  SmallVector<int64_t> flat;
  for (const Coord &c : coords)
    flat.append(c.begin(), c.end());
  return flat;
}

static std::vector<Coord> unflatten(ArrayRef<int64_t> flat, unsigned rank) {
  std::vector<Coord> coords;
  for (; !flat.empty(); flat = flat.drop_front(rank))
    coords.emplace_back(flat.begin(), flat.begin() + rank);
  return coords;
}

LinearAttr LinearAttr::get(MLIRContext *context, const LinearLayout &layout) {
  SmallVector<int64_t> reg = flatten(layout.coordBases(kReg));
  SmallVector<int64_t> lane = flatten(layout.coordBases(kLane));
  SmallVector<int64_t> warp = flatten(layout.coordBases(kWarp));
  SmallVector<int64_t> block = flatten(layout.coordBases(kBlock));
  return get(context, layout.rank(), ArrayRef<int64_t>(reg),
             ArrayRef<int64_t>(lane), ArrayRef<int64_t>(warp),
             ArrayRef<int64_t>(block));
}

LinearLayout LinearAttr::getLayout(ArrayRef<int64_t> shape) const {
  CoordBases bases{
      unflatten(getReg(), getRank()), unflatten(getLane(), getRank()),
      unflatten(getWarp(), getRank()), unflatten(getBlock(), getRank())};
  return LinearLayout(shape.vec(), bases);
}

LogicalResult LinearAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 unsigned rank, ArrayRef<int64_t> reg,
                                 ArrayRef<int64_t> lane, ArrayRef<int64_t> warp,
                                 ArrayRef<int64_t> block) {
  // linear_c1
  if (rank == 0)
    return emitError() << "expected bases of at least one coordinate";
  // linear_c2
  if (lane.size() != 5 * rank)
    return emitError() << "expected 5 lane bases, but got "
                       << lane.size() / rank;
  // linear_c3
  if (reg.size() + lane.size() + warp.size() + block.size() > 60 * rank)
    return emitError() << "expected at most 60 bases, but got "
                       << (reg.size() + lane.size() + warp.size() +
                           block.size()) /
                              rank;
  for (ArrayRef<int64_t> list : {reg, lane, warp, block})
    for (int64_t x : list)
      // linear_c4
      if (x < 0)
        return emitError() << "expected coordinates of at least 0, but got "
                           << x;
  return success();
}

LogicalResult
LinearAttr::verifyEncoding(ArrayRef<int64_t> shape, Type /*elementType*/,
                           function_ref<InFlightDiagnostic()> emitError) const {
  // linear_c5
  if (shape.size() != getRank())
    return emitError() << "expected a layout of rank " << shape.size()
                       << " to match the tile, but got rank " << getRank();
  unsigned totalBits = 0;
  for (int64_t extent : shape) {
    // linear_c6
    if (extent <= 0)
      return emitError() << "expected a statically shaped tile with a layout";
    totalBits += llvm::countr_zero(static_cast<uint64_t>(extent));
  }
  // linear_c7
  if (totalBits > 62)
    return emitError() << "tile too large for a layout";
  for (ArrayRef<int64_t> list : {getReg(), getLane(), getWarp(), getBlock()})
    for (auto [i, x] : llvm::enumerate(list)) {
      int64_t extent = shape[i % getRank()];
      int64_t linear = extent / oddPart(extent);
      // linear_c8
      if (x >= linear)
        return emitError() << "expected every basis inside the 2-power part "
                           << linear << " of dim " << i % getRank()
                           << ", but got " << x;
    }
  std::string why = getLayout(shape).whyNotSurjective();
  // linear_c9
  if (!why.empty())
    return emitError() << "layout is not surjective: " << why;
  return success();
}

static ParseResult parseBases(AsmParser &parser, unsigned &rank,
                              SmallVector<int64_t> &flat) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SmallVector<int64_t> coord;
        SMLoc loc = parser.getCurrentLocation();
        if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
              return parser.parseInteger(coord.emplace_back());
            }))
          return failure();
        if (rank == 0)
          rank = coord.size();
        if (coord.empty() || coord.size() != rank)
          return ParseResult(parser.emitError(loc)
                             << "expected bases of one rank, " << rank
                             << ", but got " << coord.size());
        flat.append(coord.begin(), coord.end());
        return success();
      });
}

Attribute LinearAttr::parse(AsmParser &parser, Type) {
  unsigned rank = 0;
  SmallVector<int64_t> reg, lane, warp, block;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("reg") || parser.parseEqual() ||
      parseBases(parser, rank, reg) || parser.parseComma() ||
      parser.parseKeyword("lane") || parser.parseEqual() ||
      parseBases(parser, rank, lane) || parser.parseComma() ||
      parser.parseKeyword("warp") || parser.parseEqual() ||
      parseBases(parser, rank, warp))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("block") || parser.parseEqual() ||
       parseBases(parser, rank, block)))
    return {};
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  return LinearAttr::getChecked(
      function_ref<InFlightDiagnostic()>(emitError), parser.getContext(), rank,
      ArrayRef<int64_t>(reg), ArrayRef<int64_t>(lane), ArrayRef<int64_t>(warp),
      ArrayRef<int64_t>(block));
}

static void printBases(AsmPrinter &printer, StringRef name, unsigned rank,
                       ArrayRef<int64_t> flat) {
  printer << name << " = [";
  for (unsigned i = 0; i < flat.size(); i += rank) {
    printer << (i ? ", [" : "[");
    llvm::interleaveComma(flat.slice(i, rank), printer);
    printer << "]";
  }
  printer << "]";
}

void LinearAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printBases(printer, "reg", getRank(), getReg());
  printBases(printer, ", lane", getRank(), getLane());
  printBases(printer, ", warp", getRank(), getWarp());
  if (!getBlock().empty())
    printBases(printer, ", block", getRank(), getBlock());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// #tile.shared
//===----------------------------------------------------------------------===//

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 unsigned swizzle, unsigned span,
                                 ArrayRef<int64_t> masks) {
  // shared_c1
  if (!llvm::is_contained({0u, 32u, 64u, 128u}, swizzle))
    return emitError() << "expected swizzle 0, 32, 64 or 128, but got "
                       << swizzle;
  // shared_c2
  if (span && (span < 16 || !llvm::isPowerOf2_32(span)))
    return emitError()
           << "expected a span that is a power of two of at least 16 bytes, "
              "but got "
           << span;
  // shared_c3
  if (swizzle && span && span != swizzle)
    return emitError() << "expected a swizzled span to be the swizzle, "
                       << swizzle << ", but got " << span;
  // shared_c4
  if (swizzle && !masks.empty())
    return emitError() << "expected masks only without a swizzle";
  for (int64_t m : masks)
    // shared_c5
    if (m < 0 || m >= int64_t(span ? span : 16) / 16)
      return emitError() << "expected masks below the chunks of a span, "
                         << (span ? span : 16) / 16 << ", but got " << m;
  return success();
}

std::optional<SharedMap> SharedAttr::getMap(ArrayRef<int64_t> tile,
                                            unsigned elemBytes,
                                            std::string *why) const {
  if (tile.empty() || tile.size() > 2) {
    if (why)
      *why = "a shared buffer's stage has rank 1 or 2";
    return std::nullopt;
  }
  int64_t rows = tile.size() == 2 ? tile[0] : 1, cols = tile.back();
  if (getMasks().empty())
    return SharedMap::panels(rows, cols, elemBytes, getSwizzle(), getSpan(),
                             why);
  std::vector<unsigned> masks(getMasks().begin(), getMasks().end());
  return SharedMap::scratch(rows, cols, elemBytes, masks, getSpan());
}

Attribute SharedAttr::parse(AsmParser &parser, Type) {
  unsigned swizzle = 0, span = 0;
  SmallVector<int64_t> masks;
  SMLoc loc = parser.getCurrentLocation();
  auto field = [&]() -> ParseResult {
    StringRef key;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (key == "swizzle")
      return parser.parseInteger(swizzle);
    if (key == "span")
      return parser.parseInteger(span);
    if (key == "masks")
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(masks.emplace_back());
      });
    return parser.emitError(keyLoc)
           << "expected swizzle, span or masks, but got " << key;
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, field))
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  return SharedAttr::getChecked(function_ref<InFlightDiagnostic()>(emitError),
                                parser.getContext(), swizzle, span,
                                ArrayRef<int64_t>(masks));
}

void SharedAttr::print(AsmPrinter &printer) const {
  printer << "<swizzle = " << getSwizzle();
  if (getSpan())
    printer << ", span = " << getSpan();
  if (!getMasks().empty()) {
    printer << ", masks = [";
    llvm::interleaveComma(getMasks(), printer);
    printer << "]";
  }
  printer << ">";
}
