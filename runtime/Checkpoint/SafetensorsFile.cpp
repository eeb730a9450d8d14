//===- SafetensorsFile.cpp - One safetensors file -------------------------===//
#include "runtime/Checkpoint/SafetensorsFile.h"

#include "runtime/Checkpoint/Convert.h"
#include "runtime/Checkpoint/SafetensorsHeader.h"

#include <cstring>

namespace k2rt {

Expected<std::shared_ptr<SafetensorsFile>>
SafetensorsFile::open(const std::string &path) {
  Expected<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.status();
  Expected<SafetensorsHeader> header =
      parseSafetensorsHeader(mapped->bytes(), path);
  if (!header)
    return header.status();

  std::shared_ptr<SafetensorsFile> file(
      new SafetensorsFile(std::move(*mapped)));
  file->path_ = path;
  std::span<const std::byte> data =
      file->file_.bytes().subspan(header->dataStart);
  for (TensorEntry &entry : header->tensors) {
    file->byName_.emplace(entry.name, file->tensors_.size());
    file->tensors_.push_back(TensorView{
        std::move(entry.name), entry.dtype, std::move(entry.shape),
        data.subspan(entry.begin, entry.end - entry.begin), &file->path_});
  }
  return file;
}

const TensorView *SafetensorsFile::find(const std::string &name) const {
  auto it = byName_.find(name);
  return it == byName_.end() ? nullptr : &tensors_[it->second];
}

Expected<std::vector<float>> readFloats(const TensorView &tensor) {
  if (!widensExactly(tensor.dtype))
    return Status::input(*tensor.file + ": tensor '" + tensor.name +
                         "': expected a type that widens to float32, but got " +
                         std::string(dtypeName(tensor.dtype)));
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  widenToFloat(tensor.dtype, tensor.bytes.data(), values);
  return values;
}

namespace {
template <typename T>
void copyIntegers(const TensorView &tensor, std::vector<int64_t> &out) {
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<int64_t>(value);
  }
}
} // namespace

Expected<std::vector<int64_t>> readIntegers(const TensorView &tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.elements()));
  switch (tensor.dtype) {
  case DType::I64:
    copyIntegers<int64_t>(tensor, values);
    break;
  case DType::I32:
    copyIntegers<int32_t>(tensor, values);
    break;
  case DType::I16:
    copyIntegers<int16_t>(tensor, values);
    break;
  case DType::I8:
    copyIntegers<int8_t>(tensor, values);
    break;
  case DType::U8:
  case DType::BOOL:
    copyIntegers<uint8_t>(tensor, values);
    break;
  default:
    return Status::input(*tensor.file + ": tensor '" + tensor.name +
                         "': expected an integer type, but got " +
                         std::string(dtypeName(tensor.dtype)));
  }
  return values;
}

} // namespace k2rt
