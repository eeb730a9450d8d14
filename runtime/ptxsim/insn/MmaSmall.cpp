// mma.sync of f64, of 4-bit and 1-bit integers, and of the shapes m8n8k4 (f16)
// and m8n8k16 (8 bits): element by element, as no kernel of today lives on
// them.

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/insn/MmaElement.h"
#include "runtime/ptxsim/insn/Wmma.h"
#include "runtime/ptxsim/numeric/Half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace ptxsim;

namespace {

enum class Kind : uint8_t { Double, Integer, Bits, Quads };

/// What op.imm points at. op.list has the rows of D, A, B and C; op.a to op.c
/// are the numbers of registers of D and C (of Quads of D alone), A, B.
struct Form {
  Kind kind;
  unsigned m, k, bits; ///< of an element
  bool aSigned, bSigned, saturates;
  bool ands;                           ///< Bits: .and, else .xor
  bool aByRows, bByRows, halfC, halfD; ///< Quads
  DoubleRounding rounding;
};

/// Where the elements of all shapes but m8n8k4 of f16 are: lane 4 g + t has in
/// register r of A row g (+ 8 in every second register if there are 16 rows)
/// and the E columns from E t on, 4 E further in the next; B alike, column g.
/// f(row or column, k, lane, register, element).
template <class F> void forElements(const Form &f, bool isA, F each) {
  const unsigned E = f.kind == Kind::Double ? 1 : 32 / f.bits,
                 rows = isA ? f.m / 8 : 1, n = rows * f.k / (4 * E);
  for (unsigned r = 0; r < n; ++r)
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (unsigned e = 0; e < E; ++e)
        each(lane / 4 + r % rows * 8, lane % 4 * E + e + r / rows * 4 * E, lane,
             r, e);
}
/// Of C and D: f(row, column, lane, register).
template <class F> void forResults(unsigned m, F each) {
  for (unsigned r = 0; r < m / 4; ++r)
    for (unsigned lane = 0; lane < warpSize; ++lane)
      each(lane / 4 + r / 2 * 8, lane % 4 * 2 + r % 2, lane, r);
}

void requireWarp(Warp &w, const Op &op, uint32_t mask) {
  w.requireConverged(op, mask);
  if (mask != allLanes)
    w.fault(op, unsigned(std::countr_one(mask)),
            "mma needs all 32 lanes of the warp, but this one does not run");
}

void doubles(Warp &w, const Op &op, const Form &f) {
  double a[16 * 16], b[16 * 8], c[16 * 8], d[16 * 8];
  const uint32_t *rowsA = op.list + op.a, *rowsB = rowsA + op.b,
                 *rowsC = rowsB + op.c;
  forElements(f, true,
              [&](unsigned i, unsigned k, unsigned l, unsigned r, unsigned) {
                a[i * f.k + k] = w.row<double>(rowsA[r])[l];
              });
  forElements(f, false,
              [&](unsigned j, unsigned k, unsigned l, unsigned r, unsigned) {
                b[k * 8 + j] = w.row<double>(rowsB[r])[l];
              });
  forResults(f.m, [&](unsigned i, unsigned j, unsigned l, unsigned r) {
    c[i * 8 + j] = w.row<double>(rowsC[r])[l];
  });
  if (w.cta->launch.options.skipTensor)
    std::memcpy(d, c, sizeof d);
  else
    multiplyDoubles(a, b, c, d, f.rounding, f.m, f.k);
  forResults(f.m, [&](unsigned i, unsigned j, unsigned l, unsigned r) {
    w.row<double>(op.list[r])[l] = d[i * 8 + j];
  });
}

/// Element e of a word.
int32_t elementOf(uint32_t word, unsigned e, unsigned bits, bool isSigned) {
  const uint32_t up = word << (32 - bits - e * bits);
  return isSigned ? int32_t(up) >> (32 - bits) : int32_t(up >> (32 - bits));
}

void integers(Warp &w, const Op &op, const Form &f) {
  int16_t a[16][256], b[8][256];
  const uint32_t *rowsA = op.list + op.a, *rowsB = rowsA + op.b,
                 *rowsC = rowsB + op.c;
  forElements(f, true,
              [&](unsigned i, unsigned k, unsigned l, unsigned r, unsigned e) {
                a[i][k] = int16_t(elementOf(w.row<uint32_t>(rowsA[r])[l], e,
                                            f.bits, f.aSigned));
              });
  forElements(f, false,
              [&](unsigned j, unsigned k, unsigned l, unsigned r, unsigned e) {
                b[j][k] = int16_t(elementOf(w.row<uint32_t>(rowsB[r])[l], e,
                                            f.bits, f.bSigned));
              });
  uint32_t d[16][8];
  const unsigned depth = w.cta->launch.options.skipTensor ? 0 : f.k;
  forResults(f.m, [&](unsigned i, unsigned j, unsigned l, unsigned r) {
    int64_t sum = int32_t(w.row<uint32_t>(rowsC[r])[l]);
    for (unsigned k = 0; k < depth; ++k)
      sum += f.kind == Kind::Integer ? a[i][k] * b[j][k]
             : f.ands                ? a[i][k] & b[j][k]
                                     : a[i][k] ^ b[j][k];
    if (f.saturates)
      sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    d[i][j] = uint32_t(uint64_t(sum));
  });
  forResults(f.m, [&](unsigned i, unsigned j, unsigned l, unsigned r) {
    w.row<uint32_t>(op.list[r])[l] = d[i][j];
  });
}

/// m8n8k4 of f16: four products, each by a quad of the lower half of the warp
/// and one of the upper half. Numerics as of mode exact32.
void quads(Warp &w, const Op &op, const Form &f) {
  const uint32_t *rowsA = op.list + op.a, *rowsB = rowsA + op.b,
                 *rowsC = rowsB + op.c;
  const auto half = [&](const uint32_t *rows, unsigned i, unsigned lane) {
    return HalfF16::widen(
        uint16_t(w.row<uint32_t>(rows[i / 2])[lane] >> i % 2 * 16));
  };
  // Of element i of C or D in a lane.
  const auto place = [](bool isHalf, unsigned i, unsigned lane) {
    const unsigned upper = lane / 16 * 4;
    return isHalf ? std::pair(lane % 4 + upper, i)
                  : std::pair((lane & 1) + (i & 2) + upper,
                              (i & 4) + (lane & 2) + (i & 1));
  };
  float d[4][8][8], a[4][8][4], b[4][4][8];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    const unsigned q = lane / 4 % 4, t = lane % 4, upper = lane / 16 * 4;
    for (unsigned i = 0; i < 4; ++i) {
      f.aByRows ? a[q][t + upper][i] = half(rowsA, i, lane)
                : a[q][i + upper][t] = half(rowsA, i, lane);
      f.bByRows ? b[q][t][i + upper] = half(rowsB, i, lane)
                : b[q][i][t + upper] = half(rowsB, i, lane);
    }
    for (unsigned i = 0; i < 8; ++i) {
      const auto [row, column] = place(f.halfC, i, lane);
      d[q][row][column] =
          f.halfC ? half(rowsC, i, lane) : w.row<float>(rowsC[i])[lane];
    }
  }
  for (unsigned q = 0; q < 4 && !w.cta->launch.options.skipTensor; ++q)
    for (unsigned i = 0; i < 8; ++i)
      for (unsigned k = 0; k < 4; ++k)
        for (unsigned j = 0; j < 8; ++j)
          d[q][i][j] = std::fma(a[q][i][k], b[q][k][j], d[q][i][j]);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      const auto [row, column] = place(f.halfD, i, lane);
      const float x = d[lane / 4 % 4][row][column];
      if (!f.halfD) {
        w.row<uint32_t>(op.list[i])[lane] =
            x == x ? std::bit_cast<uint32_t>(x) : 0x7fffffffu;
        continue;
      }
      uint32_t &word = w.row<uint32_t>(op.list[i / 2])[lane];
      const unsigned shift = i % 2 * 16;
      word = (word & ~(0xffffu << shift)) | uint32_t(HalfF16::narrow(x))
                                                << shift;
    }
}

