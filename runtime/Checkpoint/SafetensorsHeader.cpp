//===- SafetensorsHeader.cpp - The header of a safetensors file -----------===//
#include "runtime/Checkpoint/SafetensorsHeader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace k2rt {

namespace {
using nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;

/// Collects tensors from SAX events. The DOM parser would silently keep the
/// last of two equal names, so it cannot be used.
class HeaderHandler : public nlohmann::json_sax<json> {
public:
  std::vector<TensorEntry> tensors;
  std::string error;

  bool null() override { return value("null"); }
  bool boolean(bool v) override { return value(v ? "true" : "false"); }
  bool number_float(double, const std::string &text) override {
    return value(text);
  }
  bool number_integer(int64_t v) override { return value(std::to_string(v)); }
  bool number_unsigned(uint64_t v) override {
    if (state_ != State::Shape && state_ != State::Offsets)
      return value(std::to_string(v));
    if (state_ == State::Shape) {
      if (v > static_cast<uint64_t>(INT64_MAX))
        return fail("expected dimensions below 2^63, but got {}", v);
      entry_.shape.push_back(static_cast<int64_t>(v));
    } else {
      offsets_.push_back(v);
    }
    return true;
  }
  bool string(std::string &v) override {
    if (state_ == State::Metadata)
      return true;
    if (state_ != State::Tensor || key_ != "dtype")
      return value("\"" + v + "\"");
    std::optional<DType> dtype = parseDType(v);
    if (!dtype)
      return fail("expected a known dtype, but got \"{}\"", v);
    entry_.dtype = *dtype;
    return true;
  }
  bool binary(json::binary_t &) override { return value("binary data"); }

  bool start_object(size_t) override {
    switch (state_) {
    case State::Outside:
      state_ = State::Top;
      return true;
    case State::Top:
      state_ = name_ == "__metadata__" ? State::Metadata : State::Tensor;
      entry_ = TensorEntry{name_, DType::U8, {}, 0, 0};
      offsets_.clear();
      keys_.clear();
      return true;
    default:
      return value("an object");
    }
  }
  bool end_object() override {
    if (state_ == State::Top) {
      state_ = State::Outside;
      return true;
    }
    bool good = state_ == State::Metadata || finishTensor();
    state_ = State::Top;
    return good;
  }
  bool key(std::string &v) override {
    if (state_ == State::Top) {
      name_ = v;
      if (!names_.insert(v).second)
        return fail("expected every name once, but got it twice");
      return true;
    }
    key_ = v;
    if (!keys_.insert(v).second)
      return fail("expected field '{}' once, but got it twice", v);
    if (state_ == State::Tensor && v != "dtype" && v != "shape" &&
        v != "data_offsets")
      return fail("expected only dtype, shape and data_offsets, but got '{}'",
                  v);
    return true;
  }
  bool start_array(size_t) override {
    if (state_ == State::Tensor && key_ == "shape")
      state_ = State::Shape;
    else if (state_ == State::Tensor && key_ == "data_offsets")
      state_ = State::Offsets;
    else
      return value("an array");
    return true;
  }
  bool end_array() override {
    state_ = State::Tensor;
    return true;
  }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &e) override {
    error = fmt::format("expected a JSON header, but got an error at byte {} "
                        "of it: {}",
                        position, e.what());
    return false;
  }

private:
  enum class State { Outside, Top, Tensor, Shape, Offsets, Metadata };

  template <typename... Args>
  bool fail(fmt::format_string<Args...> text, Args &&...args) {
    error = (name_.empty() ? "" : "tensor '" + name_ + "': ") +
            fmt::format(text, std::forward<Args>(args)...);
    return false;
  }

  /// A value of the wrong kind in the present state.
  bool value(const std::string &found) {
    switch (state_) {
    case State::Outside:
      return fail("expected the header to be an object, but got {}", found);
    case State::Top:
      return fail("expected an object, but got {}", found);
    case State::Metadata:
      return fail("expected '{}' to be a string, but got {}", key_, found);
    case State::Shape:
      return fail("expected dimensions to be non-negative integers, but got {}",
                  found);
    case State::Offsets:
      return fail(
          "expected data_offsets to be two non-negative integers, but got {}",
          found);
    case State::Tensor:
      return fail("expected '{}' to be {}, but got {}", key_,
                  key_ == "dtype" ? "a string" : "an array of integers", found);
    }
    return false;
  }

