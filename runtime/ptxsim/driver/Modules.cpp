// Modules and libraries: PTX text, its kernels and variables.

#include "runtime/ptxsim/Program.h"
#include "runtime/ptxsim/driver/DeviceFacts.h"
#include "runtime/ptxsim/driver/Driver.h"
#include "runtime/ptxsim/driver/FatBinary.h"
#include "runtime/ptxsim/driver/Functions.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

/// Where the caller wants the loader's diagnostic.
struct ErrorLog {
  char *text = nullptr;
  size_t bytes = 0;
  void write(const std::string &message) const {
    if (text && bytes)
      fmt::format_to_n(text, bytes - 1, "{}", message).out[0] = '\0';
  }
};

ErrorLog errorLogOf(unsigned count, const CUjit_option *options,
                    void *const *values) {
  ErrorLog log;
  for (unsigned i = 0; i < count && options && values; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      log.text = static_cast<char *>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      log.bytes = reinterpret_cast<size_t>(values[i]);
  }
  return log;
}

CUresult load(Driver &driver, CUctx_st &context, CUmodule *out,
              const void *image, const ErrorLog &log) {
  if (!out || !image)
    return CUDA_ERROR_INVALID_VALUE;
  Result<std::string> text = ptxOf(image);
  if (!text) {
    log.write(text.message());
    return driver.report(CUDA_ERROR_NO_BINARY_FOR_GPU, text.message());
  }
  auto module = std::make_unique<CUmod_st>();
  const std::string name = fmt::format("module{}.ptx", driver.nextId++);
  Result<std::shared_ptr<Module>> loaded =
      context.device.loadModule(std::move(*text), name);
  if (!loaded) {
    log.write(loaded.message());
    return driver.report(CUDA_ERROR_INVALID_PTX, loaded.message());
  }
  module->context = &context;
  module->module = *loaded;
  *out = driver.modules.add(std::move(module));
  return CUDA_SUCCESS;
}

CUresult unload(Driver &driver, CUmodule module) {
  for (const auto &item : module->functions)
    driver.functions.erase(item.second.get());
  driver.modules.erase(module);
  return CUDA_SUCCESS;
}

CUfunction makeFunction(Driver &driver, CUmodule module, const Kernel &kernel) {
  std::unique_ptr<CUfunc_st> &slot = module->functions[&kernel];
  if (!slot) {
    const auto &impl = static_cast<const ModuleImpl &>(*module->module);
    slot = std::make_unique<CUfunc_st>();
    slot->module = module;
    slot->kernel = &kernel;
    slot->localBytes =
        impl.functions[size_t(&kernel - impl.entries.data())].localBytes;
    slot->maxDynamicShared =
        std::max(0, sharedPerBlock - int(kernel.staticSharedBytes));
    driver.functions.emplace(slot.get(), module->context);
  }
  return slot.get();
}

CUresult getFunction(Driver &driver, CUmodule module, const char *name,
                     CUfunction *out) {
  if (!out || !name)
    return CUDA_ERROR_INVALID_VALUE;
  const Kernel *kernel = module->module->find(name);
  if (!kernel)
    return driver.fail(CUDA_ERROR_NOT_FOUND,
                       fmt::format("the module has no entry '{}'", name));
  *out = makeFunction(driver, module, *kernel);
  return CUDA_SUCCESS;
}

CUresult getGlobal(Driver &driver, CUmodule module, const char *name,
                   CUdeviceptr *pointer, size_t *bytes) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  auto global = module->module->global(name);
  if (!global)
    return driver.fail(CUDA_ERROR_NOT_FOUND,
                       fmt::format("the module has no variable '{}'", name));
  if (pointer)
    *pointer = global->first;
  if (bytes)
    *bytes = global->second;
  return CUDA_SUCCESS;
}

template <class F> CUresult withModule(CUmodule module, F f) {
  return inContext([&](Driver &driver, CUctx_st &) {
    return driver.modules.has(module) ? f(driver) : CUDA_ERROR_INVALID_HANDLE;
  });
}

template <class F> CUresult withLibrary(CUlibrary library, F f) {
  return inContext([&](Driver &driver, CUctx_st &) {
    return driver.libraries.has(library) ? f(driver, library->module)
                                         : CUDA_ERROR_INVALID_HANDLE;
  });
}

} // namespace