template <Kind kind> void mma(Warp &w, const Op &op, uint32_t mask) {
  requireWarp(w, op, mask);
  const Form &f = *reinterpret_cast<const Form *>(op.imm);
  if constexpr (kind == Kind::Double)
    doubles(w, op, f);
  else if constexpr (kind == Kind::Quads)
    quads(w, op, f);
  else
    integers(w, op, f);
  w.counters->tensorFlops +=
      2ull * f.m * 8 * f.k * (kind == Kind::Quads ? 4 : 1);
}

/// .s8 .u8 .s4 .u4 .b1: bits and sign; 0 for others.
unsigned takeElement(Decoder &d, bool &isSigned) {
  if (d.rest().empty())
    return 0;
  const std::string_view name = d.rest().front();
  isSigned = name[0] == 's';
  const unsigned bits = name == "s8" || name == "u8"   ? 8
                        : name == "s4" || name == "u4" ? 4
                        : name == "b1"                 ? 1
                                                       : 0;
  if (bits)
    d.take(name);
  return bits;
}

/// Registers of D and C may differ in m8n8k4 of f16.
void emitMma(Decoder &d, const Form &f, Handler fn, unsigned nA, unsigned nB,
             unsigned nC, unsigned nD) {
  d.expect(4);
  std::vector<uint32_t> rows;
  const unsigned counts[] = {nD, nA, nB, nC};
  const unsigned bits = f.kind == Kind::Double ? 64 : 32;
  for (unsigned operand = 0; operand < 4; ++operand) {
    std::span<const Operand> elements = d.elements(d[operand]);
    if (elements.size() != counts[operand])
      d.error("expected " + std::to_string(counts[operand]) +
              " registers in operand " + std::to_string(operand + 1) +
              ", but got " + std::to_string(elements.size()));
    for (const Operand &e : elements)
      rows.push_back(operand == 0 ? d.destination(e, bits)
                     : bits == 64 ? d.source(e, Type::F64)
                                  : d.source(e, Type::B32));
  }
  const uint32_t *list = d.list(rows);
  std::vector<uint32_t> words((sizeof f + 3) / 4);
  std::memcpy(words.data(), &f, sizeof f);
  const uint32_t *kept = d.list(words);
  Op &op = d.emit(fn);
  op.list = list, op.count = uint16_t(f.k);
  op.a = nD, op.b = nA, op.c = nB;
  op.imm = reinterpret_cast<uint64_t>(kept);
}

