// What is in a buffer at first: a pattern, numbers, or a file.

#include "tools/ptxsim/BufferSpec.h"
#include "runtime/Checkpoint/SafetensorsFile.h"
#include "tools/ptxsim/Arguments.h"
#include "tools/ptxsim/Error.h"

#include <charconv>
#include <cmath>
#include <cstring>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

constexpr std::string_view safetensors = ".safetensors:";

/// splitmix64: the same numbers everywhere.
double uniform(uint64_t &state) {
  uint64_t x = state += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return double((x ^ x >> 31) >> 11) * 0x1p-53;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const char *begin = text.data(), *end = begin + text.size();
  auto [p, code] = std::from_chars(begin, end, value);
  if (code != std::errc() || p != end)
    return std::nullopt;
  return value;
}

void put(std::byte *to, const ElementType &type, uint64_t index,
         uint64_t bits) {
  std::memcpy(to + index * type.bytes, &bits, type.bytes);
}

/// rand:SEED or rand:SEED:LOW:HIGH.
void fillRandom(const std::string &where, const BufferSpec &spec,
                uint64_t elements, std::byte *to) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= spec.init.size();) {
    const size_t end = std::min(spec.init.find(':', at), spec.init.size());
    parts.push_back(spec.init.substr(at, end - at));
    at = end + 1;
  }
  const bool isFloat = spec.type->kind == ElementType::Float;
  std::optional<double> low = isFloat ? -1 : 0, high = isFloat ? 1 : 100;
  uint64_t seed = 0;
  const bool right = parts.size() == 2 || parts.size() == 4;
  if (parts.size() == 4)
    low = number(parts[2]), high = number(parts[3]);
  const char *begin = right ? parts[1].data() : nullptr,
             *end = begin + (right ? parts[1].size() : 0);
  if (!right || parts[1].empty() ||
      std::from_chars(begin, end, seed).ptr != end || !low || !high ||
      !std::isfinite(*high - *low) || *low > *high)
    fail("{}: expected rand:SEED or rand:SEED:LOW:HIGH, but got '{}'", where,
         spec.init);
  if (!isFloat) {
    const double most = std::ldexp(
                     1.0, int(8 * spec.type->bytes) -
                              (spec.type->kind == ElementType::Signed)),
                 least = spec.type->kind == ElementType::Signed ? -most : 0;
    if (*low < least || *high > most)
      fail("{}: expected LOW and HIGH in the range of {}, but got '{}'", where,
           spec.type->name, spec.init);
  }
  for (uint64_t i = 0; i < elements; ++i) {
    const double value = *low + (*high - *low) * uniform(seed);
    put(to, *spec.type, i,
        encode(*spec.type, isFloat ? value : std::floor(value)));
  }
}

void fillNumbers(const std::string &where, const BufferSpec &spec,
                 uint64_t elements, std::byte *to) {
  uint64_t count = 0;
  std::string_view rest = spec.init;
  for (;;) {
    const std::string item(rest.substr(0, rest.find(',')));
    const auto bits = encode(*spec.type, item);
    if (!bits)
      fail("{}: expected zero, iota, rand:SEED or numbers of type {}, but got "
           "'{}'",
           where, spec.type->name, shorten(item));
    if (count < elements)
      put(to, *spec.type, count, *bits);
    ++count;
    if (item.size() == rest.size())
      break;
    rest.remove_prefix(item.size() + 1);
  }
  if (count == 1) // one number fills it
    for (uint64_t i = 1; i < elements; ++i)
      std::memcpy(to + i * spec.type->bytes, to, spec.type->bytes);
  else if (count != elements)
    fail("{}: expected {} numbers, but got {}", where, elements, count);
}

/// The type that `TYPE@` asks for instead of the file's: as wide.
const ElementType *retype(const std::string &where, std::string_view name,
                          const ElementType *held) {
  if (name.empty())
    return held;
  const ElementType *type = findType(name);
  if (!type)
    fail("{}: expected a type of {} before '@', but got '{}'", where,
         typeNames(), name);
  if (type->bytes != held->bytes)
    fail("{}: expected a type of {} bytes, as the file has {}, but got {}",
         where, held->bytes, held->name, type->name);
  return type;
}

