#!/usr/bin/env python3
"""driver.py LIBPTXSIM: the simulator as a CUDA driver, from Python by ctypes alone: a kernel, its counters, a fault."""
import ctypes
import json
import sys
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p

PTX = b""".version 8.4
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 x, .param .u32 by) {
  .reg .b64 %x, %o; .reg .b32 %i, %v, %by;
  ld.param.u64 %x, [x]; ld.param.u32 %by, [by]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o;
  ld.global.u32 %v, [%x]; mul.lo.u32 %v, %v, %by; st.global.u32 [%x], %v;
  ret;
}
"""

sim = ctypes.CDLL(sys.argv[1])
sim.ptxsimLastError.restype = sim.ptxsimCountersJson.restype = c_char_p


def check(code):
    if code:
        name = c_char_p()
        sim.cuGetErrorName(code, byref(name))
        sys.exit(f"{name.value.decode()}: {sim.ptxsimLastError().decode()}")


context, module, function, x = c_void_p(), c_void_p(), c_void_p(), c_uint64()
check(sim.cuInit(0))
check(sim.cuCtxCreate_v2(byref(context), 0, 0))
check(sim.cuModuleLoadData(byref(module), PTX))
check(sim.cuModuleGetFunction(byref(function), module, b"scale"))
values = (c_uint32 * 32)(*range(32))
check(sim.cuMemAlloc_v2(byref(x), c_size_t(128)))
check(sim.cuMemcpyHtoD_v2(x, values, c_size_t(128)))
by = c_uint32(3)
params = (c_void_p * 2)(ctypes.addressof(x), ctypes.addressof(by))


def launch(threads):
    return sim.cuLaunchKernel(function, 1, 1, 1, c_int(threads), 1, 1, 0, None, params, None)


check(launch(32))
check(sim.cuMemcpyDtoH_v2(values, x, c_size_t(128)))
print("values", list(values)[:4], values[31])
counters = json.loads(sim.ptxsimCountersJson())
print("launches", counters["launches"], "thread instructions", counters["thread_instructions"], "bytes read", counters["global_load_bytes"])
sim.ptxsimReportToStderr(0)
code = launch(33)
print("error", code, sim.ptxsimLastError().decode().splitlines()[0])