  bool finishTensor() {
    for (const char *required : {"dtype", "shape", "data_offsets"})
      if (!keys_.count(required))
        return fail("expected a field '{}', but got none", required);
    if (offsets_.size() != 2)
      return fail("expected 2 data_offsets, but got {}", offsets_.size());
    entry_.begin = offsets_[0];
    entry_.end = offsets_[1];
    if (entry_.end < entry_.begin)
      return fail("expected data_offsets to ascend, but got [{}, {}]",
                  entry_.begin, entry_.end);
    std::optional<int64_t> count = elementCount(entry_.shape);
    int64_t bytes = 0;
    if (!count ||
        __builtin_mul_overflow(
            *count, static_cast<int64_t>(dtypeSize(entry_.dtype)), &bytes))
      return fail("expected a size below 2^63 bytes, but got {}",
                  typeString(entry_.dtype, entry_.shape));
    if (entry_.end - entry_.begin != static_cast<uint64_t>(bytes))
      return fail("expected data_offsets to span the {} bytes of {}, but got "
                  "[{}, {}], which is {}",
                  bytes, typeString(entry_.dtype, entry_.shape), entry_.begin,
                  entry_.end, entry_.end - entry_.begin);
    tensors.push_back(entry_);
    return true;
  }

  State state_ = State::Outside;
  std::string name_, key_;
  std::unordered_set<std::string> names_, keys_;
  TensorEntry entry_;
  std::vector<uint64_t> offsets_;
};

/// Sorts by position and checks that the tensors tile the data exactly.
Status checkCoverage(std::vector<TensorEntry> &tensors, uint64_t dataSize,
                     const std::string &path) {
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorEntry &a, const TensorEntry &b) {
              return std::tie(a.begin, a.end, a.name) <
                     std::tie(b.begin, b.end, b.name);
            });
  uint64_t at = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorEntry &t = tensors[i];
    if (t.end > dataSize)
      return Status::input(fmt::format(
          "{}: tensor '{}': expected the file to have its {} data bytes up to "
          "{}, but got {} (truncated?)",
          path, t.name, typeString(t.dtype, t.shape), t.end, dataSize));
    if (t.begin < at)
      return Status::input(fmt::format(
          "{}: tensor '{}': expected data apart from other tensors, but got "
          "[{}, {}], which overlaps '{}' at [{}, {}]",
          path, t.name, t.begin, t.end, tensors[i - 1].name,
          tensors[i - 1].begin, tensors[i - 1].end));
    if (t.begin > at)
      return Status::input(fmt::format(
          "{}: tensor '{}': expected data without holes, but got {} unused "
          "bytes before it, at {}",
          path, t.name, t.begin - at, at));
    at = t.end;
  }
  if (at != dataSize)
    return Status::input(
        fmt::format("{}: expected {} bytes of data by the header, but got {}",
                    path, at, dataSize));
  return Status();
}
} // namespace

Expected<SafetensorsHeader>
parseSafetensorsHeader(std::span<const std::byte> file,
                       const std::string &path) {
  if (file.size() < 8)
    return Status::input(fmt::format(
        "{}: expected at least the 8 bytes of a header length, but got {}",
        path, file.size()));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<uint64_t>(file[i]);
  if (length == 0)
    return Status::input(path + ": expected a header, but got length 0");
  if (length > kMaxHeader)
    return Status::input(fmt::format(
        "{}: expected a header of at most {} bytes, but got {}{}", path,
        kMaxHeader, length,
        __builtin_bswap64(length) <= kMaxHeader ? " (a big-endian length?)"
                                                : ""));
  if (length > file.size() - 8)
    return Status::input(fmt::format(
        "{}: expected a header of {} bytes, but got a file with {} after the "
        "length (truncated?)",
        path, length, file.size() - 8));

  const char *text = reinterpret_cast<const char *>(file.data()) + 8;
  HeaderHandler handler;
  bool parsed = json::sax_parse(text, text + length, &handler);
  if (!parsed || !handler.error.empty())
    return Status::input(path + ": " + handler.error);

  SafetensorsHeader header;
  header.dataStart = 8 + length;
  header.tensors = std::move(handler.tensors);
  if (Status s =
          checkCoverage(header.tensors, file.size() - header.dataStart, path);
      s.failed())
    return s;
  return header;
}

} // namespace k2rt
