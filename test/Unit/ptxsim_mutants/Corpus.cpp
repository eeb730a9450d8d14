#include "test/Unit/ptxsim_mutants/Corpus.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>

using namespace mutants;
using namespace ptxsim;

namespace {

[[noreturn]] void bad(const std::string &what) {
  throw std::runtime_error("corpus: " + what);
}

size_t bytesOf(const std::string &type) {
  static const std::map<std::string, size_t> sizes = {
      {"u8", 1},  {"e4m3", 1}, {"bf16", 2}, {"f16", 2}, {"i32", 4},
      {"u32", 4}, {"f32", 4},  {"i64", 8},  {"u64", 8}, {"f64", 8}};
  auto it = sizes.find(type);
  if (it == sizes.end())
    bad("unknown type " + type);
  return it->second;
}

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    bad("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The bits of a number in this type.
uint64_t encode(const std::string &type, double value) {
  if (type == "f32")
    return std::bit_cast<uint32_t>(float(value));
  if (type == "f64")
    return std::bit_cast<uint64_t>(value);
  if (type == "bf16")
    return std::bit_cast<uint32_t>(float(value)) >> 16;
  if (type == "f16") {
    // Normal numbers are all that is asked for here.
    const uint32_t bits = std::bit_cast<uint32_t>(float(value));
    const int exponent = int(bits >> 23 & 255) - 127 + 15;
    if (exponent <= 0)
      return bits >> 16 & 0x8000;
    return (bits >> 16 & 0x8000) | uint32_t(exponent) << 10 |
           (bits >> 13 & 0x3ff);
  }
  return uint64_t(int64_t(value));
}

std::vector<std::byte> content(const std::string &type, size_t n,
                               const std::string &how, unsigned seed) {
  const size_t size = bytesOf(type);
  if (size_t holes = how.find('!'); holes != how.npos) {
    auto out = content(type, n, how.substr(0, holes), seed);
    std::stringstream list(how.substr(holes + 1));
    size_t first, last;
    char sign;
    while (list >> first >> sign >> last) {
      if (last > n)
        bad("a range behind the end");
      std::memset(&out[first * size], 0xff, (last - first) * size);
      list >> sign;
    }
    return out;
  }
  std::vector<std::byte> out(n * size);
  std::mt19937 random(seed);
  auto put = [&](size_t i, uint64_t bits) {
    std::memcpy(&out[i * size], &bits, size);
  };
  if (how == "zero")
    return out;
  if (how == "poison") {
    std::memset(out.data(), 0xff, out.size());
  } else if (how == "normal") {
    std::normal_distribution<double> normal;
    for (size_t i = 0; i < n; ++i)
      put(i, encode(type, normal(random)));
  } else if (how == "iota") {
    for (size_t i = 0; i < n; ++i)
      put(i, encode(type, double(i)));
  } else if (how == "fp8") {
    for (size_t i = 0; i < n; ++i) {
      uint64_t code;
      do
        code = random() & 0xff;
      while ((code & 0x7f) == 0x7f);
      put(i, code);
    }
  } else if (how.starts_with("below:")) {
    const unsigned limit = unsigned(std::stoul(how.substr(6)));
    for (size_t i = 0; i < n; ++i)
      put(i, encode(type, double(random() % limit)));
  } else if (how.starts_with("values:")) {
    std::stringstream list(how.substr(7));
    std::string item;
    for (size_t i = 0; std::getline(list, item, ','); ++i) {
      if (i >= n)
        bad("more values than elements");
      put(i, encode(type, std::stod(item)));
    }
  } else {
    bad("unknown content " + how);
  }
  return out;
}

Dim3 dims(std::istream &in) {
  Dim3 d;
  in >> d.x;
  if (!(in >> d.y))
    d.y = 1;
  if (!(in >> d.z))
    d.z = 1;
  return d;
}

Argument tensorMap(std::istream &in) {
  static const std::map<std::string, TensorMapDesc::DataType> types = {
      {"u8", TensorMapDesc::UInt8},    {"e4m3", TensorMapDesc::UInt8},
      {"f16", TensorMapDesc::Float16}, {"bf16", TensorMapDesc::BFloat16},
      {"f32", TensorMapDesc::Float32}, {"i32", TensorMapDesc::Int32}};
  static const std::map<std::string, TensorMapDesc::Swizzle> swizzles = {
      {"swizzle0", TensorMapDesc::SwizzleNone},
      {"swizzle32", TensorMapDesc::Swizzle32B},
      {"swizzle64", TensorMapDesc::Swizzle64B},
      {"swizzle128", TensorMapDesc::Swizzle128B}};
  Argument a;
  a.kind = Argument::Map;
  std::string of, swizzle;
  uint64_t rows, columns;
  uint32_t boxRows, boxColumns;
  in >> a.type >> of >> rows >> columns >> boxRows >> boxColumns >> swizzle;
  if (!in || of[0] != '@' || !types.contains(a.type) ||
      !swizzles.contains(swizzle))
    bad("a tensor map that cannot be read");
  a.of = std::stoul(of.substr(1));
  TensorMapDesc &d = a.map;
  d.type = types.at(a.type);
  d.rank = 2;
  d.dims = {columns, rows};
  d.strides = {columns * elementBytes(d.type)};
  d.box = {boxColumns, boxRows};
  d.swizzle = swizzles.at(swizzle);
  return a;
}

void readLine(Case &c, const std::string &word, std::istream &in) {
  if (word == "grid") {
    c.grid = dims(in);
  } else if (word == "block") {
    c.block = dims(in);
  } else if (word == "cluster") {
    c.cluster = dims(in);
  } else if (word == "options") {
    in >> c.options;
  } else if (word == "shared") {
    in >> c.shared;
  } else if (word == "unordered") {
    in >> c.tolerance;
  } else if (word == "buffer" || word == "data") {
    Argument a;
    a.isPassed = word == "buffer";
    size_t n = 0;
    std::string how;
    in >> a.type >> n >> how;
    a.kind = Argument::Buffer;
    a.bytes = content(a.type, n, how, unsigned(c.arguments.size() + 1));
    c.arguments.push_back(std::move(a));
  } else if (word == "same") {
    Argument a;
    std::string of;
    in >> of;
    a.kind = Argument::Same;
    a.of = std::stoul(of.substr(1));
    c.arguments.push_back(std::move(a));
  } else if (word == "map") {
    c.arguments.push_back(tensorMap(in));
  } else {
    Argument a;
    double value = 0;
    in >> value;
    a.type = word;
    a.bytes.resize(bytesOf(word));
    const uint64_t bits = encode(word, value);
    std::memcpy(a.bytes.data(), &bits, a.bytes.size());
    c.arguments.push_back(std::move(a));
  }
}

} // namespace

std::vector<Case> mutants::readCorpus(const std::string &path) {
  std::stringstream text(readFile(path));
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  std::vector<Case> cases;
  std::string line, origin;
  while (std::getline(text, line)) {
    std::stringstream in(line.substr(0, line.find('#')));
    std::string word;
    if (!(in >> word))
      continue;
    if (word == "origin") {
      in >> origin;
      continue;
    }
    if (word == "case") {
      Case &c = cases.emplace_back();
      in >> c.name >> c.file >> c.entry;
      c.origin = origin;
      c.text = readFile(folder + c.file);
      continue;
    }
    if (cases.empty())
      bad("a line before the first case: " + line);
    Case &c = cases.back();
    if (word == "again") {
      Case &more = c.again.emplace_back();
      more.name = c.name, more.file = c.file, more.entry = c.entry;
      continue;
    }
    readLine(c.again.empty() ? c : c.again.back(), word, in);
  }
  return cases;
}

size_t Case::parameters() const {
  size_t n = 0;
  for (const Argument &a : arguments)
    n += a.isPassed;
  return n;
}

namespace {
Outcome launch(const Case &c, const std::string &text,
               const DeviceOptions &options) {
  Outcome result;
  Device device(options);
  auto module = device.loadModule(text, c.file);
  if (!module) {
    result.error = module.message();
    result.loaded = false;
    return result;
  }
  const Kernel *kernel = (*module)->find(c.entry);
  if (!kernel || kernel->params.size() != c.parameters())
    bad("the arguments of " + c.name + " are not those of its kernel");
  std::vector<uint64_t> pointers(c.arguments.size());
  std::vector<TensorMap> maps(c.arguments.size());
  std::vector<const void *> params(c.arguments.size());
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    const Argument &a = c.arguments[i];
    params[i] = a.bytes.data();
    if (a.kind != Argument::Buffer)
      continue;
    auto p = device.allocate(a.bytes.size(), "argument " + std::to_string(i));
    if (!p || !device.copyToDevice(*p, a.bytes.data(), a.bytes.size()))
      bad("no memory");
    pointers[i] = *p;
    params[i] = &pointers[i];
  }
  for (size_t i = 0; i < c.arguments.size(); ++i)
    if (c.arguments[i].kind == Argument::Same) {
      params[i] = &pointers.at(c.arguments[i].of);
    } else if (c.arguments[i].kind == Argument::Map) {
      TensorMapDesc d = c.arguments[i].map;
      d.address = pointers.at(c.arguments[i].of);
      auto map = encodeTiled(d);
      if (!map)
        bad(map.message());
      maps[i] = *map;
      params[i] = &maps[i];
    }
  for (size_t i = c.arguments.size(); i-- > 0;)
    if (!c.arguments[i].isPassed)
      params.erase(params.begin() + long(i));
  Counters counters;
  result.error = device
                     .launch(**module, *kernel, c.grid, c.block, c.shared,
                             params.data(), &counters, c.cluster)
                     .message();
  result.instructions = counters.warpInstructions;
  for (size_t i = 0; i < c.arguments.size(); ++i)
    if (pointers[i]) {
      auto &out = result.buffers.emplace_back(c.arguments[i].bytes.size());
      (void)device.copyToHost(out.data(), pointers[i], out.size());
    }
  return result;
}
} // namespace

