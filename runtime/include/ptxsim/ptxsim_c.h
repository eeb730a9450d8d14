/*===- ptxsim_c.h - What libptxsim.so adds to the CUDA driver API -----------===
 *
 * libptxsim.so is a CUDA driver without a GPU: it runs PTX on the host. These
 * functions of it have no counterpart in CUDA; all take one lock with the
 * driver's own and may be called from any thread.
 *
 *   ptxsimSetOptions("async=lazy,schedule=reverse");
 *   if (cuLaunchKernel(...) != CUDA_SUCCESS)
 *     puts(ptxsimLastError());   k.ptx:41: ld.shared.v4.b32: cta (0,0,0) ...
 *
 *===------------------------------------------------------------------------===*/
#ifndef RUNTIME_INCLUDE_PTXSIM_PTXSIM_C_H
#define RUNTIME_INCLUDE_PTXSIM_PTXSIM_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Text of the latest error: a fault of a kernel, a diagnostic of the loader,
 * why a call was refused; "" before the first. It stays valid until the calling
 * thread asks again. */
const char *ptxsimLastError(void);

/* Changes checks, schedule and asynchronous copies of launches to come, like
 * the environment variable PTXSIM_OPTIONS at cuInit: "NAME=VALUE,..." with the
 * names of `ptxsim --help`, and `registers=N` or `registers=FILE` (the output
 * of ptxas -v, or JSON). 0, or 1 with ptxsimLastError(), and then nothing has
 * changed. */
int ptxsimSetOptions(const char *text);

/* Should faults and diagnostics also be written to stderr? At first they are.
 */
void ptxsimReportToStderr(int on);

/* What all launches since the last reset have executed. Fields may be added at
 * the end: `bytes` is sizeof(ptxsimCounters) of the caller. */
typedef struct ptxsimCounters {
  uint64_t launches;
  uint64_t warpInstructions;   /* PTX instructions, once per warp */
  uint64_t threadInstructions; /* once per executing thread */
  uint64_t tensorFlops;        /* 2 m n k of every matrix product */
  uint64_t sharedWavefronts, sharedIdealWavefronts;
  uint64_t globalLoadBytes, globalStoreBytes;
} ptxsimCounters;
void ptxsimGetCounters(ptxsimCounters *out, size_t bytes);
/* The same as a JSON object. It stays valid until the calling thread asks
 * again. */
const char *ptxsimCountersJson(void);
void ptxsimResetCounters(void);

/* Counts launches to come by PTX line as well, with models of the device's
 * caches: slower, on one host thread. */
void ptxsimCollect(int on);
/* What was collected since the last reset, as a JSON array with an object per
 * launch (the same as `ptxsim --counters=FILE`). It stays valid until the
 * calling thread asks again. */
const char *ptxsimReportJson(void);

#ifdef __cplusplus
}
#endif

#endif /* RUNTIME_INCLUDE_PTXSIM_PTXSIM_C_H */
