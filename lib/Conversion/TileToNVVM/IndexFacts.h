// What can be proved about a uniform i32 index: a common divisor and a range.
// Masks that always hold are not emitted.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_INDEXFACTS_H
#define K2C_LIB_CONVERSION_TILETONVVM_INDEXFACTS_H

#include "mlir/IR/Value.h"

#include <cstdint>
#include <optional>

namespace k2c::tile_to_nvvm {

struct IndexFacts {
  /// Every value is a multiple of it; 0 means the value is 0.
  int64_t divisor = 1;
  /// Inclusive range, as far as it is known.
  std::optional<int64_t> minimum, maximum;
};

IndexFacts indexFacts(mlir::Value index);

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_INDEXFACTS_H