bool decodeQuads(Decoder &d) {
  bool byRows[2];
  for (bool &layout : byRows) {
    if (d.rest().empty() ||
        (d.rest().front() != "row" && d.rest().front() != "col"))
      return false;
    layout = d.rest().front() == "row";
    d.take(d.rest().front());
  }
  const Type to = d.takeType(), a = d.takeType(), b = d.takeType(),
             from = d.takeType();
  const auto isAccumulator = [](Type t) {
    return t == Type::F16 || t == Type::F32;
  };
  if (!d.done() || a != Type::F16 || b != Type::F16 || !isAccumulator(to) ||
      !isAccumulator(from) || (to == Type::F16 && from == Type::F32))
    return false;
  Form f{};
  f.kind = Kind::Quads, f.m = 8, f.k = 4, f.bits = 16;
  f.aByRows = byRows[0], f.bByRows = byRows[1];
  f.halfC = from == Type::F16, f.halfD = to == Type::F16;
  emitMma(d, f, mma<Kind::Quads>, 2, 2, f.halfC ? 4 : 8, f.halfD ? 4 : 8);
  return true;
}

struct Shape {
  std::string_view name;
  unsigned m, k;
};
constexpr Shape shapes[] = {
    {"m8n8k4", 8, 4},       {"m16n8k4", 16, 4},    {"m16n8k8", 16, 8},
    {"m16n8k16", 16, 16},   {"m8n8k16", 8, 16},    {"m8n8k32", 8, 32},
    {"m16n8k32", 16, 32},   {"m16n8k64", 16, 64},  {"m8n8k128", 8, 128},
    {"m16n8k128", 16, 128}, {"m16n8k256", 16, 256}};

} // namespace

bool ptxsim::decodeMmaSmall(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned"))
    return false;
  const Shape *shape = nullptr;
  for (const Shape &s : shapes)
    if (d.take(s.name)) {
      shape = &s;
      break;
    }
  if (!shape)
    return false;
  const bool isDouble =
      std::find(d.rest().begin(), d.rest().end(), "f64") != d.rest().end();
  if (shape->k == 4 && shape->m == 8 && !isDouble)
    return decodeQuads(d);
  if (!takeRowColumn(d))
    return false;
  Form f{};
  f.m = shape->m, f.k = shape->k;
  if (isDouble) {
    f.rounding =
        DoubleRounding(std::max(d.takeOneOf({"rn", "rz", "rm", "rp"}), 0));
    for (unsigned i = 0; i < 4; ++i)
      if (d.takeType() != Type::F64)
        return false;
    if (!d.done() || f.k > 16 || (f.m == 8 && f.k != 4))
      return false;
    f.kind = Kind::Double;
    emitMma(d, f, mma<Kind::Double>, f.m / 8 * f.k / 4, f.k / 4, f.m / 4,
            f.m / 4);
    return true;
  }
  f.saturates = d.take("satfinite");
  const int operation = d.takeOneOf({"xor", "and"});
  const bool popc = d.take("popc");
  if (d.takeType() != Type::S32)
    return false;
  f.bits = takeElement(d, f.aSigned);
  if (!f.bits || takeElement(d, f.bSigned) != f.bits ||
      d.takeType() != Type::S32 || !d.done())
    return false;
  // A register of A holds 4 or 8 bytes of a row.
  const unsigned bytes = f.k * f.bits / 8;
  if ((operation >= 0) != (f.bits == 1) || popc != (f.bits == 1) ||
      (f.bits == 1 && f.saturates) || (f.bits == 8 && f.m == 16) ||
      (bytes != 16 && (bytes != 32 || f.m == 8)))
    return false;
  f.kind = f.bits == 1 ? Kind::Bits : Kind::Integer, f.ands = operation == 1;
  emitMma(d, f, f.bits == 1 ? mma<Kind::Bits> : mma<Kind::Integer>,
          f.m / 8 * bytes / 16, bytes / 16, f.m / 4, f.m / 4);
  return true;
}
