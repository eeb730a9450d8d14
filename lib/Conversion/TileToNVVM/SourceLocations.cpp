#include "lib/Conversion/TileToNVVM/SourceLocations.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace k2c;

static bool hasFile(Location loc) {
  return loc
      ->walk([](Location part) {
        return isa<FileLineColLoc>(part) ? WalkResult::interrupt()
                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The names in a location, each once, joined.
static std::string namesIn(Location loc) {
  llvm::SetVector<StringRef> names;
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName().getValue());
    return WalkResult::advance();
  });
  return llvm::join(names, "+");
}

void k2c::tile_to_nvvm::nameLocations(tile::KernelOp kernel) {
  std::string whole = namesIn(kernel.getLoc());
  if (whole.empty())
    whole = kernel.getSymName();
  unsigned ordinal = 0;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ++ordinal;
    if (hasFile(op->getLoc()))
      return;
    std::string names = namesIn(op->getLoc());
    if (names.empty())
      names = whole;
    std::string file = names + "/" + op->getName().getStringRef().str();
    op->setLoc(FileLineColLoc::get(op->getContext(), file, ordinal, 1));
  });
}
