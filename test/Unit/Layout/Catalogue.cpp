#include "test/Unit/Layout/Catalogue.h"

#include <cstdlib>

namespace k2c::tile::test {

SharedMap panels(int64_t rows, int64_t cols, unsigned elem, unsigned swizzle,
                 unsigned span) {
  auto map = SharedMap::panels(rows, cols, elem, swizzle, span);
  if (!map)
    std::abort();
  return *map;
}

LinearLayout mma16(MmaOperand operand, int64_t rows, int64_t cols,
                   std::vector<WarpBit> warps) {
  return mmaLayout(MmaShape::M16N8K16, operand, rows, cols, warps);
}

const std::map<std::string, LinearLayout> &layouts() {
  using enum MmaOperand;
  using enum WarpBit;
  static const std::map<std::string, LinearLayout> all = [] {
    std::map<std::string, LinearLayout> l;
    for (auto [n, op] :
         {std::pair("A", A), std::pair("B", B), std::pair("C", C)}) {
      l[std::string("mma16816.") + n] = mmaAtom(MmaShape::M16N8K16, op);
      l[std::string("mma16832.") + n] = mmaAtom(MmaShape::M16N8K32, op);
    }
    for (unsigned n : {1, 2, 4})
      for (bool trans : {false, true})
        l["ldmatrix.x" + std::to_string(n) + (trans ? ".trans" : "")] =
            ldmatrixFragment(n, trans);
    for (int n : {8, 16, 24, 64, 96, 128, 192, 256})
      l["wgmma_acc.64x" + std::to_string(n)] = wgmmaAccumulator(64, n);
    l["wgmma_acc.128x128.2wg"] = wgmmaAccumulator(128, 128, 2);
    l["wgmma_acc.128x192.1wg"] = wgmmaAccumulator(128, 192, 1);
    for (int k : {16, 64, 128, 192, 576})
      l["wgmma_a.64x" + std::to_string(k) + ".16bit"] = wgmmaOperandA(64, k);
    for (int k : {32, 128})
      l["wgmma_a.64x" + std::to_string(k) + ".8bit"] = wgmmaOperandA(64, k, 1);
    l["gemm.A.128x64.warps2x4"] = mma16(A, 128, 64, {Row, None, None});
    l["gemm.B.64x128.warps2x4"] = mma16(B, 64, 128, {None, Col, Col});
    l["gemm.C.128x128.warps2x4"] = mma16(C, 128, 128, {Row, Col, Col});
    l["fa.V.64x128.1warp"] = mma16(B, 64, 128);
    l["gemm.C.128x192.warps2x2"] = mma16(C, 128, 192, {Row, Col});
    l["fa.S.64x128.warps4x1"] = mma16(C, 64, 128, {Row, Row});
    struct Rows {
      int64_t rows, cols;
      unsigned elem, warps, vector;
    };
    for (Rows r : {Rows{1, 7168, 2, 4, 16}, Rows{1, 7168, 2, 8, 8},
                   Rows{1, 7168, 1, 2, 16}, Rows{1, 1536, 2, 2, 16},
                   Rows{4, 2112, 2, 1, 16}, Rows{4, 576, 2, 1, 16},
                   Rows{4, 192, 2, 1, 16}, Rows{64, 192, 2, 4, 16},
                   Rows{128, 64, 2, 4, 16}, Rows{1, 576, 2, 1, 16}})
      l["coalesced." + std::to_string(r.rows) + "x" + std::to_string(r.cols) +
        ".e" + std::to_string(r.elem) + ".w" + std::to_string(r.warps) + ".v" +
        std::to_string(r.vector)] =
          coalesced(r.rows, r.cols, r.elem, r.warps, r.vector);
    l["slice.rows_of.wgmma_acc.64x128"] = wgmmaAccumulator(64, 128).slice(1);
    l["slice.cols_of.wgmma_acc.64x128"] = wgmmaAccumulator(64, 128).slice(0);
    return l;
  }();
  return all;
}

const std::map<std::string, SharedMap> &sharedMaps() {
  static const std::map<std::string, SharedMap> all = [] {
    std::map<std::string, SharedMap> s;
    struct Panel {
      int64_t rows, cols;
      unsigned elem, swizzle, span;
    };
    for (Panel p : {Panel{128, 64, 2, 128, 0}, Panel{64, 192, 2, 128, 0},
                    Panel{192, 64, 2, 128, 0}, Panel{64, 576, 2, 128, 0},
                    Panel{64, 128, 2, 128, 0}, Panel{128, 128, 1, 128, 0},
                    Panel{64, 32, 2, 64, 0}, Panel{64, 64, 2, 64, 0},
                    Panel{64, 16, 2, 32, 0}, Panel{64, 32, 2, 32, 0},
                    Panel{64, 64, 2, 0, 16}, Panel{64, 64, 2, 0, 128},
                    Panel{24, 64, 2, 128, 0}, Panel{8, 64, 2, 128, 0},
                    Panel{128, 64, 2, 0, 128}, Panel{64, 128, 1, 128, 0},
                    Panel{64, 64, 2, 128, 0}})
      s["panels." + std::to_string(p.rows) + "x" + std::to_string(p.cols) +
        ".e" + std::to_string(p.elem) + ".swizzle" + std::to_string(p.swizzle) +
        (p.span ? ".span" + std::to_string(p.span) : "")] =
          panels(p.rows, p.cols, p.elem, p.swizzle, p.span);
    s["fragment_order.wgmma_a.64x128.e1"] =
        SharedMap::fragmentOrder(wgmmaOperandA(64, 128), 1);
    s["fragment_order.wgmma_a.128x128.2wg.e1"] =
        SharedMap::fragmentOrder(wgmmaOperandA(128, 128, 2, 2), 1);
    return s;
  }();
  return all;
}

} // namespace k2c::tile::test
