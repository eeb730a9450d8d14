#include "lib/Conversion/TileToNVVM/Fragments.h"

#include "dialects/Tile/LayoutAnalysis.h"
#include "lib/Conversion/TileToNVVM/SharedAddress.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;
using tile::kLane, tile::kWarp;

Value Fragments::pair(unsigned low, unsigned high) {
  Value both = fromRegisters(b, {element(low), element(high)});
  return LLVM::BitcastOp::create(b, b.getI32Type(), both);
}

static uint64_t maskOf(ArrayRef<unsigned> bits) {
  uint64_t mask = 0;
  for (unsigned bit : bits)
    mask |= uint64_t(1) << bit;
  return mask;
}
static uint64_t spread(uint64_t index, ArrayRef<unsigned> bits) {
  uint64_t out = 0;
  for (auto [i, bit] : llvm::enumerate(bits))
    out |= (index >> i & 1) << bit;
  return out;
}

namespace {

class InRegisters : public Fragments {
public:
  InRegisters(ImplicitLocOpBuilder &b, Value vector)
      : Fragments(b), registers(toRegisters(b, vector)) {}
  Value element(unsigned reg) override { return registers[reg]; }

private:
  SmallVector<Value> registers;
};

/// Plain loads of the widest vectors.
class ByVectors : public Fragments {
public:
  ByVectors(ImplicitLocOpBuilder &b, const tile::LinearLayout &layout,
            const SharedBox &box, Value base, Type type, int64_t numWarps)
      : Fragments(b), layout(layout), type(type),
        width(tile::sharedVector(layout, box.map)), mask(maskOf(width.regBits)),
        addresses(b, base, box, Thread::get(b, numWarps),
                  box.map.after(layout)[kLane], box.map.after(layout)[kWarp]) {}

  Value element(unsigned reg) override {
    Value &value = loaded[reg];
    if (!value)
      load(reg & ~mask);
    return loaded[reg];
  }

private:
  void load(unsigned leader) {
    int64_t elements = int64_t(1) << width.regBits.size();
    Value address = addresses.at(layout.at(leader));
    if (elements == 1) {
      loaded[leader] = LLVM::LoadOp::create(b, type, address, width.bytes);
      return;
    }
    Value vector = LLVM::LoadOp::create(b, VectorType::get({elements}, type),
                                        address, width.bytes);
    for (auto [i, value] : llvm::enumerate(toRegisters(b, vector)))
      loaded[leader | spread(i, width.regBits)] = value;
  }

  tile::LinearLayout layout;
  Type type;
  tile::VectorWidth width;
  unsigned mask;
  SharedAddresses addresses;
  llvm::DenseMap<unsigned, Value> loaded;
};

/// ldmatrix: every instruction brings `num` words per lane.
class ByMatrices : public Fragments {
public:
  ByMatrices(ImplicitLocOpBuilder &b, const tile::LinearLayout &layout,
             const SharedBox &box, Value base, Type type, int64_t numWarps,
             tile::LdmatrixPlan plan)
      : Fragments(b), layout(layout), type(type), plan(std::move(plan)),
        addresses(b, base, box, Thread::get(b, numWarps),
                  rowImages(layout, box.map, this->plan),
                  box.map.after(layout)[kWarp]) {}

  Value element(unsigned reg) override {
    unsigned inside = reg & maskOf(plan.wordBits), position = 0;
    for (auto [i, bit] : llvm::enumerate(plan.wordBits))
      position |= (inside >> bit & 1) << i;
    unsigned perWord = 1u << plan.wordBits.size();
    Value elements = LLVM::BitcastOp::create(
        b, VectorType::get({perWord}, type), word(reg & ~inside));
    return toRegisters(b, elements)[position];
  }
  Value pair(unsigned low, unsigned high) override {
    if (plan.wordBits.size() == 1 && !(low & maskOf(plan.wordBits)) &&
        high == (low | maskOf(plan.wordBits)))
      return word(low);
    return Fragments::pair(low, high);
  }

private:
  /// Lane 8i+j passes the address of row j of matrix i.
  static SmallVector<uint64_t> rowImages(const tile::LinearLayout &layout,
                                         const tile::SharedMap &map,
                                         const tile::LdmatrixPlan &plan) {
    SmallVector<uint64_t> images(plan.rows.begin(), plan.rows.end());
    tile::PackedBases offsets = map.after(layout);
    for (unsigned bit : plan.matrixBits)
      images.push_back(offsets[tile::kReg][bit]);
    images.resize(5, 0);
    return images;
  }