Outcome mutants::run(const Case &c, const std::string &text,
                     DeviceOptions options) {
  Outcome all = launch(c, text, options);
  for (const Case &more : c.again) {
    if (!all.error.empty())
      break;
    Outcome next = launch(more, text, options);
    all.error = next.error;
    all.instructions += next.instructions;
    for (auto &buffer : next.buffers)
      all.buffers.push_back(std::move(buffer));
  }
  return all;
}

bool mutants::agree(const Case &c, const Outcome &a, const Outcome &b) {
  if (!c.tolerance)
    return a.buffers == b.buffers;
  if (a.buffers.size() != b.buffers.size())
    return false;
  std::vector<const Argument *> arguments;
  for (const Argument &x : c.arguments)
    arguments.push_back(&x);
  for (const Case &more : c.again)
    for (const Argument &x : more.arguments)
      arguments.push_back(&x);
  size_t buffer = 0;
  for (const Argument *argument : arguments) {
    if (argument->kind != Argument::Buffer)
      continue;
    const auto &x = a.buffers[buffer], &y = b.buffers[buffer];
    ++buffer;
    if (argument->type != "f32") {
      if (x != y)
        return false;
      continue;
    }
    for (size_t i = 0; i < x.size(); i += 4) {
      float u, v;
      std::memcpy(&u, &x[i], 4);
      std::memcpy(&v, &y[i], 4);
      if (std::memcmp(&u, &v, 4) &&
          !(std::fabs(u - v) <= c.tolerance * std::fabs(u)))
        return false;
    }
  }
  return true;
}
