//===- RunOutput.h - The tensors that k2-run writes -------------*- C++ -*-===//
#ifndef TOOLS_K2_RUN_RUNOUTPUT_H
#define TOOLS_K2_RUN_RUNOUTPUT_H

#include "runtime/Checkpoint/SafetensorsWriter.h"
#include "runtime/Executor/Executor.h"
#include "tools/k2-run/RunInput.h"

#include <map>
#include <set>

namespace k2run {

/// OUT: tensors [B, T, width], written token by token as steps give them, so
/// that logits of many positions are never held whole. Padding stays zero, -1
/// in expert ids.
class RunOutput {
public:
  static k2rt::Expected<RunOutput> create(const std::string &path,
                                          const RunInput &input);

  /// Declares a tensor with the element type and width of a buffer.
  k2rt::Status declare(const std::string &name, const k2rt::Manifest &manifest,
                       int buffer);
  /// To be called once after the last declare().
  k2rt::Status begin();
  /// Writes the rows of `value` to the places of a step's tokens.
  k2rt::Status write(const std::string &name, const k2rt::HostArray &value,
                     std::span<const int64_t> places);
  /// generated_ids I64 [B, count]; before begin().
  k2rt::Status declareGenerated(int64_t count);
  k2rt::Status writeGenerated(const std::vector<int64_t> &ids);
  k2rt::Status commit() { return writer_.commit(); }

  /// The output's name of a trace point: x.3, router.2.ids.
  static std::string traceName(const k2rt::TracePoint &point);

private:
  RunOutput(k2rt::SafetensorsWriter writer, const RunInput &input)
      : writer_(std::move(writer)), input_(&input) {}

  k2rt::SafetensorsWriter writer_;
  const RunInput *input_;
  std::map<std::string, int64_t> widths_;
  std::set<std::string> ids_; ///< the integer tensors
};

} // namespace k2run

#endif // TOOLS_K2_RUN_RUNOUTPUT_H
