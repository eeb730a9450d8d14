//===- LayoutConstructors.h - The layouts of instructions -------*- C++ -*-===//
//
// Constructors of LinearLayout for what the hardware prescribes (fragments)
// and for coalesced row access. All are (row, col) of the operand as the ISA
// names it: A (m, k), B (k, n), C (m, n); a register is one element, numbered
// as the ISA numbers a_i, b_i, c_i. Nothing else in the compiler knows them.
//
//===----------------------------------------------------------------------===//

#ifndef K2C_DIALECTS_TILE_LAYOUTCONSTRUCTORS_H
#define K2C_DIALECTS_TILE_LAYOUTCONSTRUCTORS_H

#include "dialects/Tile/LinearLayout.h"

namespace k2c::tile {

enum class MmaOperand { A, B, C };
/// m16n8k16 with 16-bit A and B, and m16n8k32 with 8-bit A and B.
enum class MmaShape { M16N8K16, M16N8K32 };

/// What a warp bit distributes: the row or the column of the operand, or
/// nothing (a dimension the operand lacks: the operand is broadcast).
enum class WarpBit { Row, Col, None };

/// One instruction's fragment.
LinearLayout mmaAtom(MmaShape shape, MmaOperand operand);

/// Operand or accumulator of a CTA tile for mma.sync. Registers grow along the
/// summed dimension first (n for C), then along the other one; each warp owns
/// a contiguous block of the 2-power part.
LinearLayout mmaLayout(MmaShape shape, MmaOperand operand, int64_t rows,
                       int64_t cols, const std::vector<WarpBit> &warps = {});

/// f32 accumulator of wgmma, m x n over warpgroups stacked on rows.
LinearLayout wgmmaAccumulator(int64_t m, int64_t n, unsigned warpgroups = 1);
/// A operand of wgmma in registers.
LinearLayout wgmmaOperandA(int64_t m, int64_t k, unsigned elemBytes = 2,
                           unsigned warpgroups = 1);

/// (register = 16-bit element, lane) -> (matrix, row, col) of
/// ldmatrix/stmatrix .m8n8.x{matrices}.b16.
LinearLayout ldmatrixFragment(unsigned matrices, bool trans);

/// Row-wise access: vector registers, then lanes, then warps along col as far
/// as its 2-power part goes; what is left of lanes and warps goes to rows;
/// registers take the rest. Bits without room broadcast.
LinearLayout coalesced(int64_t rows, int64_t cols, unsigned elemBytes,
                       unsigned warps, unsigned vectorBytes = 16);

/// The same for any rank: the last dimension is the column, the others are
/// filled from the innermost outwards.
LinearLayout coalesced(const std::vector<int64_t> &shape, unsigned elemBytes,
                       unsigned warps, unsigned vectorBytes = 16);

/// Which thread copies which piece of a tile to shared memory: coalesced rows
/// of `vectorBytes` pieces. tile.copy_async and its row numbers agree on it.
LinearLayout copyAsyncLayout(const std::vector<int64_t> &shape,
                             unsigned elemBytes, unsigned warps,
                             unsigned vectorBytes);

} // namespace k2c::tile

#endif // K2C_DIALECTS_TILE_LAYOUTCONSTRUCTORS_H
