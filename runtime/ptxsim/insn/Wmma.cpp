// wmma.load, wmma.mma, wmma.store.
//
// PTX leaves open which element of a matrix a lane holds. Here a fragment of A
// or B is the matrix as its layout orders it (row after row, or column after
// column), packed, 32 lanes of register 0 first, then of register 1; where the
// registers have room for more it is repeated. Loading with one layout and
// multiplying with the other therefore gives wrong results, as on hardware.
// C and D are in row order whatever the layout in memory.

#include "runtime/ptxsim/insn/Wmma.h"
#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Observer.h"
#include "runtime/ptxsim/insn/MmaElement.h"
#include "runtime/ptxsim/numeric/BlockSum.h"
#include "runtime/ptxsim/numeric/Element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <vector>

using namespace ptxsim;

namespace {

struct Shape {
  unsigned m, n, k;
};
constexpr std::string_view shapeNames[] = {"m16n16k16", "m32n8k16", "m8n32k16",
                                           "m16n16k8",  "m8n8k4",   "m8n8k32",
                                           "m8n8k128"};
/// Elements of 4 and of 1 bit are moved as bytes, 16 in a row.
constexpr Shape shapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}, {16, 16, 8},
                            {8, 8, 4},    {8, 8, 16},  {8, 8, 16}};
constexpr unsigned nibbles = 5, bits = 6;

constexpr unsigned mostElements = 512;

/// A fragment: which matrix, and the registers of a lane.
struct Fragment {
  unsigned rows, columns, elementBytes, registers, registerBytes;
  unsigned elements() const { return rows * columns; }
};

/// The fragment of matrix 'a', 'b' or 'c' (or D); nothing if there is none.
std::optional<Fragment> fragmentOf(char matrix, unsigned shape, Type type) {
  const Shape s = shapes[shape];
  Fragment f;
  f.rows = matrix == 'b' ? s.k : s.m;
  f.columns = matrix == 'a' ? s.k : s.n;
  f.elementBytes = bitsOf(type) / 8;
  f.registerBytes = type == Type::F64 ? 8 : 4;
  const bool wide = shape < 3;
  bool legal;
  if (matrix == 'c')
    legal = wide ? type == Type::F16 || type == Type::F32 || type == Type::S32
                 : type == (shape == 3   ? Type::F32
                            : shape == 4 ? Type::F64
                                         : Type::S32);
  else if (shape >= nibbles)
    legal = type == Type::B8;
  else
    legal = wide ? type == Type::F16 || type == Type::BF16 ||
                       type == Type::S8 || type == Type::U8
                 : type == (shape == 3 ? Type::TF32 : Type::F64);
  if (!legal)
    return std::nullopt;
  f.registers = std::max(1u, f.elements() * f.elementBytes /
                                 (warpSize * f.registerBytes));
  // f16 has eight registers whatever the shape.
  if (matrix != 'c' && type == Type::F16)
    f.registers = 8;
  return f;
}

/// What op.imm points at.
struct MemoryForm {
  Fragment fragment;
  bool byRows;     ///< layout in memory
  bool transposes; ///< C by columns: the fragment is in row order
  bool hasStride;
  uint32_t stride;  ///< row
  uint64_t offset;  ///< of the address
  unsigned perByte; ///< elements smaller than a byte
};

void requireWholeWarp(Warp &w, const Op &op, uint32_t mask) {
  w.requireConverged(op, mask);
  if (mask != allLanes)
    w.fault(op, unsigned(std::countr_one(mask)),
            "wmma needs all 32 lanes of the warp, but this one does not run");
}

uint64_t addressAt(Warp &w, const Op &op, const MemoryForm &f, unsigned lane) {
  return op.e == 32 ? uint64_t(uint32_t(w.row<uint32_t>(op.a)[lane] + f.offset))
                    : w.row<uint64_t>(op.a)[lane] + f.offset;
}

