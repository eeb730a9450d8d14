//===- Manifest.cpp - manifest.json of an artifact ------------------------===//
#include "runtime/Artifact/Manifest.h"

#include "runtime/Artifact/ManifestReader.h"

namespace k2rt {

std::string_view elementTypeName(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return "bf16";
  case ElementType::F32:
    return "f32";
  case ElementType::F8E4M3:
    return "f8e4m3";
  case ElementType::I32:
    return "i32";
  }
  return "";
}

int64_t elementTypeSize(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return 2;
  case ElementType::F8E4M3:
    return 1;
  case ElementType::F32:
  case ElementType::I32:
    break;
  }
  return 4;
}

int Manifest::findBuffer(std::string_view name) const {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].name == name)
      return static_cast<int>(i);
  return -1;
}

Expected<Manifest> parseManifest(const std::string &text,
                                 const std::string &path) {
  JsonDocument document = JsonDocument::parse(text, path);
  if (document.status.failed())
    return document.status;
  Manifest manifest = ManifestReader(document).read();
  if (document.status.failed())
    return document.status;
  return manifest;
}

} // namespace k2rt
