//===- StepInputs.h - The arrays of one step --------------------*- C++ -*-===//
#ifndef RUNTIME_EXECUTOR_STEPINPUTS_H
#define RUNTIME_EXECUTOR_STEPINPUTS_H

#include "runtime/Artifact/Manifest.h"
#include "runtime/Cache/PageTable.h"

namespace k2rt {

/// The new tokens of a step: those of all sequences one after the other, no
/// padding. A sequence may have none.
struct StepRequest {
  std::vector<int64_t> lengths;   ///< [B] new tokens
  std::vector<int32_t> positions; ///< [T]
  std::vector<int32_t> tokenIds;  ///< [T], for entry `model`
  std::vector<uint16_t> x0;       ///< bf16 [T, d], for entry `stack`
  /// f32 [T, R/2]; empty: made from the positions.
  std::vector<float> ropeCos, ropeSin;
  /// f32 [T, S], S being the largest cached + new length of a sequence; empty:
  /// causality. Row: a token; column: a key of its sequence. The value is added
  /// to the score; columns behind a sequence's end are not read.
  std::vector<float> mask;
};

/// The arrays that kernels read, on the host.
struct StepInputs {
  int64_t tokens = 0, sequences = 0, longest = 0; ///< T, B, S
  std::vector<int32_t> tokenIds, positions, seqStart, pastLen, slot;
  std::vector<float> ropeCos, ropeSin;
};

/// Checks the request and takes room for it in the cache.
Expected<StepInputs> makeStepInputs(const ModelFacts &model,
                                    const StepRequest &request,
                                    PageTable &pages);

/// i32 [B, width]: the pages of every sequence, `none` where it has no more.
std::vector<int32_t> makeBlockTable(const PageTable &pages, int64_t width,
                                    int32_t none = -1);

/// A mask [T, S] with rows of `width` >= S columns, the new ones `filler`.
Expected<std::vector<float>> widenMask(const std::vector<float> &mask,
                                       int64_t rows, int64_t width,
                                       float filler);

/// i32 [W, 2] = (sequence, first flat row); see Worklist.
Expected<std::vector<int32_t>>
makeQueryTiles(const Worklist &list, const std::vector<int32_t> &seqStart);

} // namespace k2rt

#endif // RUNTIME_EXECUTOR_STEPINPUTS_H