/// For observers: the lanes' turns at pieces of the lines, a warp's access for
/// each 32 of them.
void tellPieces(Warp &w, const Op &op, unsigned lines, unsigned lineBytes,
                unsigned piece, uint64_t address, int64_t stride, bool isLoad) {
  const unsigned ofLine = lineBytes / piece, all = lines * ofLine;
  for (unsigned first = 0; first < all; first += warpSize) {
    const unsigned lanes = std::min(all - first, warpSize);
    uint64_t at[warpSize] = {};
    for (unsigned l = 0; l < lanes; ++l)
      at[l] = address + uint64_t(int64_t((first + l) / ofLine) * stride) +
              (first + l) % ofLine * piece;
    observeAccess(w, op, isLoad ? MemoryKind::Load : MemoryKind::Store,
                  op.space, uint32_t((uint64_t(1) << lanes) - 1), at, piece);
  }
}

/// Moves the matrix between memory and `image`, its elements line after line.
/// Lanes take turns at pieces of a line.
void moveMatrix(Warp &w, const Op &op, const MemoryForm &f, std::byte *image,
                bool isLoad) {
  const Fragment &g = f.fragment;
  const uint64_t address = addressAt(w, op, f, 0);
  const unsigned lines = f.byRows ? g.rows : g.columns,
                 length = f.byRows ? g.columns : g.rows;
  const uint32_t given = f.hasStride ? w.row<uint32_t>(f.stride)[0] : 0;
  const int64_t stride =
      f.hasStride ? int32_t(given) / int(f.perByte) : int64_t(length);
  for (unsigned l = 1; l < warpSize; ++l)
    if (addressAt(w, op, f, l) != address ||
        (f.hasStride && w.row<uint32_t>(f.stride)[l] != given))
      w.fault(op, l,
              "the lanes of the warp give different addresses or "
              "strides");
  const unsigned lineBytes = length * g.elementBytes;
  const unsigned piece =
      std::min({16u, lineBytes, g.registers * g.registerBytes});
  Cta &cta = *w.cta;
  if (!cta.launch.observers.empty())
    tellPieces(w, op, lines, lineBytes, piece, address, stride * g.elementBytes,
               isLoad);
  unsigned turn = 0;
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned at = 0; at < lineBytes; at += piece, ++turn) {
      const unsigned lane = turn % warpSize;
      std::byte *p =
          w.access(op, lane, op.space,
                   address + uint64_t(line * stride * g.elementBytes) + at,
                   piece, isLoad ? Access::Read : Access::Write);
      std::byte *part = image + line * lineBytes + at;
      const auto offset = reinterpret_cast<uintptr_t>(p) -
                          reinterpret_cast<uintptr_t>(cta.shared);
      if (cta.races && offset < cta.sharedEnd - sharedBegin) {
        if (isLoad)
          cta.races->readForWarp(w, op, lane, uint32_t(offset), piece);
        else
          cta.races->write(w, op, lane, uint32_t(offset), piece, part);
      }
      isLoad ? std::memcpy(part, p, piece) : std::memcpy(p, part, piece);
    }
  if (op.space == Space::Global)
    (isLoad ? w.counters->globalLoadBytes : w.counters->globalStoreBytes) +=
        uint64_t(lines) * lineBytes;
}

/// From column order to row order or back: `lines` lines of `length`.
void transpose(std::byte *image, unsigned lines, unsigned length,
               unsigned bytes) {
  std::byte copy[mostElements * 8];
  std::memcpy(copy, image, size_t(lines) * length * bytes);
  for (unsigned i = 0; i < lines; ++i)
    for (unsigned j = 0; j < length; ++j)
      std::memcpy(image + (j * lines + i) * bytes,
                  copy + (i * length + j) * bytes, bytes);
}

/// Between registers and the packed matrix.
void scatter(Warp &w, const Fragment &g, const uint32_t *list,
             const std::byte *image) {
  const unsigned total = g.elements() * g.elementBytes, b = g.registerBytes;
  for (unsigned r = 0; r < g.registers; ++r)
    for (unsigned l = 0; l < warpSize; ++l)
      std::memcpy(w.registers + list[r] + l * b,
                  image + (r * warpSize + l) * b % total, b);
}
void gather(Warp &w, const Fragment &g, const uint32_t *list,
            std::byte *image) {
  const unsigned total = g.elements() * g.elementBytes, b = g.registerBytes;
  for (unsigned at = 0; at < total; at += b)
    std::memcpy(image + at,
                w.registers + list[at / b / warpSize] + at / b % warpSize * b,
                b);
}

