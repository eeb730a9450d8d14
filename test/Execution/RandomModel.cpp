//===- RandomModel.cpp - Weights, a batch and a cache for a model ---------===//
#include "RandomModel.h"

#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace k2c;
using namespace k2c::test;

double test::decodeE4M3(uint8_t code) {
  return llvm::APFloat(llvm::APFloat::Float8E4M3FN(), llvm::APInt(8, code))
      .convertToDouble();
}

uint8_t test::encodeE4M3(double value) {
  static const auto codes = [] {
    std::map<double, uint8_t> codes;
    for (int code = 255; code >= 0; --code)
      if (double v = decodeE4M3(code); !std::isnan(v))
        codes[v] = code;
    return codes;
  }();
  return codes.at(value);
}

double test::roundToBf16(double value) {
  llvm::APFloat x(value);
  bool inexact;
  x.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
            &inexact);
  return x.convertToDouble();
}

const RefValue &RandomParameters::get(k2::ParamOp param, int64_t layer) {
  if (param.getPer() == k2::Per::Model)
    layer = 0;
  auto key = std::pair(param.getSymName().str(), layer);
  auto found = values.find(key);
  if (found == values.end())
    found = values.emplace(key, make(param)).first;
  return found->second;
}

llvm::Expected<RefValue> RandomParameters::load(k2::ParamOp param,
                                                int64_t layer) {
  return get(param, layer);
}

/// As RandomParameters::zeroBlocks says.
static void clearBlocks(reference::Weight<Real> &weight) {
  for (size_t i = 0; i < weight.values.data.size(); ++i) {
    int64_t row = i / weight.k(), column = i % weight.k();
    int64_t scaleRow = row / weight.n() * weight.scaleRows() +
                       row % weight.n() / weight.block[0];
    int64_t block =
        scaleRow * weight.scales.columns() + column / weight.block[1];
    if (block % 3 == 0)
      weight.values.data[i] = 0;
  }
  for (size_t block = 1; block < weight.scales.data.size(); block += 3)
    weight.scales.data[block] = 0;
}

RefValue RandomParameters::make(k2::ParamOp param) {
  std::normal_distribution<double> normal;
  Type type = param.getType();
  ArrayRef<int64_t> dims = k2::getWeightShape(type);
  std::vector<int64_t> shape(dims.begin(), dims.end());
  double gain = 1 / std::sqrt(static_cast<double>(shape.back()));
  if (auto quantized = dyn_cast<k2::QuantizedType>(type)) {
    reference::Weight<Real> weight;
    weight.values = Tensor(shape);
    weight.block[0] = quantized.getBlock()[0];
    weight.block[1] = quantized.getBlock()[1];
    double squares = 0;
    for (double &v : weight.values.data) {
      // Codes up to 240; the sign is the top bit.
      v = decodeE4M3(random() % 0x78 | (random() & 0x80));
      squares += v * v;
    }
    double rms = std::sqrt(squares / weight.values.data.size());
    int64_t matrices = shape.size() == 3 ? shape[0] : 1;
    weight.scales = Tensor(
        {matrices * quantized.getScaleRows(), quantized.getScaleColumns()});
    for (double &scale : weight.scales.data)
      scale = static_cast<float>(gain / rms * std::exp(0.5 * normal(random)));
    if (zeroBlocks)
      clearBlocks(weight);
    return weight;
  }
  Tensor tensor(shape);
  bool isNorm = StringRef(param.getSymName()).ends_with("norm");
  for (double &v : tensor.data) {
    if (shape.size() > 1)
      v = roundToBf16(gain * normal(random));
    else if (isNorm)
      v = roundToBf16(1 + 0.2 * normal(random));
    else
      v = static_cast<float>(0.2 * normal(random));
  }
  for (const std::string &name : zeroed)
    if (StringRef(param.getSymName()).ends_with(name))
      std::fill(tensor.data.begin(), tensor.data.end(), 0);
  for (const auto &[name, edit] : edited)
    if (StringRef(param.getSymName()).ends_with(name))
      edit(tensor);
  return tensor;
}

