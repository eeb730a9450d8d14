// tile.dot on mma.sync. Which registers every instruction takes comes from the
// layouts (MmaPlan).
#include "dialects/Tile/LayoutConversion.h"
#include "dialects/Tile/MmaPlan.h"
#include "lib/Conversion/TileToNVVM/Fragments.h"
#include "lib/Conversion/TileToNVVM/FusedReads.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

/// Register bits that ldmatrix should bring at once for a B operand (k, n):
/// both halves of one k-step, of two column tiles.
static SmallVector<unsigned> columnPairs(const tile::LinearLayout &b) {
  SmallVector<unsigned> k, n;
  for (auto [bit, basis] : llvm::enumerate(b.coordBases(tile::kReg)))
    (basis[0] ? k : n).push_back(bit);
  SmallVector<unsigned> bits;
  if (k.size() > 1)
    bits.push_back(k[1]);
  if (!n.empty())
    bits.push_back(n[0]);
  return bits;
}

/// k-steps whose reads of shared memory the assembler may move up. Without a
/// limit it starts so many that it runs out of registers; a warp barrier, which
/// it does not move reads across, costs an issue slot.
constexpr size_t kWindow = 8;

namespace {

struct DotPattern : TilePattern<tile::DotOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::DotOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    tile::LinearLayout stored = layoutOf(op.getB()), layoutB = stored;
    if (op.getBTransposed())
      layoutB = layoutB.transpose({1, 0});
    std::string why;
    auto plan =
        tile::mmaPlan(layoutOf(op.getA()), layoutB, layoutOf(op.getC()), &why);
    if (!plan)
      return op.emitOpError("expected the layouts of mma.sync, but ") << why;
    auto operandA = operand(b, rewriter, op.getA(), adaptor.getA(), {});
    auto operandB =
        operand(b, rewriter, op.getB(), adaptor.getB(), columnPairs(layoutB));
    if (!operandA || !operandB)
      return failure();

    // Transposing renumbers odd repeats.
    std::vector<unsigned> held =
        *tile::matchRegisters(layoutB, stored, [&](const tile::Coord &c) {
          return op.getBTransposed() ? tile::Coord{c[1], c[0]} : c;
        });

    SmallVector<Value> sum = toRegisters(b, adaptor.getC());
    Type f32 = b.getF32Type();
    auto result =
        LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
    bool reads = fusedRead(state, op.getA()) || fusedRead(state, op.getB());
    size_t perK = plan->steps.size() /
                  std::max<size_t>(1, layoutOf(op.getA()).shape()[1] / 16);
    for (auto [number, step] : llvm::enumerate(plan->steps)) {
      if (reads && number % (kWindow * perK) == 0)
        NVVM::SyncWarpOp::create(b, i32(b, -1));
      SmallVector<Value> a, w, c;
      for (unsigned i = 0; i < 8; i += 2)
        a.push_back(operandA->pair(step.a[i], step.a[i + 1]));
      for (unsigned i = 0; i < 4; i += 2)
        w.push_back(operandB->pair(held[step.b[i]], held[step.b[i + 1]]));
      for (unsigned reg : step.c)
        c.push_back(sum[reg]);
      Value d = NVVM::MmaOp::create(
          b, result, a, w, c, ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
          std::nullopt, std::array{NVVM::MMATypes::bf16, NVVM::MMATypes::bf16},
          std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
      for (auto [i, reg] : llvm::enumerate(step.c))
        sum[reg] = LLVM::ExtractValueOp::create(b, d, i);
    }
    rewriter.replaceOp(op, fromRegisters(b, sum));
    return success();
  }

private:
  std::unique_ptr<Fragments> operand(ImplicitLocOpBuilder &b,
                                     ConversionPatternRewriter &rewriter,
                                     Value original, Value converted,
                                     ArrayRef<unsigned> matrixBits) const {
    tile::LoadSharedOp load = fusedRead(state, original);
    if (!load)
      return registerFragments(b, converted);
    auto fragments = sharedFragments(
        b, load, rewriter.getRemappedValue(load.getBuffer()),
        rewriter.getRemappedValue(load.getStage()), state.numWarps, matrixBits);
    if (fragments && original != load.getResult())
      fragments = widenedFragments(b, std::move(fragments));
    return fragments;
  }
};

} // namespace

void k2c::tile_to_nvvm::populateDotPatterns(Patterns &patterns) {
  patterns.add<DotPattern>();
}