const MemoryForm &memoryForm(const Op &op) {
  return *reinterpret_cast<const MemoryForm *>(op.imm);
}

void loadFragment(Warp &w, const Op &op, uint32_t mask) {
  requireWholeWarp(w, op, mask);
  const MemoryForm &f = memoryForm(op);
  const Fragment &g = f.fragment;
  alignas(16) std::byte image[mostElements * 8];
  moveMatrix(w, op, f, image, true);
  if (f.transposes)
    transpose(image, g.columns, g.rows, g.elementBytes);
  scatter(w, g, op.list, image);
}

void storeFragment(Warp &w, const Op &op, uint32_t mask) {
  requireWholeWarp(w, op, mask);
  const MemoryForm &f = memoryForm(op);
  const Fragment &g = f.fragment;
  alignas(16) std::byte image[mostElements * 8];
  gather(w, g, op.list, image);
  if (f.transposes)
    transpose(image, g.rows, g.columns, g.elementBytes);
  moveMatrix(w, op, f, image, false);
}

/// What op.imm of wmma.mma points at; op.list: registers of D, A, B, C.
struct MmaForm {
  Fragment d, a, b, c;
  bool aByRows, bByRows;
  bool isHalfD, isHalfC, saturates;
  MmaElement element;
  int rounding;     ///< of f64: DoubleRounding
  unsigned subBits; ///< of elements smaller than a byte: 4 or 1
  bool aSigned, bSigned, ands;
};

/// Element (i, j) of a packed matrix.
unsigned place(const Fragment &g, bool byRows, unsigned i, unsigned j) {
  return byRows ? i * g.columns + j : j * g.rows + i;
}

struct Images {
  alignas(16) std::byte a[mostElements * 8], b[mostElements * 8],
      c[mostElements * 8];
};

/// One float product; columns are vectors.
void multiplyFloats(const MmaForm &f, const Images &in, std::byte *out,
                    Numerics mode, bool skip) {
  const unsigned m = f.a.rows, n = f.b.columns, k = f.a.columns;
  alignas(32) float a[32][16], b[16][32], d[32][32];
  const auto *pa = reinterpret_cast<const uint8_t *>(in.a),
             *pb = reinterpret_cast<const uint8_t *>(in.b);
  for (unsigned i = 0; i < m; ++i)
    for (unsigned x = 0; x < k; ++x)
      a[i][x] = floatElement(f.element, pa, place(f.a, f.aByRows, i, x));
  for (unsigned x = 0; x < k; ++x)
    for (unsigned j = 0; j < n; ++j)
      b[x][j] = floatElement(f.element, pb, place(f.b, f.bByRows, x, j));
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      if (f.isHalfC) {
        uint16_t h;
        std::memcpy(&h, in.c + (i * n + j) * 2, 2);
        d[i][j] = HalfF16::widen(h);
      } else {
        std::memcpy(&d[i][j], in.c + (i * n + j) * 4, 4);
      }
    }
  if (!skip && mode == Numerics::Exact32) {
    for (unsigned i = 0; i < m; ++i)
      for (unsigned x = 0; x < k; ++x)
        for (unsigned j = 0; j < n; ++j)
          d[i][j] = std::fma(a[i][x], b[x][j], d[i][j]);
  } else if (!skip) {
    const BlockModel model =
        blockModel(mode, f.element, f.element,
                   f.isHalfD ? MmaAccumulator::F16 : MmaAccumulator::F32);
    BlockColumns columns;
    for (unsigned j = 0; j < n; j += 8) {
      for (unsigned x = 0; x < k; ++x)
        std::memcpy(columns.value[x], &b[x][j], 32);
      columns.finish(k, model.leastB);
      for (unsigned i = 0; i < m; ++i)
        addBlocks(model, a[i], columns, k, &d[i][j]);
    }
  }
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      const float x = d[i][j];
      if (f.isHalfD) {
        const uint16_t h = HalfF16::narrow(x);
        std::memcpy(out + (i * n + j) * 2, &h, 2);
      } else {
        const uint32_t bits = x == x ? std::bit_cast<uint32_t>(x) : 0x7fffffffu;
        std::memcpy(out + (i * n + j) * 4, &bits, 4);
      }
    }
}

