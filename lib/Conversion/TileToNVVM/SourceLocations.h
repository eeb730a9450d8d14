// Locations that can become `.loc` lines.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_SOURCELOCATIONS_H
#define K2C_LIB_CONVERSION_TILETONVVM_SOURCELOCATIONS_H

#include "dialects/Tile/Tile.h"

namespace k2c::tile_to_nvvm {

/// Debug lines need a file. An op whose location has none but names (of the
/// model's modules) gets the file "names/op" and its ordinal in the kernel as
/// the line, so that a fault says which op of which module it is in. Locations
/// with a file stay.
void nameLocations(tile::KernelOp kernel);

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_SOURCELOCATIONS_H
