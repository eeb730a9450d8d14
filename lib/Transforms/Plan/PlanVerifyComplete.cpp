//===- PlanVerifyComplete.cpp - Can the runtime execute this plan? --------===//
//
// A walk over each entry that follows the commands as the runtime does, and
// keeps what is known to be written.
//
//===----------------------------------------------------------------------===//
#include "dialects/Plan/Plan.h"
#include "k2c/Transforms/Plan/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace k2c::plan;

namespace k2c {
#define GEN_PASS_DEF_PLANVERIFYCOMPLETEPASS
#include "k2c/Transforms/Plan/Passes.h.inc"
} // namespace k2c

namespace {
/// What the runtime has at a point of an entry.
struct State {
  llvm::StringSet<> written;
  llvm::StringSet<> worklists;
  LayersOp layers;
};

class EntryVerifier {
public:
  EntryVerifier(ProgramOp program) : program(program) {
    for (Operation &op : program.getBody().front())
      TypeSwitch<Operation *>(&op)
          .Case([&](ParamOp o) { params[o.getSymName()] = o; })
          .Case([&](KernelOp o) { kernels[o.getSymName()] = o; })
          .Case<BufferOp, WorklistOp>(
              [&](auto o) { buffers[o.getSymName()] = o; });
  }

  LogicalResult verify(EntryOp entry) {
    State state;
    for (auto buffer : program.getBody().getOps<BufferOp>())
      if (buffer.getBufferClass() == BufferClass::Input ||
          buffer.getBufferClass() == BufferClass::Persistent)
        state.written.insert(buffer.getSymName());
    if (entry.getSymName() == "stack" || entry.getSymName() == "head")
      state.written.insert("x");
    return verify(entry.getBody().front(), state);
  }

  /// Shapes of buffers may use what a step has before any command runs, and
  /// lengths of work lists.
  LogicalResult verify(BufferOp buffer) {
    State state;
    for (auto list : program.getBody().getOps<WorklistOp>())
      state.worklists.insert(list.getSymName());
    for (auto expr : buffer.getShape().getAsRange<ExprAttr>())
      if (failed(verify(buffer, expr, state)))
        return failure();
    return success();
  }

private:
  LogicalResult verify(Block &block, State &state) {
    for (Operation &op : block) {
      LogicalResult ok =
          TypeSwitch<Operation *, LogicalResult>(&op)
              .Case<LaunchOp, LayersOp, WhenOp, MakeWorklistOp, CopyOp, ZeroOp,
                    RequireOp, TraceOp>(
                  [&](auto command) { return verify(command, state); })
              .Default([](Operation *other) {
                return other->emitOpError("expected a command of plan");
              });
      if (failed(ok))
        return failure();
    }
    return success();
  }

  LogicalResult verify(Operation *op, ExprAttr expr, State &state) {
    LogicalResult result = success();
    expr.walkSymbols([&](StringRef symbol) {
      if (failed(result) || symbol == "T" || symbol == "B" || symbol == "S" ||
          symbol == "P" || symbol == "masked" ||
          (symbol == "layer" && state.layers))
        return;
      if (symbol.starts_with("W_") &&
          state.worklists.contains(symbol.drop_front(2)))
        return;
      if (isa_and_present<IntegerAttr>(program.getModel().get(symbol)))
        return;
      // complete_c1
      result = op->emitOpError("expected a symbol that has a value here, but "
                               "got '")
               << symbol << "'";
    });
    return result;
  }

  LogicalResult read(Operation *op, FlatSymbolRefAttr name, State &state) {
    // complete_c2
    if (!buffers.contains(name.getValue()))
      return op->emitOpError("expected the name of a buffer, but got ") << name;
    // complete_c3
    if (!state.written.contains(name.getValue()))
      return op->emitOpError("expected buffer ")
             << name << " to be written before it is read";
    return success();
  }

  LogicalResult write(Operation *op, FlatSymbolRefAttr name, State &state) {
    auto buffer =
        dyn_cast_if_present<BufferOp>(buffers.lookup(name.getValue()));
    // complete_c4
    if (!buffer || buffer.getBufferClass() == BufferClass::Input)
      return op->emitOpError("expected a buffer of class step or persistent "
                             "where one is written, but got ")
             << name;
    state.written.insert(name.getValue());
    return success();
  }

  LogicalResult verifyParam(LaunchOp launch, FlatSymbolRefAttr name,
                            State &state) {
    ParamOp param = params.lookup(name.getValue());
    // complete_c5
    if (!param)
      return launch.emitOpError("expected the name of a param, but got ")
             << name;
    if (param.getPer() == Per::Model)
      return success();
    // complete_c6
    if (!state.layers)
      return launch.emitOpError("expected param ")
             << name << " of a layer to be bound inside plan.layers";
    ArrayRef<int64_t> layers = param.getLayers();
    // complete_c7
    if (int64_t(state.layers.getFrom()) < layers[0] ||
        int64_t(state.layers.getTo()) > layers[1])
      return launch.emitOpError("expected param ")
             << name << " to cover layers " << state.layers.getFrom() << " to "
             << state.layers.getTo() << ", but it has " << layers[0] << " to "
             << layers[1];
    return success();
  }

