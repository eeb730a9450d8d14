//===- HostTensors.cpp - Named tensors in and out -------------------------===//

#include "k2c/Reference/HostTensors.h"
#include "runtime/Checkpoint/Convert.h"
#include "runtime/Checkpoint/SafetensorsFile.h"
#include "runtime/Checkpoint/SafetensorsWriter.h"

#include <cstring>

using namespace k2c::reference;

static llvm::Error toError(const k2rt::Status &status) {
  return llvm::createStringError(status.message());
}

static llvm::Expected<HostTensor> readTensor(const k2rt::TensorView &view) {
  HostTensor tensor;
  tensor.shape = view.shape;
  if (view.dtype == k2rt::DType::F64) {
    tensor.floats.resize(view.elements());
    std::memcpy(tensor.floats.data(), view.bytes.data(), view.bytes.size());
    return tensor;
  }
  if (k2rt::widensExactly(view.dtype)) {
    auto floats = k2rt::readFloats(view);
    if (!floats)
      return toError(floats.status());
    tensor.floats.assign(floats->begin(), floats->end());
    return tensor;
  }
  tensor.isInteger = true;
  auto integers = k2rt::readIntegers(view);
  if (!integers)
    return toError(integers.status());
  tensor.integers = std::move(*integers);
  return tensor;
}

llvm::Expected<HostTensors>
k2c::reference::readTensors(const std::string &path) {
  auto file = k2rt::SafetensorsFile::open(path);
  if (!file)
    return toError(file.status());
  HostTensors tensors;
  for (const k2rt::TensorView &view : (*file)->tensors()) {
    llvm::Expected<HostTensor> tensor = readTensor(view);
    if (!tensor)
      return tensor.takeError();
    tensors.emplace(view.name, std::move(*tensor));
  }
  return tensors;
}

/// The elements as `To`, the type of the file.
template <typename To, typename From>
static std::vector<To> convert(const std::vector<From> &values) {
  return std::vector<To>(values.begin(), values.end());
}

llvm::Error k2c::reference::writeTensors(const std::string &path,
                                         const HostTensors &tensors,
                                         bool wide) {
  auto writer = k2rt::SafetensorsWriter::create(path);
  if (!writer)
    return toError(writer.status());
  for (const auto &[name, tensor] : tensors) {
    k2rt::DType type = tensor.isInteger ? k2rt::DType::I32
                       : wide           ? k2rt::DType::F64
                                        : k2rt::DType::F32;
    if (k2rt::Status status = writer->declare(name, type, tensor.shape);
        status.failed())
      return toError(status);
  }
  auto write = [&](const std::string &name, const auto &values) {
    return writer->write(name, 0, std::as_bytes(std::span(values)));
  };
  for (const auto &[name, tensor] : tensors) {
    k2rt::Status status = tensor.isInteger
                              ? write(name, convert<int32_t>(tensor.integers))
                          : wide ? write(name, tensor.floats)
                                 : write(name, convert<float>(tensor.floats));
    if (status.failed())
      return toError(status);
  }
  if (k2rt::Status status = writer->commit(); status.failed())
    return toError(status);
  return llvm::Error::success();
}
