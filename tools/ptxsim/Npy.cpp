// .npy files: the magic, a header that is a Python dictionary with three known
// keys, the elements. The header is taken strictly: what is not understood is
// refused.

#include "tools/ptxsim/Npy.h"
#include "tools/ptxsim/Error.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

/// Reads the dictionary of a header.
class HeaderReader {
public:
  HeaderReader(const std::string &path, std::string_view text)
      : path(path), text(text) {}

  void read(Array &array) {
    bool descr = false, order = false, shape = false, fortran = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        if (peek() == '[')
          fail("{}: expected elements that are numbers, but got a structured "
               "type",
               path);
        const std::string name = string();
        array.type = findNpyType(name);
        if (!array.type)
          fail("{}: expected a little-endian number type as descr, but got "
               "'{}'",
               path, name);
      } else if (key == "fortran_order" && !order) {
        order = true;
        fortran = boolean();
      } else if (key == "shape" && !shape) {
        shape = true;
        readShape(array);
      } else {
        fail("{}: expected the keys descr, fortran_order and shape once each, "
             "but got '{}'",
             path, key);
      }
      if (!accept(',') && peek() != '}')
        broken();
    }
    if (!descr || !order || !shape)
      fail("{}: expected the keys descr, fortran_order and shape in the header",
           path);
    if (peek())
      broken();
    if (fortran && array.shape.size() > 1)
      fail("{}: expected C order, but got fortran_order True", path);
  }

private:
  [[noreturn]] void broken() {
    fail("{}: malformed header at '{}'", path, text.substr(at, 20));
  }
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
    return at < text.size() ? text[at] : '\0';
  }
  bool accept(char c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      broken();
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      broken();
    const size_t end = text.find(quote, at + 1);
    if (end == text.npos)
      broken();
    std::string value(text.substr(at + 1, end - at - 1));
    at = end + 1;
    return value;
  }
  bool boolean() {
    peek();
    for (const auto &[name, value] :
         {std::pair<std::string_view, bool>("True", true), {"False", false}})
      if (text.substr(at).starts_with(name)) {
        at += name.size();
        return value;
      }
    broken();
  }
  void readShape(Array &array) {
    expect('(');
    while (!accept(')')) {
      peek();
      uint64_t n = 0;
      const char *end = text.data() + text.size();
      auto [p, code] = std::from_chars(text.data() + at, end, n);
      if (code != std::errc())
        broken();
      at = size_t(p - text.data());
      array.shape.push_back(n);
      if (array.shape.size() > 32)
        fail("{}: expected at most 32 dimensions", path);
      if (!accept(',') && peek() != ')')
        broken();
    }
  }

  const std::string &path;
  std::string_view text;
  size_t at = 0;
};

} // namespace

std::string tool::readFile(const std::string &path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status))
    fail("{}: cannot be read: {}", path,
         std::strerror(code ? code.value() : ENOENT));
  if (std::filesystem::is_directory(status))
    fail("{}: expected a file, but got a folder", path);
  // A pipe or a device might never end.
  if (!std::filesystem::is_regular_file(status))
    fail("{}: expected a regular file", path);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    fail("{}: cannot be read: {}", path, std::strerror(errno ? errno : EIO));
  std::string text((std::istreambuf_iterator<char>(in)),
                   std::istreambuf_iterator<char>());
  if (in.bad())
    fail("{}: cannot be read: {}", path, std::strerror(errno ? errno : EIO));
  return text;
}

std::optional<uint64_t> tool::elementCount(std::span<const uint64_t> shape) {
  uint64_t n = 1;
  for (uint64_t d : shape)
    if (__builtin_mul_overflow(n, d, &n))
      return std::nullopt;
  return n;
}

Array tool::readNpy(const std::string &path) {
  const std::string file = readFile(path);
  if (!file.starts_with(magic))
    fail("{}: expected a .npy file, but its first bytes are not \\x93NUMPY",
         path);
  const auto byte = [&](size_t i) { return uint64_t(uint8_t(file[i])); };
  const size_t lengthBytes = file.size() > 6 && byte(6) == 1 ? 2 : 4,
               start = 8 + lengthBytes;
  if (file.size() < start)
    fail("{}: the file ends inside its header", path);
  if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0)
    fail("{}: expected version 1.0, 2.0 or 3.0, but got {}.{}", path, byte(6),
         byte(7));
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= byte(8 + i) << 8 * i;
  if (file.size() - start < length)
    fail("{}: the file ends inside its header of {} bytes", path, length);
  Array array;
  HeaderReader(path, std::string_view(file).substr(start, length)).read(array);
  const auto elements = elementCount(array.shape);
  uint64_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, array.type->bytes, &bytes))
    fail("{}: the shape has more elements than fit into memory", path);
  const uint64_t held = file.size() - start - length;
  if (held != bytes)
    fail("{}: expected {} bytes after the header ({} elements of {} bytes), "
         "but got {}",
         path, bytes, *elements, array.type->bytes, held);
  array.bytes.resize(bytes);
  if (bytes)
    std::memcpy(array.bytes.data(), file.data() + start + length, bytes);
  return array;
}

void tool::writeNpy(const std::string &path, const ElementType &type,
                    std::span<const uint64_t> shape,
                    std::span<const std::byte> bytes) {
  std::string header = fmt::format(
      "{{'descr': '{}', 'fortran_order': False, 'shape': (", type.npy);
  for (uint64_t d : shape)
    header += fmt::format("{},", d);
  header += "), }";
  // The elements begin at a multiple of 64 bytes.
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out.write(magic.data(), magic.size());
  const char version[] = {1, 0, char(header.size() & 0xff),
                          char(header.size() >> 8)};
  out.write(version, sizeof version);
  out << header;
  out.write(reinterpret_cast<const char *>(bytes.data()),
            std::streamsize(bytes.size()));
  out.close();
  if (!out)
    fail("{}: cannot be written: {}", path, std::strerror(errno ? errno : EIO));
}
