//===- ManifestFuzz.cpp - Any bytes as a manifest -------------------------===//
//
// Either an error that names the file, or a manifest whose commands name things
// that exist and whose expressions can be evaluated or refused.
//
//===----------------------------------------------------------------------===//
#include "runtime/Artifact/Manifest.h"

#include <cstdlib>

using namespace k2rt;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

template <typename List> static void requireIn(int index, const List &list) {
  require(index >= 0 && static_cast<size_t>(index) < list.size());
}

static void evaluate(const Expr &expr, const Symbols &symbols) {
  Expected<int64_t> value = expr.evaluate(symbols);
  require(value || !value.status().message().empty());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  Expected<Manifest> manifest = parseManifest(text, "f");
  if (!manifest) {
    require(manifest.status().message().starts_with("f: "));
    return 0;
  }
  Symbols symbols = manifest->model.constants;
  for (const char *name : {"T", "B", "S", "P", "masked", "layer"})
    symbols[name] = INT64_MAX - 1;
  for (const Buffer &buffer : manifest->buffers)
    for (const Expr &extent : buffer.shape)
      evaluate(extent, symbols);
  for (const auto &[name, commands] : manifest->entries)
    walkCommands(commands, [&](const Command &command) {
      evaluate(command.expr, symbols);
      if (command.op != CommandOp::Launch)
        return;
      requireIn(command.target, manifest->kernels);
      require(command.args.size() ==
              manifest->kernels[command.target].args.size());
      for (const LaunchArg &arg : command.args) {
        if (arg.kind == LaunchArg::BufferRef)
          requireIn(arg.target, manifest->buffers);
        if (arg.kind == LaunchArg::ParamRef)
          requireIn(arg.target, manifest->params);
        evaluate(arg.value, symbols);
      }
    });
  return 0;
}