// --- modules ---

CUresult ptxsim::cuda::cuModuleLoadData(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUresult ptxsim::cuda::cuModuleLoadDataEx(CUmodule *module, const void *image,
                                          unsigned numOptions,
                                          CUjit_option *options,
                                          void **optionValues) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    return load(driver, context, module, image,
                errorLogOf(numOptions, options, optionValues));
  });
}

CUresult ptxsim::cuda::cuModuleLoadFatBinary(CUmodule *module,
                                             const void *fatCubin) {
  return cuModuleLoadData(module, fatCubin);
}

CUresult ptxsim::cuda::cuModuleLoad(CUmodule *module, const char *fname) {
  if (!fname)
    return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(fname, std::ios::binary);
  if (!file)
    return CUDA_ERROR_FILE_NOT_FOUND;
  std::ostringstream content;
  content << file.rdbuf();
  return cuModuleLoadData(module, std::move(content).str().c_str());
}

CUresult ptxsim::cuda::cuModuleUnload(CUmodule hmod) {
  return withModule(hmod, [&](Driver &driver) {
    bool ofLibrary = false;
    driver.libraries.forEach(
        [&](CUlib_st &library) { ofLibrary |= library.module == hmod; });
    return ofLibrary ? CUDA_ERROR_NOT_PERMITTED : unload(driver, hmod);
  });
}

CUresult ptxsim::cuda::cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  return inDriver([&](Driver &) {
    if (!mode)
      return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod,
                                           const char *name) {
  return withModule(hmod, [&](Driver &driver) {
    return getFunction(driver, hmod, name, hfunc);
  });
}

CUresult ptxsim::cuda::cuModuleGetFunctionCount(unsigned *count, CUmodule mod) {
  return withModule(mod, [&](Driver &) {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = unsigned(mod->module->kernels().size());
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuModuleEnumerateFunctions(CUfunction *functions,
                                                  unsigned numFunctions,
                                                  CUmodule mod) {
  return withModule(mod, [&](Driver &driver) {
    if (!functions)
      return CUDA_ERROR_INVALID_VALUE;
    const std::vector<Kernel> &kernels = mod->module->kernels();
    for (unsigned i = 0; i < numFunctions; ++i)
      functions[i] =
          i < kernels.size() ? makeFunction(driver, mod, kernels[i]) : nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes,
                                            CUmodule hmod, const char *name) {
  return withModule(hmod, [&](Driver &driver) {
    return getGlobal(driver, hmod, name, dptr, bytes);
  });
}

// --- libraries ---

CUresult ptxsim::cuda::cuLibraryLoadData(CUlibrary *library, const void *code,
                                         CUjit_option *jitOptions,
                                         void **jitOptionsValues,
                                         unsigned numJitOptions,
                                         CUlibraryOption *, void **, unsigned) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (!library)
      return CUDA_ERROR_INVALID_VALUE;
    auto loaded = std::make_unique<CUlib_st>();
    if (CUresult code_ =
            load(driver, context, &loaded->module, code,
                 errorLogOf(numJitOptions, jitOptions, jitOptionsValues)))
      return code_;
    *library = driver.libraries.add(std::move(loaded));
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuLibraryUnload(CUlibrary library) {
  return withLibrary(library, [&](Driver &driver, CUmodule module) {
    driver.libraries.erase(library);
    return unload(driver, module);
  });
}

CUresult ptxsim::cuda::cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library,
                                          const char *name) {
  return withLibrary(library, [&](Driver &driver, CUmodule module) {
    CUfunction function = nullptr;
    if (!pKernel)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult code = getFunction(driver, module, name, &function))
      return code;
    *pKernel = kernelOf(function);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuLibraryGetKernelCount(unsigned *count, CUlibrary lib) {
  return withLibrary(lib, [&](Driver &, CUmodule module) {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = unsigned(module->module->kernels().size());
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuLibraryGetModule(CUmodule *pMod, CUlibrary library) {
  return withLibrary(library, [&](Driver &, CUmodule module) {
    if (!pMod)
      return CUDA_ERROR_INVALID_VALUE;
    *pMod = module;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes,
                                          CUlibrary library, const char *name) {
  return withLibrary(library, [&](Driver &driver, CUmodule module) {
    return getGlobal(driver, module, name, dptr, bytes);
  });
}
