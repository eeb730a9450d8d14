// mma.sync.aligned.m16n8kK.row.col: f16, bf16, tf32, e4m3/e5m2 and 8-bit
// integers.

#include "runtime/ptxsim/numeric/Mma.h"
#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/insn/MmaElement.h"

#include <cstring>
#include <vector>

using namespace ptxsim;

namespace {

struct Form {
  MmaFn exact32;
  MmaShape shape;
};

/// op.imm points at the Form, op.list has the rows of D, A, B and C, op.count
/// is K, op.a to op.c are the numbers of registers of D and C, A, B.
void mma(Warp &w, const Op &op, uint32_t mask) {
  w.requireConverged(op, mask);
  if (mask != allLanes)
    w.fault(op, unsigned(std::countr_one(mask)),
            "mma needs all 32 lanes of the warp, but this one does not run");
  uint32_t *rows[16];
  unsigned n = 2 * op.a + op.b + op.c;
  for (unsigned i = 0; i < n; ++i)
    rows[i] = w.row<uint32_t>(op.list[i]);
  uint32_t **d = rows, **a = d + op.a, **b = a + op.b, **c = b + op.c;
  const Form &form = *reinterpret_cast<const Form *>(op.imm);
  const DeviceOptions &options = w.cta->launch.options;
  if (!options.skipTensor &&
      (options.numerics == Numerics::Exact32 || form.shape.a >= MmaElement::S8))
    form.exact32(d, a, b, c);
  else if (!options.skipTensor)
    mmaBlocks(form.shape, options.numerics, d, a, b, c);
  else
    for (unsigned i = 0; i < op.a; ++i)
      std::memmove(d[i], c[i], warpSize * 4);
  w.counters->tensorFlops += 2ull * 16 * 8 * op.count;
}

} // namespace

bool ptxsim::decodeMma(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned") || !takeRowColumn(d))
    return false;
  int shape = d.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  bool saturated = d.take("satfinite");
  Type dType = d.takeType(), aType = d.takeType(), bType = d.takeType(),
       cType = d.takeType();
  std::optional<MmaElement> a = elementOf(aType), b = elementOf(bType);
  if (shape < 0 || !a || !b || dType != cType || !d.done())
    return false;
  MmaShape form;
  form.a = *a, form.b = *b, form.k = 4u << shape;
  if (dType == Type::S32)
    form.accumulator =
        saturated ? MmaAccumulator::S32Saturated : MmaAccumulator::S32;
  else if (saturated || (dType != Type::F32 && dType != Type::F16))
    return false;
  else
    form.accumulator =
        dType == Type::F32 ? MmaAccumulator::F32 : MmaAccumulator::F16;
  MmaFn fn = mmaExact32(form);
  if (!fn)
    return false;
  d.expect(4);
  std::vector<uint32_t> rows;
  auto append = [&](size_t operand, unsigned count, Type type, bool isTarget) {
    std::span<const Operand> elements = d.elements(d[operand]);
    if (elements.size() != count)
      d.error("expected " + std::to_string(count) + " registers in operand " +
              std::to_string(operand + 1) + ", but got " +
              std::to_string(elements.size()));
    for (const Operand &element : elements)
      rows.push_back(isTarget ? d.destination(element, 32)
                              : d.source(element, type));
  };
  Type accumulator = dType == Type::F16 ? Type::B32 : dType;
  append(0, form.cRegisters(), accumulator, true);
  append(1, form.aRegisters(), Type::B32, false);
  append(2, form.bRegisters(), Type::B32, false);
  append(3, form.cRegisters(), accumulator, false);
  const uint32_t *list = d.list(rows);
  // The form, kept among the function's lists.
  const Form made{fn, form};
  std::vector<uint32_t> words((sizeof made + 3) / 4 + 1);
  std::memcpy(words.data(), &made, sizeof made);
  const uint32_t *kept = d.list(words);
  Op &op = d.emit(mma);
  op.list = list, op.count = uint16_t(form.k);
  op.a = form.cRegisters(), op.b = form.aRegisters(), op.c = form.bRegisters();
  op.imm = reinterpret_cast<uint64_t>(kept);
  return true;
}
