/* The simulator as a CUDA driver, from C: the program declares what it needs of
 * NVIDIA's cuda.h, as that may not be there. */
#include "ptxsim/ptxsim_c.h"

#include <stdio.h>
#include <string.h>

int cuInit(unsigned flags);
int cuDeviceGetName(char *name, int bytes, int device);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
                   unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **params, void **extra);

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry nothing() { ret; }\n";

int main(void) {
  char name[64] = "";
  void *context, *module, *function;
  ptxsimCounters counters;
  if (cuInit(0) || cuDeviceGetName(name, sizeof name, 0) ||
      cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&module, text) ||
      cuModuleGetFunction(&function, module, "nothing") ||
      cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL)) {
    puts(ptxsimLastError());
    return 1;
  }
  ptxsimGetCounters(&counters, sizeof counters);
  printf("%s, %d launch\n", strstr(name, "H200") ? "H200" : name,
         (int)counters.launches);
  return 0;
}
