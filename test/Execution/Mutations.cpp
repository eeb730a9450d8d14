//===- Mutations.cpp - Kernels that are wrong in one place ----------------===//
#include "Mutations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::test;

namespace {

/// A mistake that one op allows.
struct Mistake {
  std::string kind;
  std::function<void()> make;
};

arith::CmpIPredicate neighbour(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::slt:
    return P::sle;
  case P::sle:
    return P::slt;
  case P::ult:
    return P::ule;
  case P::ule:
    return P::ult;
  case P::sgt:
    return P::sge;
  case P::sge:
    return P::sgt;
  case P::ugt:
    return P::uge;
  case P::uge:
    return P::ugt;
  case P::eq:
    return P::ne;
  case P::ne:
    return P::eq;
  }
  llvm_unreachable("a predicate");
}

/// The op gives one of its operands.
Mistake operandOf(Operation *op, unsigned index) {
  return {
      (op->getName().stripDialect() + " gives operand " + std::to_string(index))
          .str(),
      [=] { op->getResult(0).replaceAllUsesWith(op->getOperand(index)); }};
}

std::vector<Mistake> mistakesOf(Operation *op) {
  std::vector<Mistake> mistakes;
  auto boundless = [&](auto access) {
    if (!access.getBounds().empty())
      mistakes.push_back(
          {(op->getName().stripDialect() + " without bounds").str(),
           [=]() mutable { access.getBoundsMutable().clear(); }});
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](arith::CmpIOp compare) {
        auto other = neighbour(compare.getPredicate());
        mistakes.push_back(
            {("cmpi " + arith::stringifyCmpIPredicate(compare.getPredicate()) +
              " -> " + arith::stringifyCmpIPredicate(other))
                 .str(),
             [=]() mutable { compare.setPredicate(other); }});
      })
      .Case<arith::MulFOp, arith::AddFOp, arith::SubFOp, arith::DivFOp,
            arith::MaximumFOp, arith::MulIOp, arith::AddIOp, arith::SubIOp,
            arith::AndIOp, arith::MaxSIOp, arith::MinSIOp, arith::DivUIOp,
            arith::RemUIOp>([&](auto) { mistakes.push_back(operandOf(op, 0)); })
      .Case([&](arith::SelectOp) {
        mistakes.push_back(operandOf(op, 1));
        mistakes.push_back(operandOf(op, 2));
      })
      .Case([&](arith::ExtFOp extended) {
        auto rounded = extended.getIn().getDefiningOp<arith::TruncFOp>();
        if (rounded && rounded.getIn().getType() == extended.getType())
          mistakes.push_back({"no rounding to bf16", [=]() mutable {
                                extended.replaceAllUsesWith(rounded.getIn());
                              }});
      })
      .Case([&](tile::LoadScalarOp load) {
        if (!load.getType().isInteger(32))
          return;
        mistakes.push_back(
            {"load_scalar + 1", [=]() mutable {
               OpBuilder b(op->getContext());
               b.setInsertionPointAfter(op);
               Value one = arith::ConstantIntOp::create(b, op->getLoc(), 1, 32);
               auto sum = arith::AddIOp::create(b, op->getLoc(),
                                                load.getResult(), one);
               load.getResult().replaceAllUsesExcept(sum, sum);
             }});
      })
      .Case<tile::LoadOp, tile::StoreOp>(boundless);
  return mistakes;
}

} // namespace

std::optional<std::string> test::mutate(tile::KernelOp kernel,
                                        const Mutation &mutation) {
  std::optional<std::string> made;
  unsigned seen = 0;
  kernel.walk([&](Operation *op) {
    for (const Mistake &mistake : mistakesOf(op)) {
      if (mutation.matches && !mutation.matches(mistake.kind, op))
        continue;
      if (seen++ != mutation.index)
        continue;
      std::string text;
      llvm::raw_string_ostream(text) << *op;
      made = kernel.getSymName().str() + ": " + mistake.kind + ": " +
             StringRef(text).split('\n').first.str();
      mistake.make();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return made;
}

bool test::dropInstruction(std::string &ptx, StringRef start, unsigned index) {
  size_t at = 0;
  for (unsigned seen = 0; (at = ptx.find(start.str(), at)) != std::string::npos;
       at += start.size())
    if (seen++ == index) {
      ptx.erase(at, ptx.find(';', at) + 1 - at);
      return true;
    }
  return false;
}