void multiplyIntegers(const MmaForm &f, const Images &in, std::byte *out,
                      bool skip) {
  const unsigned m = f.a.rows, n = f.b.columns, k = skip ? 0 : f.a.columns;
  const auto *pa = reinterpret_cast<const uint8_t *>(in.a),
             *pb = reinterpret_cast<const uint8_t *>(in.b);
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      int32_t c;
      std::memcpy(&c, in.c + (i * n + j) * 4, 4);
      int64_t sum = c;
      for (unsigned x = 0; x < k; ++x)
        sum +=
            int64_t(int32_t(
                widenElement(f.element, pa, place(f.a, f.aByRows, i, x)))) *
            int32_t(widenElement(f.element, pb, place(f.b, f.bByRows, x, j)));
      if (f.saturates)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      const uint32_t bits = uint32_t(uint64_t(sum));
      std::memcpy(out + (i * n + j) * 4, &bits, 4);
    }
}

/// Lines of A and B are 16 bytes of elements of 4 bits or 1 bit.
void multiplySubBytes(const MmaForm &f, const Images &in, std::byte *out,
                      bool skip) {
  const auto element = [&f](std::byte x, unsigned e, bool isSigned) {
    const auto v = int(uint8_t(x) >> e * f.subBits & ((1 << f.subBits) - 1));
    return isSigned && v >= 8 ? v - 16 : v;
  };
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned j = 0; j < 8; ++j) {
      int32_t c;
      std::memcpy(&c, in.c + (i * 8 + j) * 4, 4);
      int64_t sum = c;
      for (unsigned x = 0; x < 16 && !skip; ++x)
        for (unsigned e = 0; e < 8 / f.subBits; ++e) {
          const int a = element(in.a[i * 16 + x], e, f.aSigned),
                    b = element(in.b[j * 16 + x], e, f.bSigned);
          sum += f.subBits == 4 ? a * b : f.ands ? a & b : a ^ b;
        }
      if (f.saturates)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      const uint32_t bits = uint32_t(uint64_t(sum));
      std::memcpy(out + (i * 8 + j) * 4, &bits, 4);
    }
}

enum class Kind : uint8_t { Float, Integer, Double, SubByte };

template <Kind kind> void multiply(Warp &w, const Op &op, uint32_t mask) {
  requireWholeWarp(w, op, mask);
  const MmaForm &f = *reinterpret_cast<const MmaForm *>(op.imm);
  const DeviceOptions &options = w.cta->launch.options;
  const uint32_t *d = op.list, *a = d + f.d.registers, *b = a + f.a.registers,
                 *c = b + f.b.registers;
  Images in;
  gather(w, f.a, a, in.a);
  gather(w, f.b, b, in.b);
  gather(w, f.c, c, in.c);
  alignas(16) std::byte out[mostElements * 8];
  if constexpr (kind == Kind::Float) {
    multiplyFloats(f, in, out, options.numerics, options.skipTensor);
  } else if constexpr (kind == Kind::Integer) {
    multiplyIntegers(f, in, out, options.skipTensor);
  } else if constexpr (kind == Kind::SubByte) {
    multiplySubBytes(f, in, out, options.skipTensor);
  } else {
    double x[3][64], y[64];
    std::memcpy(x[2], in.c, 64 * 8);
    for (unsigned i = 0; i < 8; ++i)
      for (unsigned j = 0; j < 4; ++j) {
        std::memcpy(&x[0][i * 4 + j], in.a + place(f.a, f.aByRows, i, j) * 8,
                    8);
        std::memcpy(&x[1][j * 8 + i], in.b + place(f.b, f.bByRows, j, i) * 8,
                    8);
      }
    if (options.skipTensor)
      std::memcpy(y, x[2], sizeof y);
    else
      multiplyDoubles(x[0], x[1], x[2], y, DoubleRounding(f.rounding));
    std::memcpy(out, y, sizeof y);
  }
  scatter(w, f.d, d, out);
  w.counters->tensorFlops += 2ull * f.a.rows * f.b.columns * f.a.columns *
                             (f.subBits ? 8 / f.subBits : 1);
}