BufferSpec fromSafetensors(const std::string &where, const std::string &path,
                           const std::string &name) {
  auto file = k2rt::SafetensorsFile::open(path);
  if (!file)
    fail("{}: {}", where, file.status().message());
  const k2rt::TensorView *tensor = (*file)->find(name);
  if (!tensor)
    fail("{}: {} has no tensor '{}'", where, path, name);
  BufferSpec spec;
  spec.fromFile = true;
  spec.type = findSafetensorsType(k2rt::dtypeName(tensor->dtype));
  if (!spec.type)
    fail("{}: elements of type {} are not supported", where,
         k2rt::dtypeName(tensor->dtype));
  spec.shape.assign(tensor->shape.begin(), tensor->shape.end());
  spec.bytes.assign(tensor->bytes.begin(), tensor->bytes.end());
  return spec;
}

/// `[TYPE@]FILE.npy` or `[TYPE@]FILE.safetensors:NAME`.
BufferSpec fromFile(const std::string &where, std::string_view text) {
  std::string_view type;
  if (const size_t at = text.find('@'); at != text.npos) {
    type = text.substr(0, at);
    text.remove_prefix(at + 1);
    if (type.empty())
      fail("{}: expected a type before '@'", where);
  }
  BufferSpec spec;
  if (const size_t at = text.find(safetensors); at != text.npos) {
    const size_t colon = at + safetensors.size() - 1;
    spec = fromSafetensors(where, std::string(text.substr(0, colon)),
                           std::string(text.substr(colon + 1)));
  } else {
    Array array;
    try {
      array = readNpy(std::string(text));
    } catch (const UsageError &e) {
      fail("{}: {}", where, e.text);
    }
    spec.fromFile = true;
    spec.type = array.type;
    spec.shape = std::move(array.shape);
    spec.bytes = std::move(array.bytes);
  }
  spec.type = retype(where, type, spec.type);
  return spec;
}

bool isFile(std::string_view spec) {
  return spec.ends_with(".npy") || spec.find(safetensors) != spec.npos;
}

} // namespace

std::string tool::shorten(std::string_view text) {
  return text.size() <= 60 ? std::string(text)
                           : std::string(text.substr(0, 57)) + "...";
}

bool tool::isBufferSpec(std::string_view spec) {
  return isFile(spec) || spec.find('[') < spec.find('=');
}

BufferSpec tool::parseBufferSpec(const std::string &where,
                                 const std::string &text) {
  if (isFile(text))
    return fromFile(where, text);
  BufferSpec spec;
  const size_t open = text.find('['), close = text.find(']');
  if (open == text.npos || close == text.npos || close < open)
    fail("{}: expected TYPE[SHAPE]=INIT, FILE.npy or FILE.safetensors:NAME",
         where);
  const std::string name = text.substr(0, open);
  spec.type = findType(name);
  if (!spec.type)
    fail("{}: expected a type of {}, but got '{}'", where, typeNames(), name);
  if (close + 1 < text.size()) {
    spec.init = text.substr(close + 2);
    if (text[close + 1] != '=' || spec.init.empty())
      fail("{}: expected =INIT behind ']', but got '{}'", where,
           shorten(text.substr(close + 1)));
  }
  const std::string_view shape =
      std::string_view(text).substr(open + 1, close - open - 1);
  if (shape.empty()) { // as many as there are numbers
    if (spec.init.empty())
      fail("{}: expected a shape in the brackets, or numbers behind '='",
           where);
    spec.shape = {
        1 + uint64_t(std::count(spec.init.begin(), spec.init.end(), ','))};
  } else {
    spec.shape = parseNumbers(where, shape, ',');
  }
  return spec;
}

void tool::fillBuffer(const std::string &where, const BufferSpec &spec,
                      std::byte *to) {
  const uint64_t elements = *elementCount(spec.shape);
  if (!elements)
    return;
  if (spec.fromFile) {
    std::memcpy(to, spec.bytes.data(), spec.bytes.size());
  } else if (spec.init == "iota") {
    for (uint64_t i = 0; i < elements; ++i)
      put(to, *spec.type, i, encode(*spec.type, double(i)));
  } else if (spec.init.starts_with("rand")) {
    fillRandom(where, spec, elements, to);
  } else {
    fillNumbers(where, spec, elements, to);
  }
}
