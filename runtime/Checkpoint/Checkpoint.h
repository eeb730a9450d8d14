//===- Checkpoint.h - A folder of safetensors files -------------*- C++ -*-===//
//
// Which files are read: those that model.safetensors.index.json names, if there
// is an index; else model.safetensors; else model-*-of-*.safetensors. Nothing
// else in the folder is looked at.
//
// Names: multimodal checkpoints put the text model under `language_model.` or
// `language_model.model.` instead of `model.`. Tensors are found by any of
// these spellings; a tensor that exists under two of them is an error when
// asked for.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_CHECKPOINT_CHECKPOINT_H
#define RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "runtime/Checkpoint/SafetensorsFile.h"

namespace k2rt {

class Checkpoint {
public:
  /// Opens every file of the folder and checks every header.
  static Expected<Checkpoint> open(const std::string &folder);

  /// True when `folder` has files that open() would read.
  static bool present(const std::string &folder);

  /// The tensor called `name` (as in a plain checkpoint: `model.layers.0...`,
  /// `lm_head.weight`), nullptr when there is none, an error when there are
  /// two.
  Expected<const TensorView *> find(const std::string &name) const;

  /// As find(), but absence is an error that names the tensor and the folder.
  Expected<const TensorView *> get(const std::string &name) const;

  /// All tensors, in order of files and of data in them.
  const std::vector<const TensorView *> &tensors() const { return tensors_; }
  const std::string &folder() const { return folder_; }

  /// Whether `path` is one of the files that are read: no place to write to.
  bool reads(const std::string &path) const;

  /// `name` without the prefixes above: `layers.0...`, `lm_head.weight`.
  static std::string plainName(const std::string &name);

private:
  Status openIndexed(const std::string &index);
  Status openShards(const std::vector<std::string> &paths);
  Status add(const TensorView &tensor);

  std::string folder_;
  std::vector<std::shared_ptr<SafetensorsFile>> files_;
  std::vector<const TensorView *> tensors_;
  std::unordered_map<std::string, const TensorView *> byName_;
  std::unordered_map<std::string, std::vector<const TensorView *>> byPlainName_;
};

} // namespace k2rt

#endif // RUNTIME_CHECKPOINT_CHECKPOINT_H
