#ifndef RUNTIME_PTXSIM_SPECIALS_H
#define RUNTIME_PTXSIM_SPECIALS_H

#include "runtime/ptxsim/Cta.h"

namespace ptxsim {

/// The value of a special register in a lane of a warp of this CTA.
uint64_t specialValue(const Cta &cta, unsigned warp, unsigned lane,
                      Special special);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_SPECIALS_H
