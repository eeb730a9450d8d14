// Allocation and what is known of pointers. Memory of the host that is
// allocated here lies in the device's memory too, so that kernels may use it;
// other memory of the host is out of bounds for them.

#include "runtime/ptxsim/driver/DeviceFacts.h"
#include "runtime/ptxsim/driver/Driver.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

CUresult allocate(Driver &driver, CUctx_st &context, CUdeviceptr *out,
                  size_t bytes, Block::Kind kind, unsigned flags = 0) {
  if (!out || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult unsafe = checkUnsafe(driver))
    return unsafe;
  if (bytes > deviceFacts().memoryBytes - context.allocated)
    return CUDA_ERROR_OUT_OF_MEMORY;
  const uint64_t id = driver.nextId++;
  Result<uint64_t> pointer =
      context.device.allocate(bytes, fmt::format("allocation {}", id));
  if (!pointer)
    return driver.fail(CUDA_ERROR_OUT_OF_MEMORY, pointer.message());
  // The host writes it without the driver's knowing.
  if (kind != Block::Device &&
      context.device.options().checks.uninitialisedGlobal)
    if (Status status = context.device.fill8(*pointer, 0, bytes); !status)
      return driver.fail(CUDA_ERROR_OUT_OF_MEMORY, status.message());
  context.blocks.emplace(*pointer, Block{kind, bytes, id, flags});
  context.allocated += bytes;
  // Addresses only grow.
  context.lowest = context.lowest ? context.lowest : *pointer;
  context.highest = *pointer + bytes;
  *out = *pointer;
  return CUDA_SUCCESS;
}

CUresult free(Driver &driver, CUctx_st &context, CUdeviceptr pointer,
              bool host) {
  if (!pointer)
    return CUDA_SUCCESS;
  auto it = context.blocks.find(pointer);
  if (it == context.blocks.end() || (it->second.kind == Block::Host) != host)
    return driver.fail(
        CUDA_ERROR_INVALID_VALUE,
        fmt::format("free: {:#x} is not the start of an allocation", pointer));
  if (Status status = context.device.free(pointer); !status)
    return driver.fail(CUDA_ERROR_INVALID_VALUE, status.message());
  context.allocated -= it->second.bytes;
  context.blocks.erase(it);
  return CUDA_SUCCESS;
}

CUresult hostAllocate(void **pp, size_t bytes, unsigned flags) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (!pp)
      return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr pointer = 0;
    const CUresult code =
        allocate(driver, context, &pointer, bytes, Block::Host, flags);
    *pp = reinterpret_cast<void *>(pointer);
    return code;
  });
}

template <class T> CUresult put(void *data, T value) {
  std::memcpy(data, static_cast<const void *>(&value), sizeof(T));
  return CUDA_SUCCESS;
}

CUresult attributeOf(Driver &driver, CUctx_st &context, void *data,
                     CUpointer_attribute attribute, CUdeviceptr pointer) {
  const auto *found = context.blockOf(pointer);
  if (!found && !context.device.holds(pointer))
    return driver.fail(CUDA_ERROR_INVALID_VALUE,
                       fmt::format("{:#x} is in no allocation", pointer));
  // A variable of a module is no block.
  const Block block = found ? found->second : Block();
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return put(data, reinterpret_cast<uint64_t>(&context));
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return put(data,
               unsigned(block.kind == Block::Host ? CU_MEMORYTYPE_HOST
                                                  : CU_MEMORYTYPE_DEVICE));
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return put(data, pointer);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    return block.kind == Block::Device ? CUDA_ERROR_INVALID_VALUE
                                       : put(data, pointer);
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    return put(data, 1u);
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return put(data, unsigned(block.kind == Block::Managed));
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return put(data, 0);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return found ? put(data, found->first) : CUDA_ERROR_NOT_SUPPORTED;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return found ? put(data, block.bytes) : CUDA_ERROR_NOT_SUPPORTED;
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return put(data, 1u);
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

} // namespace

CUresult ptxsim::cuda::cuMemGetInfo_v2(size_t *free, size_t *total) {
  return inContext([&](Driver &, CUctx_st &context) {
    if (free)
      *free = deviceFacts().memoryBytes - context.allocated;
    if (total)
      *total = deviceFacts().memoryBytes;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    return allocate(driver, context, dptr, bytesize, Block::Device);
  });
}

CUresult ptxsim::cuda::cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch,
                                          size_t WidthInBytes, size_t Height,
                                          unsigned ElementSizeBytes) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (!pPitch || (ElementSizeBytes != 4 && ElementSizeBytes != 8 &&
                    ElementSizeBytes != 16))
      return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = 0, bytes = 0;
    if (__builtin_add_overflow(WidthInBytes, 511, &pitch) ||
        __builtin_mul_overflow(pitch / 512 * 512, Height, &bytes))
      return CUDA_ERROR_OUT_OF_MEMORY;
    *pPitch = pitch / 512 * 512;
    return allocate(driver, context, dptr, bytes, Block::Device);
  });
}

CUresult ptxsim::cuda::cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize,
                                         unsigned flags) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    return allocate(driver, context, dptr, bytesize, Block::Managed, flags);
  });
}

