#ifndef RUNTIME_PTXSIM_INSN_LOADSTORE_H
#define RUNTIME_PTXSIM_INSN_LOADSTORE_H

#include "runtime/ptxsim/Op.h"
#include "runtime/ptxsim/Type.h"

namespace ptxsim {

struct LoadStoreHandlers {
  Handler load, store, loadOrdered, storeOrdered, loadParam;
};

/// Of n elements of a type in registers of a width.
LoadStoreHandlers loadStoreHandlers(Type type, unsigned registerBits,
                                    unsigned n);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_INSN_LOADSTORE_H
