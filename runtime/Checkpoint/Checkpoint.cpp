//===- Checkpoint.cpp - A folder of safetensors files ---------------------===//
#include "runtime/Checkpoint/Checkpoint.h"

#include "runtime/Checkpoint/Index.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace k2rt {

namespace fs = std::filesystem;

namespace {
constexpr const char *kIndex = "model.safetensors.index.json";
constexpr const char *kSingle = "model.safetensors";

std::vector<std::string> shardPaths(const std::string &folder) {
  std::vector<std::string> paths;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end;
       it.increment(ec)) {
    std::string name = it->path().filename().string();
    if (name.starts_with("model-") && name.ends_with(".safetensors") &&
        name.find("-of-") != std::string::npos)
      paths.push_back(it->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// A link to nothing is there: it says that a file is missing.
bool exists(const std::string &folder, const char *name) {
  std::error_code ec;
  return fs::exists(fs::symlink_status(fs::path(folder) / name, ec));
}

std::string join(const std::string &folder, const std::string &name) {
  return (fs::path(folder) / name).string();
}
} // namespace

std::string Checkpoint::plainName(const std::string &name) {
  std::string_view rest = name;
  for (std::string_view prefix : {"language_model.", "model."})
    if (rest.starts_with(prefix))
      rest.remove_prefix(prefix.size());
  return std::string(rest);
}

bool Checkpoint::present(const std::string &folder) {
  return exists(folder, kIndex) || exists(folder, kSingle) ||
         !shardPaths(folder).empty();
}

Expected<Checkpoint> Checkpoint::open(const std::string &folder) {
  std::error_code ec;
  if (!fs::is_directory(folder, ec))
    return Status::input(folder + ": expected a folder with safetensors files" +
                         (fs::exists(folder, ec) ? ", but got a file"
                                                 : ", but got nothing there"));
  Checkpoint checkpoint;
  checkpoint.folder_ = folder;
  Status status;
  if (exists(folder, kIndex)) {
    status = checkpoint.openIndexed(join(folder, kIndex));
  } else if (exists(folder, kSingle)) {
    status = checkpoint.openShards({join(folder, kSingle)});
  } else {
    std::vector<std::string> shards = shardPaths(folder);
    if (shards.empty())
      return Status::input(fmt::format(
          "{}: expected {}, {} or model-*-of-*.safetensors, but got none of "
          "them",
          folder, kIndex, kSingle));
    status = checkpoint.openShards(shards);
  }
  if (status.failed())
    return status;
  return checkpoint;
}

Status Checkpoint::openIndexed(const std::string &index) {
  Expected<std::map<std::string, std::vector<std::string>>> files =
      readIndex(index);
  if (!files)
    return files.status();
  for (const auto &[name, tensors] : *files) {
    if (!exists(folder_, name.c_str()))
      return Status::input(
          fmt::format("{}: expected file '{}', which holds {} tensors such as "
                      "'{}', but got nothing there",
                      index, name, tensors.size(), tensors.front()));
    Expected<std::shared_ptr<SafetensorsFile>> file =
        SafetensorsFile::open(join(folder_, name));
    if (!file)
      return file.status();
    for (const std::string &tensor : tensors) {
      const TensorView *view = (*file)->find(tensor);
      if (!view)
        return Status::input(
            fmt::format("{}: expected tensor '{}' in '{}', but got a file "
                        "without it",
                        index, tensor, name));
      if (Status s = add(*view); s.failed())
        return s;
    }
    files_.push_back(std::move(*file));
  }
  return Status();
}

Status Checkpoint::openShards(const std::vector<std::string> &paths) {
  for (const std::string &path : paths) {
    Expected<std::shared_ptr<SafetensorsFile>> file =
        SafetensorsFile::open(path);
    if (!file)
      return file.status();
    for (const TensorView &view : (*file)->tensors())
      if (Status s = add(view); s.failed())
        return s;
    files_.push_back(std::move(*file));
  }
  return Status();
}

Status Checkpoint::add(const TensorView &tensor) {
  auto [it, isNew] = byName_.emplace(tensor.name, &tensor);
  if (!isNew)
    return Status::input(
        fmt::format("{}: expected tensor '{}' in one file, but got it also in "
                    "{}",
                    *it->second->file, tensor.name, *tensor.file));
  byPlainName_[plainName(tensor.name)].push_back(&tensor);
  tensors_.push_back(&tensor);
  return Status();
}

bool Checkpoint::reads(const std::string &path) const {
  std::error_code ec;
  return fs::equivalent(path, join(folder_, kIndex), ec) ||
         std::any_of(files_.begin(), files_.end(), [&](const auto &file) {
           return fs::equivalent(path, file->path(), ec);
         });
}

Expected<const TensorView *> Checkpoint::find(const std::string &name) const {
  auto it = byPlainName_.find(plainName(name));
  if (it == byPlainName_.end())
    return static_cast<const TensorView *>(nullptr);
  if (it->second.size() > 1)
    return Status::input(
        fmt::format("{}: expected tensor '{}' under one prefix, but got '{}' "
                    "and '{}'",
                    folder_, name, it->second[0]->name, it->second[1]->name));
  return it->second.front();
}

Expected<const TensorView *> Checkpoint::get(const std::string &name) const {
  Expected<const TensorView *> found = find(name);
  if (found && !*found)
    return Status::input(fmt::format(
        "{}: expected tensor '{}', but got none of that name", folder_, name));
  return found;
}

} // namespace k2rt
