// mov: copies, packing and unpacking of vectors, predicates, and special
// registers that change while a warp runs.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <chrono>
#include <cstring>
#include <vector>

using namespace ptxsim;

namespace {

template <class T> void copy(Warp &w, const Op &op, uint32_t mask) {
  if (mask == allLanes) {
    std::memcpy(w.row<T>(op.d), w.row<T>(op.a), sizeof(T) * warpSize);
    return;
  }
  blendLanes(w.row<T>(op.d), w.row<T>(op.a), mask);
}

void copyPredicate(Warp &w, const Op &op, uint32_t mask) {
  w.word(op.d) =
      (w.word(op.d) & ~mask) | ((w.word(op.a) ^ uint32_t(op.imm)) & mask);
}

/// Sources in list, lowest bits first.
template <class Whole, class Part>
void pack(Warp &w, const Op &op, uint32_t mask) {
  constexpr unsigned n = sizeof(Whole) / sizeof(Part);
  const Part *parts[n];
  for (unsigned i = 0; i < n; ++i)
    parts[i] = w.row<Part>(op.list[i]);
  setLanes(w.row<Whole>(op.d), mask, [&](unsigned l) {
    Whole value = 0;
    for (unsigned i = 0; i < n; ++i)
      value |= Whole(parts[i][l]) << (i * 8 * sizeof(Part));
    return value;
  });
}

template <class Whole, class Part>
void unpack(Warp &w, const Op &op, uint32_t mask) {
  constexpr unsigned n = sizeof(Whole) / sizeof(Part);
  const Whole *a = w.row<Whole>(op.a);
  for (unsigned i = 0; i < n; ++i)
    setLanes(w.row<Part>(op.list[i]), mask,
             [=](unsigned l) { return Part(a[l] >> (i * 8 * sizeof(Part))); });
}

uint64_t nanoseconds() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count());
}

/// %clock and %globaltimer: time of the host. Only differences mean anything.
template <class T, unsigned shift>
void readClock(Warp &w, const Op &op, uint32_t mask) {
  T value = T(nanoseconds() >> shift);
  setLanes(w.row<T>(op.d), mask, [=](unsigned) { return value; });
}

Handler clockHandler(std::string_view name, unsigned bits) {
  if (name == "clock" && bits == 32)
    return readClock<uint32_t, 0>;
  if ((name == "clock64" || name == "globaltimer") && bits == 64)
    return readClock<uint64_t, 0>;
  if ((name == "clock_hi" || name == "globaltimer_hi") && bits == 32)
    return readClock<uint32_t, 32>;
  if (name == "globaltimer_lo" && bits == 32)
    return readClock<uint32_t, 0>;
  return nullptr;
}

struct VectorForm {
  unsigned whole, part;
  Handler pack, unpack;
};
constexpr VectorForm vectorForms[] = {
    {32, 16, pack<uint32_t, uint16_t>, unpack<uint32_t, uint16_t>},
    {64, 32, pack<uint64_t, uint32_t>, unpack<uint64_t, uint32_t>},
    {64, 16, pack<uint64_t, uint16_t>, unpack<uint64_t, uint16_t>},
};

bool decodeVector(Decoder &d, Type type, const Operand &vector, bool packs) {
  const unsigned whole = bitsOf(type), n = unsigned(vector.elements.size());
  for (const VectorForm &form : vectorForms) {
    if (form.whole != whole || form.part * n != whole)
      continue;
    std::vector<uint32_t> rows;
    for (const Operand &element : vector.elements)
      rows.push_back(
          packs ? d.source(element, form.part == 16 ? Type::B16 : Type::B32)
                : d.destination(element, form.part));
    uint32_t other = packs ? d.destination(0, whole) : d.source(1, type);
    const uint32_t *list = d.list(rows);
    Op &op = d.emit(packs ? form.pack : form.unpack);
    (packs ? op.d : op.a) = other;
    op.list = list;
    return true;
  }
  return false;
}

} // namespace

bool ptxsim::decodeMov(Decoder &d) {
  Type type = d.takeType();
  if (type == Type::None || bitsOf(type) == 8 || bitsOf(type) > 64 ||
      type == Type::F16 || type == Type::BF16 || type == Type::F16x2 ||
      type == Type::BF16x2 || type == Type::U16x2 || type == Type::S16x2 ||
      !d.done())
    return false;
  d.expect(2);
  if (type == Type::Pred) {
    PredicateSource a = d.predicateSource(d[1]);
    uint32_t destination = d.predicateDestination(d[0]);
    Op &op = d.emit(copyPredicate);
    op.d = destination, op.a = a.row, op.imm = a.flip;
    return true;
  }
  if (!isBits(type) &&
      (d[0].kind == Operand::Vector || d[1].kind == Operand::Vector))
    return false;
  if (d[0].kind == Operand::Vector)
    return decodeVector(d, type, d[0], false);
  if (d[1].kind == Operand::Vector)
    return decodeVector(d, type, d[1], true);
  uint32_t destination = d.destination(0, bitsOf(type));
  if (d[1].kind == Operand::Special && !staticSpecial(d[1].text)) {
    Handler fn = clockHandler(d[1].text, bitsOf(type));
    if (!fn)
      d.error("unsupported special register '%" + std::string(d[1].text) + "'");
    d.emit(fn).d = destination;
    return true;
  }
  uint32_t a = d.source(1, type);
  Op &op = d.emit(bitsOf(type) == 16   ? copy<uint16_t>
                  : bitsOf(type) == 32 ? copy<uint32_t>
                                       : copy<uint64_t>);
  op.d = destination, op.a = a;
  return true;
}
