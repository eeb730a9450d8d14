// bra, brx.idx, ret, exit, trap, brkpt.

#include "runtime/ptxsim/FunctionBuilder.h"
#include "runtime/ptxsim/Lanes.h"

using namespace ptxsim;

namespace {

void branch(Warp &w, const Op &op, uint32_t mask) { w.jump(mask, op.target); }

/// .uni promises that all active lanes go the same way.
void branchUniform(Warp &w, const Op &op, uint32_t mask) {
  if (mask != w.active)
    w.fault(op, unsigned(std::countr_zero(mask)),
            "bra.uni is taken by a part of the lanes only");
  w.jump(mask, op.target);
}

void branchIndexed(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *index = w.row<uint32_t>(op.a);
  forLanes(mask, [&](unsigned l) {
    if (index[l] >= op.count)
      w.fault(op, l,
              "the index " + std::to_string(index[l]) + " is not below the " +
                  std::to_string(op.count) + " targets");
  });
  for (uint32_t rest = mask; rest;) {
    const uint32_t target = index[std::countr_zero(rest)];
    uint32_t same = 0;
    forLanes(rest,
             [&](unsigned l) { same |= uint32_t(index[l] == target) << l; });
    w.jump(same, op.list[target]);
    rest &= ~same;
  }
}

void exitKernel(Warp &w, const Op &, uint32_t mask) { w.exitLanes(mask); }

void trap(Warp &w, const Op &op, uint32_t mask) {
  w.fault(op, unsigned(std::countr_zero(mask)), "trap");
}

void nothing(Warp &, const Op &, uint32_t) {}

} // namespace

bool ptxsim::decodeBra(Decoder &d) {
  bool uniform = d.take("uni");
  if (!d.done())
    return false;
  d.expect(1);
  if (d[0].kind != Operand::Label)
    d.error("expected a label");
  d.emit(uniform ? branchUniform : branch).flags = Control;
  std::string_view label = d[0].text;
  d.function.jump(Jump::Branch, {&label, 1});
  return true;
}

bool ptxsim::decodeBrx(Decoder &d) {
  bool idx = d.take("idx");
  d.take("uni");
  if (!idx || !d.done())
    return false;
  d.expect(2);
  const auto *targets =
      d[1].kind == Operand::Label ? d.function.findTargets(d[1].text) : nullptr;
  if (!targets)
    d.error("expected the name of .branchtargets");
  uint32_t index = d.source(0, Type::U32);
  Op &op = d.emit(branchIndexed);
  op.a = index;
  op.flags = Control;
  d.function.jump(Jump::Indexed, *targets);
  return true;
}

bool ptxsim::decodeExit(Decoder &d) {
  // ret of a kernel ends a thread too.
  if (d.opcode() == "ret")
    d.take("uni");
  if (!d.done())
    return false;
  d.expect(0);
  if (d.opcode() == "ret" && d.inFunction()) {
    d.emit(returnFromFunction).flags = Control;
    d.function.jump(Jump::Return);
    return true;
  }
  d.emit(exitKernel).flags = Control;
  d.function.jump(Jump::Exit);
  return true;
}

bool ptxsim::decodeTrap(Decoder &d) {
  if (!d.done())
    return false;
  d.expect(0);
  d.emit(d.opcode() == "trap" ? trap : nothing);
  return true;
}