  Value word(unsigned reg) {
    if (Value known = words.lookup(reg))
      return known;
    unsigned leader = reg & ~maskOf(plan.matrixBits);
    Type i32Type = b.getI32Type();
    Type result = i32Type;
    if (plan.num > 1)
      result = LLVM::LLVMStructType::getLiteral(
          b.getContext(), SmallVector<Type>(plan.num, i32Type));
    auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
    auto order = plan.trans ? NVVM::MMALayout::col : NVVM::MMALayout::row;
    Value loaded = NVVM::LdMatrixOp::create(
        b, result, addresses.at(layout.at(leader)), plan.num, order, shape,
        NVVM::LdStMatrixEltType::B16);
    for (unsigned i = 0; i < plan.num; ++i) {
      Value part = plan.num > 1
                       ? LLVM::ExtractValueOp::create(b, loaded, i).getResult()
                       : loaded;
      words[leader | spread(i, plan.matrixBits)] = part;
    }
    return words.lookup(reg);
  }

  tile::LinearLayout layout;
  Type type;
  tile::LdmatrixPlan plan;
  SharedAddresses addresses;
  llvm::DenseMap<unsigned, Value> words;
};

class Widened : public Fragments {
public:
  Widened(ImplicitLocOpBuilder &b, std::unique_ptr<Fragments> bytes)
      : Fragments(b), bytes(std::move(bytes)) {}
  Value element(unsigned reg) override {
    Value both = LLVM::BitcastOp::create(
        b, VectorType::get({2}, b.getBF16Type()), pair(reg, reg));
    return toRegisters(b, both).front();
  }
  Value pair(unsigned low, unsigned high) override {
    Value &value = pairs[{low, high}];
    if (!value)
      value = widenPair(b, bytes->element(low), bytes->element(high));
    return value;
  }

private:
  std::unique_ptr<Fragments> bytes;
  llvm::DenseMap<std::pair<unsigned, unsigned>, Value> pairs;
};

} // namespace

std::unique_ptr<Fragments>
k2c::tile_to_nvvm::registerFragments(ImplicitLocOpBuilder &b, Value vector) {
  return std::make_unique<InRegisters>(b, vector);
}

std::unique_ptr<Fragments> k2c::tile_to_nvvm::sharedFragments(
    ImplicitLocOpBuilder &b, tile::LoadSharedOp load, Value buffer, Value stage,
    int64_t numWarps, ArrayRef<unsigned> matrixBits) {
  auto type = cast<tile::BufferType>(load.getBuffer().getType());
  tile::LinearLayout layout = layoutOf(load.getResult());
  ArrayRef<int64_t> offsets;
  if (auto given = load.getOffsets())
    offsets = *given;
  std::string why;
  std::optional<SharedBox> box =
      sharedBox(type, load.getType().getShape(), offsets, why);
  if (!box) {
    load.emitOpError("expected a box with a map, but ") << why;
    return nullptr;
  }
  if (layout.rank() == 1) {
    tile::CoordBases bases;
    for (unsigned in = 0; in < tile::kNumInDims; ++in)
      for (const tile::Coord &c : layout.coordBases(tile::InDim(in)))
        bases[in].push_back({0, c[0]});
    layout = tile::LinearLayout({1, layout.shape()[0]}, bases);
  }
  // Two dots that read one operand read it twice: held in between, its
  // fragments would fill the registers.
  Value base = hidden(b, stagePointer(b, load, type, buffer, stage));
  Type element = registerType(type.getElementType());
  if (auto plan = tile::ldmatrixPlan(
          layout, box->map,
          std::vector<unsigned>(matrixBits.begin(), matrixBits.end())))
    return std::make_unique<ByMatrices>(b, layout, *box, base, element,
                                        numWarps, *plan);
  return std::make_unique<ByVectors>(b, layout, *box, base, element, numWarps);
}

std::unique_ptr<Fragments>
k2c::tile_to_nvvm::widenedFragments(ImplicitLocOpBuilder &b,
                                    std::unique_ptr<Fragments> bytes) {
  return std::make_unique<Widened>(b, std::move(bytes));
}
