// A tensor map from the command line.

#include "runtime/ptxsim/TensorMap.h"
#include "tools/ptxsim/Arguments.h"
#include "tools/ptxsim/Error.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

TensorMapDesc::DataType dataType(const std::string &where,
                                 std::string_view name) {
  static const std::map<std::string_view, TensorMapDesc::DataType> types = {
      {"u8", TensorMapDesc::UInt8},           {"s8", TensorMapDesc::UInt8},
      {"e4m3", TensorMapDesc::UInt8},         {"e5m2", TensorMapDesc::UInt8},
      {"u16", TensorMapDesc::UInt16},         {"s16", TensorMapDesc::UInt16},
      {"u32", TensorMapDesc::UInt32},         {"s32", TensorMapDesc::Int32},
      {"u64", TensorMapDesc::UInt64},         {"s64", TensorMapDesc::Int64},
      {"f16", TensorMapDesc::Float16},        {"f32", TensorMapDesc::Float32},
      {"f64", TensorMapDesc::Float64},        {"bf16", TensorMapDesc::BFloat16},
      {"f32ftz", TensorMapDesc::Float32Ftz},  {"tf32", TensorMapDesc::TFloat32},
      {"tf32ftz", TensorMapDesc::TFloat32Ftz}};
  const auto it = types.find(name);
  if (it == types.end())
    fail("{}: expected a type that tensor maps have, but got '{}'", where,
         name);
  return it->second;
}

uint32_t oneOf(const std::string &where, std::string_view value,
               std::initializer_list<std::string_view> names) {
  std::string all;
  uint32_t index = 0;
  for (std::string_view name : names) {
    if (name == value)
      return index;
    all += (index++ ? ", " : "") + std::string(name);
  }
  fail("{}: expected one of {}, but got '{}'", where, all, value);
}

} // namespace

/// `BUFFER:box=64,64[:KEY=VALUE...]`. Sizes are written as a shape is,
/// innermost last; the description has them innermost first.
std::vector<std::byte> Arguments::tensorMap(const std::string &where,
                                            const std::string &spec) const {
  const size_t colon = std::min(spec.find(':'), spec.size());
  const Buffer &buffer = find(where, spec.substr(0, colon));
  std::map<std::string, std::string> given;
  for (size_t at = colon + 1; at <= spec.size();) {
    const size_t end = std::min(spec.find(':', at), spec.size()),
                 equals = spec.find('=', at);
    if (equals >= end)
      fail("{}: expected KEY=VALUE, but got '{}'", where,
           spec.substr(at, end - at));
    const std::string key = spec.substr(at, equals - at);
    oneOf(where, key,
          {"box", "dims", "strides", "steps", "swizzle", "type", "fill",
           "offset", "l2"});
    if (!given.emplace(key, spec.substr(equals + 1, end - equals - 1)).second)
      fail("{}: expected each key once, but got '{}' again", where, key);
    at = end + 1;
  }
  const auto sizes = [&](const char *key) {
    std::vector<uint64_t> n =
        given.contains(key) ? parseNumbers(where + ": " + key, given[key], ',')
                            : std::vector<uint64_t>();
    std::reverse(n.begin(), n.end());
    return n;
  };
  TensorMapDesc d;
  d.type =
      dataType(where, given.contains("type") ? std::string_view(given["type"])
                                             : buffer.type->name);
  const uint32_t bytes = elementBytes(d.type);
  std::vector<uint64_t> dims = sizes("dims");
  if (dims.empty())
    dims.assign(buffer.shape.rbegin(), buffer.shape.rend());
  if (dims.empty() || dims.size() > 5)
    fail("{}: expected 1 to 5 dimensions, but got {}", where, dims.size());
  d.rank = uint32_t(dims.size());
  const auto expectCount = [&](const char *key, size_t got, size_t wanted) {
    if (got != wanted)
      fail("{}: {}: expected {} numbers, but got {}", where, key, wanted, got);
  };
  const std::vector<uint64_t> box = sizes("box"), steps = sizes("steps");
  std::vector<uint64_t> strides = sizes("strides");
  if (box.empty())
    fail("{}: expected box=SIZES", where);
  expectCount("box", box.size(), d.rank);
  if (!steps.empty())
    expectCount("steps", steps.size(), d.rank);
  if (strides.empty()) { // dense rows
    uint64_t stride = 1;
    for (unsigned i = 0; i + 1 < d.rank; ++i)
      strides.push_back(stride *= dims[i]);
  }
  expectCount("strides", strides.size(), d.rank - 1);
  for (unsigned i = 0; i < d.rank; ++i) {
    d.dims[i] = dims[i];
    d.box[i] = uint32_t(std::min<uint64_t>(box[i], ~0u));
    if (i + 1 < d.rank)
      d.strides[i] = strides[i] * bytes;
    if (!steps.empty())
      d.elementStrides[i] = uint32_t(std::min<uint64_t>(steps[i], ~0u));
  }
  if (given.contains("swizzle"))
    d.swizzle = TensorMapDesc::Swizzle(oneOf(
        where + ": swizzle", given["swizzle"], {"none", "32", "64", "128"}));
  if (given.contains("fill"))
    d.fill = TensorMapDesc::OobFill(
        oneOf(where + ": fill", given["fill"], {"zero", "nan"}));
  if (given.contains("l2"))
    d.l2Promotion =
        oneOf(where + ": l2", given["l2"], {"none", "64", "128", "256"});
  const uint64_t offset =
      given.contains("offset")
          ? parseNumbers(where + ": offset", given["offset"], ',')[0]
          : 0;
  d.address = buffer.address + offset;
  auto map = encodeTiled(d);
  if (!map)
    fail("{}: {}", where, map.message());
  return {map->bytes.begin(), map->bytes.end()};
}
