//===- LayoutAnalysis.h - What follows from a layout ------------*- C++ -*-===//
//
// Vector widths, sectors, bank conflicts, the ldmatrix test and reductions,
// computed from the maps and never tabulated.
//
//===----------------------------------------------------------------------===//

#ifndef K2C_DIALECTS_TILE_LAYOUTANALYSIS_H
#define K2C_DIALECTS_TILE_LAYOUTANALYSIS_H

#include "dialects/Tile/SharedMap.h"

namespace k2c::tile {

/// The widest vector of an access and the register bits that enumerate its
/// elements in memory order.
struct VectorWidth {
  unsigned bytes = 0;
  std::vector<unsigned> regBits;
};
VectorWidth sharedVector(const LinearLayout &layout, const SharedMap &shared);
/// The same for global memory along the last dimension; the row pitch and the
/// base alignment limit it.
VectorWidth globalVector(const LinearLayout &layout, unsigned elemBytes,
                         uint64_t pitchBytes, uint64_t baseAlign = 16);

/// Shared wavefronts of one warp-wide access whose lane bits have these byte
/// offsets.
unsigned wavefronts(const std::vector<uint64_t> &laneOffsets,
                    unsigned vectorBytes);
/// 32-byte sectors one warp-wide global access touches.
unsigned sectors(const LinearLayout &layout, unsigned elemBytes,
                 uint64_t pitchBytes, unsigned vectorBytes, unsigned warp = 0);

struct SharedAccess {
  unsigned bytes = 0, instructions = 0, wavefronts = 0, ideal = 0;
};
/// Plain loads or stores of a layout.
SharedAccess sharedAccess(const LinearLayout &layout, const SharedMap &shared);

/// S o L as a union of 8x8 matrices of 16-byte rows: ldmatrix, or stmatrix if
/// `injective`.
struct LdmatrixPlan {
  bool trans = false;
  unsigned num = 0;                 ///< matrices per instruction
  std::vector<unsigned> wordBits;   ///< register bits inside a 32-bit word
  std::vector<unsigned> matrixBits; ///< register bits that select the matrix
  std::vector<uint64_t> rows;       ///< byte offsets of the row bits
  unsigned instructions = 0, wavefronts = 0;
  bool injective = false;
};
/// `matrixBits` are tried first; the first free register bits otherwise.
std::optional<LdmatrixPlan>
ldmatrixPlan(const LinearLayout &layout, const SharedMap &shared,
             const std::vector<unsigned> &matrixBits = {});
/// Byte offset lane 8i+j passes: row j of matrix i. `reg`: a register whose
/// word and matrix bits are 0.
std::vector<uint64_t> ldmatrixAddresses(const LinearLayout &layout,
                                        const SharedMap &shared,
                                        const LdmatrixPlan &plan,
                                        unsigned warp = 0, unsigned reg = 0);

/// The chunk masks of row bits 0..2 with the fewest wavefronts over all
/// accesses to one scratch buffer; the smallest masks win ties.
struct ScratchChoice {
  std::vector<unsigned> masks;
  std::vector<SharedAccess> accesses;
};
std::optional<ScratchChoice>
findScratch(const std::vector<LinearLayout> &layouts, int64_t rows,
            int64_t cols, unsigned elemBytes, unsigned span = 128);

struct ReducePlan {
  unsigned inThread = 0;           ///< elements each thread adds up itself
  std::vector<unsigned> laneMasks; ///< shfl.bfly masks, ascending
  std::vector<unsigned> warpBits;  ///< exchanged through shared memory
  LinearLayout result;             ///< slice(dim), the dim kept with extent 1
};
/// Nullopt if a basis mixes `dim` with a kept dimension: convert first.
std::optional<ReducePlan> reducePlan(const LinearLayout &layout, unsigned dim);

} // namespace k2c::tile

#endif // K2C_DIALECTS_TILE_LAYOUTANALYSIS_H
