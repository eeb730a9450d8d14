//===- Generate.h - Greedy continuation of every row ------------*- C++ -*-===//
#ifndef TOOLS_K2_RUN_GENERATE_H
#define TOOLS_K2_RUN_GENERATE_H

#include "runtime/Executor/Executor.h"
#include "tools/k2-run/RunInput.h"

namespace k2run {

/// The place of the largest value, the lowest of several. NaN is never the
/// largest; without any number it is place 0.
int64_t argmax(std::span<const float> values);

/// Whether every row can be continued by `count` tokens: the last of them must
/// have a position, and what the input gives for each token (mask, tables)
/// cannot be there for new ones.
k2rt::Status checkGenerate(const RunInput &input, const k2rt::ModelFacts &model,
                           int64_t count);

/// Continues all rows by `count` tokens over the cache, which must have room
/// for them. `next` is the token that follows each row's last one. Gives [B,
/// count]. The last token is not run: nothing asks for what follows it.
k2rt::Expected<std::vector<int64_t>> generate(k2rt::Executor &executor,
                                              const RunInput &input,
                                              std::vector<int32_t> next,
                                              int64_t count, int64_t logitRows);

} // namespace k2run

#endif // TOOLS_K2_RUN_GENERATE_H