/// Removes the first of "row" and "col": true for "row".
std::optional<bool> takeLayout(Decoder &d) {
  for (std::string_view name : d.rest())
    if (name == "row" || name == "col") {
      const bool byRows = name == "row";
      d.take(name);
      return byRows;
    }
  return std::nullopt;
}

int takeShape(Decoder &d) {
  for (unsigned i = 0; i < std::size(shapeNames); ++i)
    if (d.take(shapeNames[i]))
      return int(i);
  return -1;
}

/// Keeps a form among the function's lists.
template <class T> uint64_t keep(Decoder &d, const T &form) {
  std::vector<uint32_t> words((sizeof form + 3) / 4);
  std::memcpy(words.data(), &form, sizeof form);
  return reinterpret_cast<uint64_t>(d.list(words));
}

void appendRegisters(Decoder &d, size_t operand, const Fragment &g,
                     bool isTarget, std::vector<uint32_t> &rows) {
  std::span<const Operand> elements = d.elements(d[operand]);
  if (elements.size() != g.registers)
    d.error(fmt::format("expected {} registers in operand {}, but got {}",
                        g.registers, operand + 1, elements.size()));
  for (const Operand &e : elements)
    rows.push_back(isTarget ? d.destination(e, g.registerBytes * 8)
                   : g.registerBytes == 8 ? d.source(e, Type::B64)
                                          : d.source(e, Type::B32));
}

/// .s4 or .u4, .b1: the first modifier that is left.
bool takeSubByte(Decoder &d, unsigned shape, bool &isSigned) {
  if (shape == bits)
    return d.take("b1");
  const std::string_view name = d.rest().empty() ? "" : d.rest().front();
  isSigned = name == "s4";
  return (isSigned || name == "u4") && d.take(name);
}

bool decodeMove(Decoder &d, bool isLoad) {
  const int matrix = isLoad        ? d.takeOneOf({"a", "b", "c"})
                     : d.take("d") ? 2
                                   : -1;
  if (matrix < 0 || !d.take("sync") || !d.take("aligned"))
    return false;
  const auto byRows = takeLayout(d);
  const int shape = takeShape(d);
  Space space = Space::Generic;
  switch (d.takeOneOf({"global", "shared", "shared::cta"})) {
  case 0:
    space = Space::Global;
    break;
  case 1:
  case 2:
    space = Space::Shared;
    break;
  default:
    break;
  }
  const bool isSubByte = shape >= int(nibbles) && matrix < 2;
  bool isSigned;
  if (isSubByte &&
      (byRows != (matrix == 0) || !takeSubByte(d, unsigned(shape), isSigned)))
    return false;
  const Type type = isSubByte ? Type::B8 : d.takeType();
  if (!byRows || shape < 0 || !d.done())
    return false;
  const auto fragment = fragmentOf("abc"[matrix], unsigned(shape), type);
  if (!fragment)
    return false;
  d.expect(2, 3);
  MemoryForm f{};
  f.fragment = *fragment;
  f.byRows = *byRows;
  f.perByte = !isSubByte ? 1 : unsigned(shape) == nibbles ? 2 : 8;
  f.transposes = matrix == 2 && !f.byRows;
  std::vector<uint32_t> rows;
  appendRegisters(d, isLoad ? 0 : 1, *fragment, isLoad, rows);
  const Decoder::AddressRef at = d.address(isLoad ? 1 : 0);
  f.offset = at.offset;
  f.hasStride = d.size() == 3;
  if (f.hasStride)
    f.stride = d.source(2, Type::U32);
  const uint32_t *list = d.list(rows);
  const uint64_t form = keep(d, f);
  Op &op = d.emit(isLoad ? loadFragment : storeFragment);
  op.list = list, op.count = uint16_t(rows.size());
  op.a = at.row, op.e = at.bits, op.imm = form, op.space = space;
  return true;
}