  LogicalResult verify(LaunchOp launch, State &state) {
    KernelOp kernel = kernels.lookup(launch.getKernel());
    // complete_c8
    if (!kernel)
      return launch.emitOpError("expected the name of a kernel, but got @")
             << launch.getKernel();
    for (auto expr : launch.getGrid().getAsRange<ExprAttr>())
      if (failed(verify(launch, expr, state)))
        return failure();
    ArrayAttr args = kernel.getArgs(), bindings = launch.getBindings();
    // complete_c9
    if (args.size() != bindings.size())
      return launch.emitOpError("expected ")
             << args.size() << " arguments for kernel @" << kernel.getSymName()
             << ", but got " << bindings.size();
    // Reads first: a kernel may not read what only it writes.
    for (bool writes : {false, true})
      for (auto [arg, binding] : llvm::zip(args.getAsRange<KernelArgAttr>(),
                                           bindings.getAsRange<BindAttr>()))
        if (failed(verify(launch, arg, binding, writes, state)))
          return failure();
    return success();
  }

  LogicalResult verify(LaunchOp launch, KernelArgAttr arg, BindAttr binding,
                       bool writes, State &state) {
    bool scalar = arg.getKind() == KernelArgKind::I32;
    // complete_c10
    if (scalar != (binding.getKind() == BindKind::I32))
      return launch.emitOpError("expected a ")
             << stringifyKernelArgKind(arg.getKind()) << " for argument '"
             << arg.getName().getValue() << "', but got " << binding;
    if (binding.getValue() && failed(verify(launch, binding.getValue(), state)))
      return failure();
    if (scalar)
      return success();
    bool isRead = arg.getAccess() != Access::Write;
    bool isWritten = arg.getAccess() != Access::Read;
    if (binding.getKind() == BindKind::Param) {
      // complete_c11
      if (isWritten)
        return launch.emitOpError("expected a buffer for argument '")
               << arg.getName().getValue() << "' that is written, but got "
               << binding;
      return verifyParam(launch, binding.getTarget(), state);
    }
    if (!writes)
      return isRead ? read(launch, binding.getTarget(), state) : success();
    return isWritten ? write(launch, binding.getTarget(), state) : success();
  }

  LogicalResult verify(LayersOp layers, State &state) {
    // complete_c12
    if (state.layers)
      return layers.emitOpError("expected layers not to be nested");
    // What the first layer finds written, every later one does.
    state.layers = layers;
    LogicalResult result = verify(layers.getBody().front(), state);
    state.layers = {};
    return result;
  }

  LogicalResult verify(WhenOp when, State &state) {
    if (failed(verify(when, when.getCondition(), state)))
      return failure();
    State taken = state, other = state;
    if (failed(verify(when.getThenBody().front(), taken)) ||
        failed(verify(when.getElseBody().front(), other)))
      return failure();
    for (const auto &name : taken.written)
      if (other.written.contains(name.getKey()))
        state.written.insert(name.getKey());
    for (const auto &name : taken.worklists)
      if (other.worklists.contains(name.getKey()))
        state.worklists.insert(name.getKey());
    return success();
  }

  LogicalResult verify(MakeWorklistOp make, State &state) {
    auto list =
        dyn_cast_if_present<WorklistOp>(buffers.lookup(make.getWorklist()));
    // complete_c13
    if (!list)
      return make.emitOpError("expected the name of a work list, but got @")
             << make.getWorklist();
    state.worklists.insert(list.getSymName());
    state.written.insert(list.getSymName());
    return success();
  }

  LogicalResult verify(CopyOp copy, State &state) {
    return success(succeeded(read(copy, copy.getSourceAttr(), state)) &&
                   succeeded(write(copy, copy.getTargetAttr(), state)));
  }

  LogicalResult verify(ZeroOp zero, State &state) {
    return write(zero, zero.getBufferAttr(), state);
  }

  LogicalResult verify(RequireOp require, State &state) {
    return success(succeeded(verify(require, require.getLayer(), state)) &&
                   succeeded(read(require, require.getIdsAttr(), state)));
  }

  LogicalResult verify(TraceOp trace, State &state) {
    return success(succeeded(verify(trace, trace.getLayer(), state)) &&
                   succeeded(read(trace, trace.getBufferAttr(), state)));
  }

  ProgramOp program;
  llvm::StringMap<ParamOp> params;
  llvm::StringMap<KernelOp> kernels;
  llvm::StringMap<Operation *> buffers; // work lists are buffers, too
};

struct PlanVerifyComplete
    : k2c::impl::PlanVerifyCompletePassBase<PlanVerifyComplete> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](ProgramOp program) {
      EntryVerifier verifier(program);
      for (Operation &op : program.getBody().front()) {
        auto buffer = dyn_cast<BufferOp>(op);
        auto entry = dyn_cast<EntryOp>(op);
        if ((buffer && failed(verifier.verify(buffer))) ||
            (entry && failed(verifier.verify(entry))))
          return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
