//===- Arrays.cpp - The arrays that kernels read and write by name --------===//
//
// What the runtime fills, what the routing leaves, the cache, and what one
// phase of a kernel leaves for the next. dialects/Plan/Rationale.md lists them.
//
//===----------------------------------------------------------------------===//
#include "Converter.h"

using namespace mlir;
using namespace k2c;
using plan::ExprAttr;
using plan::ExprKind;

/// Rows of a work item of the expert kernels.
static constexpr int64_t kTileRows = 64;

std::optional<BufferInfo> k2c::getArrayInfo(k2::ConfigAttr config,
                                            StringRef name) {
  MLIRContext *context = config.getContext();
  Builder builder(context);
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  auto number = [&](int64_t value) { return ExprAttr::get(context, value); };
  auto symbol = [&](StringRef name) { return ExprAttr::get(context, name); };
  ExprAttr T = symbol("T"), B = symbol("B");
  auto binary = [&](ExprKind kind, ExprAttr a, int64_t b) {
    return ExprAttr::get(context, kind, a, number(b));
  };
  auto input = [&](SmallVector<Attribute> shape) {
    return BufferInfo{i32, std::move(shape), {}, plan::BufferClass::Input};
  };
  auto routing = [&](SmallVector<Attribute> shape) {
    return BufferInfo{i32, std::move(shape), {}, plan::BufferClass::Step};
  };
  int64_t pairs = config.getQkRopeHeadDim() / 2;
  int64_t experts = config.getNRoutedExperts();
  int64_t slots = config.getNumExpertsPerTok();
  if (name == "token_ids" || name == "positions" || name == "slot")
    return input({T});
  if (name == "rope_cos" || name == "rope_sin")
    return BufferInfo{f32,
                      {T, number(pairs)},
                      plan::paddedRowStride(pairs, f32),
                      plan::BufferClass::Input};
  if (name == "seq_start")
    return input({binary(ExprKind::Add, B, 1)});
  if (name == "past_len")
    return input({B});
  if (name == "block_table")
    return input({B, binary(ExprKind::CeilDiv, symbol("S"), kPageSize)});
  if (name == "slot_of")
    return input({number(experts)});
  // Row: token of the step; column: key of its sequence; whole pages of keys.
  if (name == "mask")
    return BufferInfo{
        f32,
        {T,
         binary(ExprKind::Mul,
                binary(ExprKind::CeilDiv, symbol("S"), kPageSize), kPageSize)},
        {},
        plan::BufferClass::Input};
  // Keys and values of every page of the step's sequences, head by head.
  if (name == "expanded_kv") {
    int64_t columns = config.getNumAttentionHeads() *
                      (config.getQkNopeHeadDim() + config.getVHeadDim());
    ExprAttr pages =
        ExprAttr::get(context, ExprKind::Mul, B,
                      binary(ExprKind::CeilDiv, symbol("S"), kPageSize));
    return BufferInfo{
        builder.getBF16Type(),
        {binary(ExprKind::Mul, pages, kPageSize), number(columns)},
        plan::paddedRowStride(columns, builder.getBF16Type()),
        plan::BufferClass::Step};
  }
  if (name == "latent_cache") {
    int64_t width = config.getKvLoraRank() + config.getQkRopeHeadDim();
    return BufferInfo{builder.getBF16Type(),
                      {symbol("num_hidden_layers"), symbol("P"),
                       number(kPageSize), number(width)},
                      plan::paddedRowStride(width, builder.getBF16Type()),
                      plan::BufferClass::Persistent};
  }
  if (experts <= 0)
    return std::nullopt;
  ExprAttr rows = binary(ExprKind::Mul, T, slots);
  if (name == "expert_count")
    return routing({number(experts)});
  if (name == "expert_start")
    return routing({number(experts + 1)});
  if (name == "token_of_row")
    return routing({rows});
  if (name == "row_of")
    return routing({T, number(slots)});
  // Every non-empty expert can end in a partial tile.
  if (name == "expert_work")
    return BufferInfo{
        i32,
        {ExprAttr::get(context, ExprKind::Add,
                       binary(ExprKind::Min, rows, experts),
                       binary(ExprKind::FloorDiv, rows, kTileRows)),
         number(3)},
        plan::paddedRowStride(3, i32),
        plan::BufferClass::Step};
  if (name == "work_count")
    return routing({number(1)});
  return std::nullopt;
}