void emitMultiply(Decoder &d, const MmaForm &f, Handler fn) {
  std::vector<uint32_t> rows;
  appendRegisters(d, 0, f.d, true, rows);
  appendRegisters(d, 1, f.a, false, rows);
  appendRegisters(d, 2, f.b, false, rows);
  appendRegisters(d, 3, f.c, false, rows);
  const uint32_t *list = d.list(rows);
  const uint64_t form = keep(d, f);
  Op &op = d.emit(fn);
  op.list = list, op.count = uint16_t(rows.size()), op.imm = form;
}

/// Layouts and shape have been taken.
bool decodeSubBytes(Decoder &d, unsigned shape, bool aByRows, bool bByRows) {
  MmaForm f{};
  const int operation = d.takeOneOf({"xor", "and"});
  const bool popc = d.take("popc");
  f.saturates = d.take("satfinite");
  f.ands = operation == 1, f.subBits = shape == bits ? 1 : 4;
  if (!aByRows || bByRows || (operation >= 0) != (shape == bits) ||
      popc != (shape == bits) || (popc && f.saturates) ||
      d.takeType() != Type::S32 || !takeSubByte(d, shape, f.aSigned) ||
      !takeSubByte(d, shape, f.bSigned) || f.aSigned != f.bSigned ||
      d.takeType() != Type::S32 || !d.done())
    return false;
  d.expect(4);
  f.a = *fragmentOf('a', shape, Type::B8);
  f.b = *fragmentOf('b', shape, Type::B8);
  f.c = f.d = *fragmentOf('c', shape, Type::S32);
  emitMultiply(d, f, multiply<Kind::SubByte>);
  return true;
}

bool decodeMultiply(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned"))
    return false;
  const auto aByRows = takeLayout(d), bByRows = takeLayout(d);
  const int shape = takeShape(d);
  if (shape >= int(nibbles))
    return aByRows && bByRows &&
           decodeSubBytes(d, unsigned(shape), *aByRows, *bByRows);
  const int rounding = d.takeOneOf({"rn", "rz", "rm", "rp"});
  MmaForm f{};
  f.saturates = d.take("satfinite");
  const Type dType = d.takeType(), second = d.takeType();
  Type aType = Type::F16, bType = Type::F16, cType = second;
  if (!d.done()) {
    aType = second, bType = d.takeType(), cType = d.takeType();
    if (aType == Type::F16)
      return false; // its factors are not named
  }
  if (!aByRows || !bByRows || shape < 0 || !d.done() || aType != bType)
    return false;
  const auto a = fragmentOf('a', unsigned(shape), aType),
             b = fragmentOf('b', unsigned(shape), bType),
             c = fragmentOf('c', unsigned(shape), cType),
             e = fragmentOf('c', unsigned(shape), dType);
  if (!a || !b || !c || !e)
    return false;
  const bool isDouble = aType == Type::F64,
             isInteger = aType == Type::S8 || aType == Type::U8;
  if (isInteger  ? cType != Type::S32 || dType != Type::S32
      : isDouble ? f.saturates
                 : cType == Type::S32 || dType == Type::S32 || f.saturates ||
                       (aType != Type::F16 &&
                        (cType != Type::F32 || dType != Type::F32)))
    return false;
  if (rounding >= 0 && !isDouble)
    return false;
  d.expect(4);
  f.d = *e, f.a = *a, f.b = *b, f.c = *c;
  f.aByRows = *aByRows, f.bByRows = *bByRows;
  f.isHalfD = dType == Type::F16, f.isHalfC = cType == Type::F16;
  f.rounding = std::max(rounding, 0);
  if (!isDouble)
    f.element = *elementOf(aType);
  emitMultiply(d, f,
               isDouble    ? multiply<Kind::Double>
               : isInteger ? multiply<Kind::Integer>
                           : multiply<Kind::Float>);
  return true;
}

} // namespace

bool ptxsim::decodeWmma(Decoder &d) {
  switch (d.takeOneOf({"load", "store", "mma"})) {
  case 0:
    return decodeMove(d, true);
  case 1:
    return decodeMove(d, false);
  case 2:
    return decodeMultiply(d);
  default:
    return false;
  }
}
