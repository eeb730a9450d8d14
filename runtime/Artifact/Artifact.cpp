//===- Artifact.cpp - A compiled model on disk ----------------------------===//
#include "runtime/Artifact/Artifact.h"

#include "runtime/Artifact/Sha256.h"
#include "runtime/Checkpoint/MappedFile.h"

#include <filesystem>

namespace k2rt {

namespace fs = std::filesystem;

Expected<Artifact> Artifact::open(const std::string &folder) {
  std::error_code ec;
  if (!fs::is_directory(folder, ec))
    return Status::input(folder + ": expected the folder of an artifact" +
                         (fs::exists(folder, ec) ? ", but got a file"
                                                 : ", but got nothing there"));
  Artifact artifact;
  artifact.folder_ = folder;
  std::string path = (fs::path(folder) / "manifest.json").string();
  Expected<std::string> text = readTextFile(path);
  if (!text)
    return text.status();
  Expected<Manifest> manifest = parseManifest(*text, path);
  if (!manifest)
    return manifest.status();
  artifact.manifest_ = std::move(*manifest);

  for (const KernelInfo &kernel : artifact.manifest_.kernels) {
    KernelCode code;
    code.ptxPath = (fs::path(folder) / kernel.ptx).string();
    Expected<std::string> ptx = readTextFile(code.ptxPath);
    if (!ptx)
      return Status::input(ptx.status().message() + " (kernel '" + kernel.name +
                           "')");
    code.ptx = std::move(*ptx);
    code.edited = sha256(code.ptx) != kernel.ptxHash;
    // Without ptxas there are no cubins, and the driver compiles the PTX.
    fs::path cubin = fs::path(folder) / kernel.cubin;
    if (!kernel.cubin.empty() && !code.edited && fs::exists(cubin, ec)) {
      Expected<std::string> image = readTextFile(cubin.string());
      if (!image)
        return image.status();
      code.cubin = std::move(*image);
    }
    artifact.code_.push_back(std::move(code));
  }
  return artifact;
}

} // namespace k2rt