reference::Batch<Real> test::makeBatch(ArrayRef<SequenceLength> lengths,
                                       int64_t &pages, std::mt19937 &random) {
  reference::Batch<Real> batch;
  batch.seqStart.push_back(0);
  int64_t widest = 0, used = 0;
  for (auto [past, tokens] : lengths) {
    batch.pastLen.push_back(past);
    batch.seqStart.push_back(batch.seqStart.back() + tokens);
    int64_t own = (past + tokens + kPageSize - 1) / kPageSize;
    widest = std::max(widest, own);
    used += own;
  }
  pages = used + 2;
  std::vector<int64_t> free(pages);
  std::iota(free.begin(), free.end(), 0);
  std::shuffle(free.begin(), free.end(), random);
  // The first sequence begins at slot 0.
  std::iter_swap(std::find(free.begin(), free.end(), 0), std::prev(free.end()));
  batch.blockTable = Integers({static_cast<int64_t>(lengths.size()), widest});
  std::fill(batch.blockTable.data.begin(), batch.blockTable.data.end(),
            free.front());
  for (auto [b, length] : llvm::enumerate(lengths)) {
    auto [past, tokens] = length;
    for (int64_t p = 0; p * kPageSize < past + tokens; ++p) {
      batch.blockTable.at(b, p) = free.back();
      free.pop_back();
    }
    for (int64_t t = 0; t < tokens; ++t)
      batch.slot.push_back(batch.blockTable.at(b, (past + t) / kPageSize) *
                               kPageSize +
                           (past + t) % kPageSize);
  }
  return batch;
}

reference::Cache<Real> test::makeCache(const reference::Batch<Real> &batch,
                                       int64_t pages, int64_t latents,
                                       int64_t rope, std::mt19937 &random,
                                       double unused) {
  std::normal_distribution<double> normal;
  reference::Cache<Real> cache;
  cache.latentSize = latents;
  cache.ropeSize = rope;
  cache.pages = std::make_shared<Tensor>(
      std::vector<int64_t>{pages, kPageSize, latents + rope});
  std::fill(cache.pages->data.begin(), cache.pages->data.end(), unused);
  for (int64_t b = 0; b < batch.sequences(); ++b)
    for (int64_t t = 0; t < batch.pastLen[b]; ++t) {
      int64_t slot =
          batch.blockTable.at(b, t / kPageSize) * kPageSize + t % kPageSize;
      for (int64_t c = 0; c < latents + rope; ++c)
        cache.row(slot)[c] = roundToBf16(normal(random));
    }
  return cache;
}

Tensor test::makeMask(const reference::Batch<Real> &batch,
                      std::mt19937 &random) {
  constexpr Real none = -std::numeric_limits<Real>::infinity();
  const Real lowest = std::numeric_limits<float>::lowest();
  auto keysOf = [&](int64_t b) {
    return batch.pastLen[b] + batch.seqStart[b + 1] - batch.seqStart[b];
  };
  int64_t longest = 0;
  for (int64_t b = 0; b < batch.sequences(); ++b)
    longest = std::max(longest, keysOf(b));
  Tensor mask({batch.tokens(), longest});
  mask.data.assign(mask.data.size(), std::nan(""));
  for (int64_t b = 0; b < batch.sequences(); ++b)
    for (int64_t t = batch.seqStart[b]; t < batch.seqStart[b + 1]; ++t)
      for (int64_t key = 0; key < keysOf(b); ++key) {
        float some = std::uniform_real_distribution<float>(-4, 4)(random);
        const Real kinds[] = {0, 0, some, some, none, lowest};
        mask.at(t, key) = t == 0   ? none
                          : t == 1 ? lowest
                                   : kinds[random() % std::size(kinds)];
      }
  return mask;
}
