//===- RunOutput.cpp - The tensors that k2-run writes ---------------------===//
#include "tools/k2-run/RunOutput.h"

using namespace k2rt;

namespace k2run {

Expected<RunOutput> RunOutput::create(const std::string &path,
                                      const RunInput &input) {
  Expected<SafetensorsWriter> writer = SafetensorsWriter::create(path);
  if (!writer)
    return writer.status();
  return RunOutput(std::move(*writer), input);
}

std::string RunOutput::traceName(const TracePoint &point) {
  std::string layer = std::to_string(point.layer);
  size_t dot = point.name.find('.');
  if (dot == std::string::npos)
    return point.name + "." + layer;
  return point.name.substr(0, dot) + "." + layer + point.name.substr(dot);
}

Status RunOutput::declare(const std::string &name, const Manifest &manifest,
                          int buffer) {
  const Buffer &info = manifest.buffers[buffer];
  Expected<int64_t> width =
      info.shape.back().evaluate(manifest.model.constants);
  if (info.shape.size() != 2 || !width)
    return Status::input("buffer '" + info.name +
                         "': expected [T, width] to be an output");
  bool integer = info.dtype == ElementType::I32;
  widths_[name] = *width;
  if (integer)
    ids_.insert(name);
  return writer_.declare(name, integer ? DType::I32 : DType::F32,
                         {input_->rows, input_->columns, *width});
}

Status RunOutput::begin() {
  if (!input_->padded())
    return Status();
  for (const std::string &name : ids_) {
    std::vector<int32_t> none(
        input_->real.size() * static_cast<size_t>(widths_[name]), -1);
    if (Status s = writer_.write(name, 0, std::as_bytes(std::span(none)));
        s.failed())
      return s;
  }
  return Status();
}

Status RunOutput::write(const std::string &name, const HostArray &value,
                        std::span<const int64_t> places) {
  std::vector<float> wide;
  std::span<const std::byte> bytes = value.bytes;
  if (value.dtype == ElementType::BF16) {
    wide = value.floats();
    bytes = std::as_bytes(std::span(wide));
  }
  size_t row = static_cast<size_t>(widths_[name]) * 4;
  if (bytes.size() != row * places.size())
    return Status::input("buffer of '" + name + "': expected [" +
                         std::to_string(places.size()) + ", " +
                         std::to_string(widths_[name]) + "], but got " +
                         shapeString(value.shape));
  // Tokens that are neighbours in the step and in the output go together.
  for (size_t first = 0; first < places.size();) {
    size_t end = first + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1)
      ++end;
    if (Status s =
            writer_.write(name, static_cast<uint64_t>(places[first]) * row,
                          bytes.subspan(first * row, (end - first) * row));
        s.failed())
      return s;
    first = end;
  }
  return Status();
}

Status RunOutput::declareGenerated(int64_t count) {
  return writer_.declare("generated_ids", DType::I64, {input_->rows, count});
}

Status RunOutput::writeGenerated(const std::vector<int64_t> &ids) {
  return writer_.write("generated_ids", 0, std::as_bytes(std::span(ids)));
}

} // namespace k2run
