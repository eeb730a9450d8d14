// Arguments of a kernel from the command line.

#include "tools/ptxsim/Arguments.h"
#include "tools/ptxsim/BufferSpec.h"
#include "tools/ptxsim/Error.h"
#include "tools/ptxsim/Npy.h"

#include <charconv>
#include <cstring>
#include <unistd.h>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

/// `bytes:00ff` or `bytes:@FILE`: a struct by value.
std::vector<std::byte> rawBytes(const std::string &where,
                                std::string_view text) {
  std::vector<std::byte> bytes;
  if (text.starts_with('@')) {
    const std::string file = readFile(std::string(text.substr(1)));
    bytes.resize(file.size());
    std::memcpy(bytes.data(), file.data(), file.size());
    return bytes;
  }
  for (size_t i = 0; i < text.size(); i += 2) {
    uint8_t value = 0;
    const char *p = text.data() + i,
               *end = p + std::min<size_t>(2, text.size() - i);
    if (end - p != 2 || std::from_chars(p, end, value, 16).ptr != end)
      fail("{}: expected pairs of hexadecimal digits after bytes:, but got "
           "'{}'",
           where, text);
    bytes.push_back(std::byte(value));
  }
  return bytes;
}

bool isFloatParam(const Param &p) { return p.type.starts_with('f'); }
bool isIntegerParam(const Param &p) {
  return p.type.starts_with('u') || p.type.starts_with('s');
}

} // namespace

std::vector<uint64_t> tool::parseNumbers(const std::string &where,
                                         std::string_view text,
                                         char separator) {
  std::vector<uint64_t> numbers;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    uint64_t n = 0;
    auto [p, code] = std::from_chars(text.data() + at, text.data() + end, n);
    if (code != std::errc() || p != text.data() + end || n >> 63)
      fail("{}: expected numbers with '{}' between them, but got '{}'", where,
           separator, text);
    numbers.push_back(n);
    at = end + 1;
  }
  return numbers;
}

Buffer &Arguments::allocate(const std::string &where, std::string name,
                            const ElementType &type,
                            std::vector<uint64_t> shape) {
  const auto elements = elementCount(shape);
  uint64_t bytes = 0;
  const uint64_t most =
      uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  if (!elements || __builtin_mul_overflow(*elements, type.bytes, &bytes) ||
      bytes > most - allocated)
    fail("{}: expected buffers of at most {} bytes together, which is this "
         "machine's memory",
         where, most);
  auto pointer = device.allocate(bytes, name);
  if (!pointer)
    fail("{}: {}", where, pointer.message());
  allocated += bytes;
  return buffers.emplace_back(
      Buffer{std::move(name), &type, std::move(shape), *pointer, *elements});
}

const Buffer *Arguments::makeBuffer(const std::string &where, std::string name,
                                    const std::string &spec) {
  const BufferSpec parsed = parseBufferSpec(where, spec);
  Buffer &b = allocate(where, std::move(name), *parsed.type, parsed.shape);
  if (parsed.init.empty() && !parsed.fromFile) {
    // For the device this memory has never been written.
    std::memset(reinterpret_cast<void *>(b.address), 0xff, b.bytes());
    return &b;
  }
  Status status;
  if (parsed.init == "zero") {
    status = device.fill8(b.address, 0, b.bytes());
  } else {
    std::vector<std::byte> content(b.bytes());
    fillBuffer(where, parsed, content.data());
    status = device.copyToDevice(b.address, content.data(), content.size());
  }
  if (!status)
    fail("{}: {}", where, status.message());
  return &b;
}

void Arguments::addBuffer(const std::string &spec) {
  const std::string where = fmt::format("--buffer={}", shorten(spec));
  const size_t equals = spec.find('=');
  const std::string name = spec.substr(0, equals);
  if (equals == spec.npos || name.empty() ||
      name.find_first_of("[]:@&+,/") != name.npos)
    fail("{}: expected NAME=SPEC", where);
  for (const Buffer &b : buffers)
    if (b.name == name)
      fail("{}: there is a buffer '{}' already", where, name);
  makeBuffer(where, name, spec.substr(equals + 1));
}