CUresult ptxsim::cuda::cuMemFree_v2(CUdeviceptr dptr) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (CUresult unsafe = checkUnsafe(driver))
      return unsafe;
    return free(driver, context, dptr, false);
  });
}

/// Of the stream's order nothing is left to keep: it runs at once. A capture
/// would have to make nodes of it, which is not supported.
CUresult ptxsim::cuda::cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize,
                                       CUstream hStream) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    CUstream stream = findStream(driver, context, hStream);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return allocate(driver, context, dptr, bytesize, Block::Device);
  });
}

CUresult ptxsim::cuda::cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    CUstream stream = findStream(driver, context, hStream);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return free(driver, context, dptr, false);
  });
}

CUresult ptxsim::cuda::cuMemGetAddressRange_v2(CUdeviceptr *pbase,
                                               size_t *psize,
                                               CUdeviceptr dptr) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    const auto *found = context.blockOf(dptr);
    if (!found)
      return driver.fail(CUDA_ERROR_NOT_FOUND,
                         fmt::format("{:#x} is in no allocation", dptr));
    if (pbase)
      *pbase = found->first;
    if (psize)
      *psize = found->second.bytes;
    return CUDA_SUCCESS;
  });
}

// --- memory of the host ---

CUresult ptxsim::cuda::cuMemAllocHost_v2(void **pp, size_t bytesize) {
  return hostAllocate(pp, bytesize, 0);
}

CUresult ptxsim::cuda::cuMemHostAlloc(void **pp, size_t bytesize,
                                      unsigned Flags) {
  return Flags > 7 ? CUDA_ERROR_INVALID_VALUE
                   : hostAllocate(pp, bytesize, Flags);
}

CUresult ptxsim::cuda::cuMemFreeHost(void *p) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    return free(driver, context, reinterpret_cast<CUdeviceptr>(p), true);
  });
}

CUresult ptxsim::cuda::cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p,
                                                    unsigned Flags) {
  return inContext([&](Driver &, CUctx_st &context) {
    const CUdeviceptr pointer = reinterpret_cast<CUdeviceptr>(p);
    const auto *found = context.blockOf(pointer);
    if (!pdptr || Flags || !found || found->second.kind != Block::Host)
      return CUDA_ERROR_INVALID_VALUE;
    *pdptr = pointer;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuMemHostGetFlags(unsigned *pFlags, void *p) {
  return inContext([&](Driver &, CUctx_st &context) {
    const auto *found = context.blockOf(reinterpret_cast<CUdeviceptr>(p));
    if (!pFlags || !found || found->second.kind != Block::Host)
      return CUDA_ERROR_INVALID_VALUE;
    *pFlags = found->second.flags;
    return CUDA_SUCCESS;
  });
}

/// The device's memory is one range of addresses: memory that the program has
/// got elsewhere cannot become a part of it.
CUresult ptxsim::cuda::cuMemHostRegister_v2(void *, size_t, unsigned) {
  return inContext(
      [&](Driver &, CUctx_st &) { return CUDA_ERROR_NOT_SUPPORTED; });
}

CUresult ptxsim::cuda::cuMemHostUnregister(void *) {
  return inContext([&](Driver &, CUctx_st &) {
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  });
}

// --- pointers, hints ---

CUresult ptxsim::cuda::cuPointerGetAttribute(void *data,
                                             CUpointer_attribute attribute,
                                             CUdeviceptr ptr) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    return data ? attributeOf(driver, context, data, attribute, ptr)
                : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Unlike the function above, an unknown pointer has attributes: zeros.
CUresult ptxsim::cuda::cuPointerGetAttributes(unsigned numAttributes,
                                              CUpointer_attribute *attributes,
                                              void **data, CUdeviceptr ptr) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (!attributes || !data)
      return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numAttributes; ++i) {
      const CUpointer_attribute a = attributes[i];
      if (!data[i])
        return CUDA_ERROR_INVALID_VALUE;
      if (attributeOf(driver, context, data[i], a, ptr) == CUDA_SUCCESS)
        continue;
      if (a == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        put(data[i], -2);
      else if (a == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
               a == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
               a == CU_POINTER_ATTRIBUTE_MAPPED)
        put(data[i], 0u);
      else
        put(data[i], uint64_t(0));
    }
    return CUDA_SUCCESS;
  });
}

/// Where memory lies makes no difference.
CUresult ptxsim::cuda::cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t,
                                             CUmemLocation, unsigned,
                                             CUstream hStream) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (!findStream(driver, context, hStream))
      return CUDA_ERROR_INVALID_HANDLE;
    return context.blockOf(devPtr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult ptxsim::cuda::cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count,
                                          CUdevice, CUstream hStream) {
  return cuMemPrefetchAsync_v2(devPtr, count, {}, 0, hStream);
}

CUresult ptxsim::cuda::cuMemAdvise_v2(CUdeviceptr devPtr, size_t, CUmem_advise,
                                      CUmemLocation) {
  return cuMemPrefetchAsync_v2(devPtr, 0, {}, 0, nullptr);
}

CUresult ptxsim::cuda::cuMemAdvise(CUdeviceptr devPtr, size_t, CUmem_advise,
                                   CUdevice) {
  return cuMemPrefetchAsync_v2(devPtr, 0, {}, 0, nullptr);
}
