/* The C interface is C. */
#include "ptxsim/ptxsim_c.h"

const char *plainC(void) {
  ptxsimCounters counters;
  ptxsimResetCounters();
  ptxsimGetCounters(&counters, sizeof counters);
  return counters.launches == 0 ? ptxsimCountersJson() : "";
}
