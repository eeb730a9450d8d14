#ifndef RUNTIME_PTXSIM_REDUCE_H
#define RUNTIME_PTXSIM_REDUCE_H

#include "runtime/ptxsim/Transfer.h"

namespace ptxsim {

/// Is there such a reduction of elements of this type?
bool canReduce(Reduction reduction, Type type);
/// Combines every element at `to` with the one at `from`; by the host's atomics
/// if others may do the same.
void reduceInto(std::byte *to, const std::byte *from, uint32_t bytes,
                Reduction reduction, Type type, bool atomic);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_REDUCE_H
