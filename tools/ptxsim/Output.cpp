// Buffers after the launch: to the terminal or to files.

#include "tools/ptxsim/Output.h"
#include "runtime/Checkpoint/SafetensorsWriter.h"
#include "tools/ptxsim/Error.h"
#include "tools/ptxsim/Npy.h"

#include <cstring>
#include <set>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

std::span<const std::byte> bytesOf(const Buffer &b) {
  return {reinterpret_cast<const std::byte *>(b.address), b.bytes()};
}

void print(const Buffer &b, uint64_t most) {
  std::string text = b.name + " = [";
  for (uint64_t i = 0; i < b.elements && i < most; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytesOf(b).data() + i * b.type->bytes, b.type->bytes);
    text += (i ? "," : "") + decode(*b.type, bits);
  }
  if (b.elements > most)
    text += fmt::format("{}... {} elements", most ? "," : "", b.elements);
  fmt::print("{}]\n", text);
}

bool isSafetensors(const std::string &file) {
  return file.ends_with(".safetensors");
}

} // namespace

Outputs::Outputs(const Arguments &arguments,
                 const std::vector<std::string> &specs,
                 const std::string &print)
    : most(print == "all" ? ~0ull
                          : parseNumbers("--print", print, ',').front()) {
  for (const std::string &spec : specs) {
    const std::string where = "--out=" + spec;
    const size_t colon = std::min(spec.find(':'), spec.size());
    Output o{&arguments.find(where, spec.substr(0, colon)),
             spec.substr(std::min(colon + 1, spec.size()))};
    if (colon < spec.size() && !o.file.ends_with(".npy") &&
        !isSafetensors(o.file))
      fail("{}: expected WHICH, WHICH:FILE.npy or WHICH:FILE.safetensors",
           where);
    outputs.push_back(std::move(o));
  }
  if (specs.empty())
    for (const Buffer &b : arguments.all())
      outputs.push_back({&b, {}});
}

void Outputs::writeSafetensors(const std::string &file) const {
  auto writer = k2rt::SafetensorsWriter::create(file);
  const auto require = [&](const k2rt::Status &status) {
    if (!status.ok())
      fail("--out: {}", status.message());
  };
  require(writer.status());
  for (const Output &o : outputs)
    if (o.file == file) {
      const auto dtype = k2rt::parseDType(o.buffer->type->safetensors);
      require(writer->declare(o.buffer->name, *dtype,
                              std::vector<int64_t>(o.buffer->shape.begin(),
                                                   o.buffer->shape.end())));
    }
  for (const Output &o : outputs)
    if (o.file == file)
      require(writer->write(o.buffer->name, 0, bytesOf(*o.buffer)));
  require(writer->commit());
}

void Outputs::write() const {
  std::set<std::string> done;
  for (const Output &o : outputs) {
    if (o.file.empty())
      print(*o.buffer, most);
    else if (!isSafetensors(o.file))
      writeNpy(o.file, *o.buffer->type, o.buffer->shape, bytesOf(*o.buffer));
    else if (done.insert(o.file).second)
      writeSafetensors(o.file);
  }
}
