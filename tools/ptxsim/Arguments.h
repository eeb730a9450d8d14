#ifndef TOOLS_PTXSIM_ARGUMENTS_H
#define TOOLS_PTXSIM_ARGUMENTS_H

#include "runtime/ptxsim/ptxsim.h"
#include "tools/ptxsim/Element.h"

#include <deque>
#include <vector>

namespace ptxsim::tool {

/// Memory of the device with elements of one type.
struct Buffer {
  std::string name;
  const ElementType *type = nullptr;
  std::vector<uint64_t> shape; ///< innermost last
  uint64_t address = 0, elements = 0;
  uint64_t bytes() const { return elements * type->bytes; }
};

/// What --buffer and --arg give a kernel. All functions throw UsageError, whose
/// text names the option.
class Arguments {
public:
  Arguments(Device &device, const Kernel &kernel)
      : device(device), kernel(kernel) {}

  /// --buffer=NAME=SPEC
  void addBuffer(const std::string &spec);
  /// --arg=SPEC, for the next parameter.
  void addArgument(const std::string &spec);
  /// There is an argument for every parameter.
  void finish() const;

  /// By name or by the index of its parameter.
  const Buffer &find(const std::string &option, std::string_view which) const;
  /// In the order they were given.
  const std::deque<Buffer> &all() const { return buffers; }
  /// As launch() takes them.
  std::vector<const void *> pointers() const;

private:
  struct Value {
    std::vector<std::byte> bytes;
    const Buffer *buffer = nullptr; ///< it is the address of
  };
  const Buffer *makeBuffer(const std::string &where, std::string name,
                           const std::string &spec);
  Buffer &allocate(const std::string &where, std::string name,
                   const ElementType &type, std::vector<uint64_t> shape);
  Value makeValue(const std::string &where, const Param &param,
                  const std::string &spec);
  Value pointerTo(const Buffer &buffer, uint64_t offset = 0) const;
  std::vector<std::byte> tensorMap(const std::string &where,
                                   const std::string &spec) const;

  Device &device;
  const Kernel &kernel;
  std::deque<Buffer> buffers;
  std::vector<Value> values;
  uint64_t allocated = 0;
};

/// Numbers such as `128`, `128,64`: at least one, each below 2^63. `where`
/// begins the error's text.
std::vector<uint64_t> parseNumbers(const std::string &where,
                                   std::string_view text, char separator);

} // namespace ptxsim::tool

#endif // TOOLS_PTXSIM_ARGUMENTS_H