Arguments::Value Arguments::pointerTo(const Buffer &buffer,
                                      uint64_t offset) const {
  Value v;
  v.bytes.resize(8);
  const uint64_t address = buffer.address + offset;
  std::memcpy(v.bytes.data(), &address, 8);
  v.buffer = &buffer;
  return v;
}

Arguments::Value Arguments::makeValue(const std::string &where,
                                      const Param &param,
                                      const std::string &spec) {
  Value v;
  if (spec.starts_with("bytes:")) {
    v.bytes = rawBytes(where, std::string_view(spec).substr(6));
    return v;
  }
  if (spec.starts_with("map:")) {
    v.bytes = tensorMap(where, spec.substr(4));
    return v;
  }
  if (spec.starts_with('&')) {
    const size_t plus = std::min(spec.find('+'), spec.size());
    const Buffer &buffer = find(where, spec.substr(1, plus - 1));
    return pointerTo(buffer,
                     plus < spec.size()
                         ? parseNumbers(where, spec.substr(plus + 1), '+')[0]
                         : 0);
  }
  if (isBufferSpec(spec))
    return pointerTo(*makeBuffer(where, param.name, spec));
  const size_t equals = spec.find('=');
  if (equals == spec.npos)
    fail("{}: expected TYPE=VALUE, TYPE[SHAPE]=INIT, FILE.npy, "
         "FILE.safetensors:NAME, &BUFFER, map:BUFFER or bytes:HEX",
         where);
  const ElementType *type = findType(spec.substr(0, equals));
  if (!type)
    fail("{}: expected a type of {}, but got '{}'", where, typeNames(),
         spec.substr(0, equals));
  const auto bits = encode(*type, spec.substr(equals + 1));
  if (!bits)
    fail("{}: expected a number of type {}, but got '{}'", where, type->name,
         spec.substr(equals + 1));
  const bool isFloat = type->kind == ElementType::Float;
  if (isFloat ? isIntegerParam(param) : isFloatParam(param))
    fail("{}: parameter '{}' is .{}, but got {}", where, param.name, param.type,
         type->name);
  v.bytes.resize(type->bytes);
  std::memcpy(v.bytes.data(), &*bits, type->bytes);
  return v;
}

void Arguments::addArgument(const std::string &spec) {
  const size_t index = values.size();
  const std::string where = fmt::format("--arg {} ({})", index, shorten(spec));
  if (index >= kernel.params.size())
    fail("{}: entry '{}' has {} parameters", where, kernel.name,
         kernel.params.size());
  const Param &param = kernel.params[index];
  Value v = makeValue(where, param, spec);
  if (v.buffer && isFloatParam(param))
    fail("{}: parameter '{}' is .{}, but got a buffer", where, param.name,
         param.type);
  if (v.bytes.size() != param.size)
    fail("{}: parameter '{}' has {} bytes, but got {}", where, param.name,
         param.size, v.bytes.size());
  values.push_back(std::move(v));
}

void Arguments::finish() const {
  if (values.size() != kernel.params.size())
    fail("--arg: entry '{}' has {} parameters, but got {}", kernel.name,
         kernel.params.size(), values.size());
}

const Buffer &Arguments::find(const std::string &where,
                              std::string_view which) const {
  for (const Buffer &b : buffers)
    if (b.name == which)
      return b;
  size_t index = 0;
  const char *begin = which.data(), *end = begin + which.size();
  if (auto [p, code] = std::from_chars(begin, end, index);
      code == std::errc() && p == end) {
    if (index >= values.size() || !values[index].buffer)
      fail("{}: expected the index of an argument that is a buffer, but got {}",
           where, index);
    return *values[index].buffer;
  }
  std::string names;
  for (const Buffer &b : buffers)
    names += (names.empty() ? "" : ", ") + b.name;
  fail("{}: expected a buffer of {}, but got '{}'", where,
       names.empty() ? "none" : names, which);
}

std::vector<const void *> Arguments::pointers() const {
  std::vector<const void *> p;
  p.reserve(values.size());
  for (const Value &v : values)
    p.push_back(v.bytes.data());
  return p;
}
