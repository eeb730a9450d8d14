//===- Kernels.cpp - The ABI of tile kernels, and kernels that are equal --===//
#include "Converter.h"
#include "k2c/Conversion/K2ToTile/KernelInputs.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace k2c;

/// A readable name of what an argument stands for.
static std::string nameOf(plan::ArgAttr arg) {
  switch (arg.getKind()) {
  case plan::ArgKind::Input:
    return "in" + std::to_string(arg.getIndex());
  case plan::ArgKind::Result:
    return "out" + std::to_string(arg.getIndex());
  case plan::ArgKind::Param:
  case plan::ArgKind::Array:
    return arg.getName().str();
  case plan::ArgKind::Scale:
    return scaleName(arg.getName());
  case plan::ArgKind::Scalar:
    return "scalar";
  }
  llvm_unreachable("every kind of argument has a name");
}

/// The kernel's text without what a launch decides: equal texts are equal code.
static std::string codeText(tile::KernelOp kernel) {
  OwningOpRef<tile::KernelOp> copy(kernel.clone());
  copy->setSymName("k");
  copy->removeGridAttr();
  copy->removeArgsAttr();
  copy->removeSourceAttr();
  for (StringRef name :
       {plan::kGridAttr, plan::kArgsAttr, plan::kWorklistsAttr})
    (*copy)->removeAttr(name);
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->getOperation()->print(
      os, OpPrintingFlags().assumeVerified().enableDebugInfo(false));
  return text;
}

/// An attribute under the plan's own name, or the one the kernel op has.
static ArrayAttr list(tile::KernelOp kernel, StringRef name,
                      std::optional<ArrayAttr> own) {
  if (auto list = kernel->getAttrOfType<ArrayAttr>(name))
    return list;
  return own.value_or(ArrayAttr());
}

FailureOr<KernelInfo> Kernels::read(k2::KernelOp kernel, tile::KernelOp tile) {
  KernelInfo info;
  info.tile = tile;
  info.grid = list(tile, plan::kGridAttr, tile.getGrid());
  ArrayAttr args = list(tile, plan::kArgsAttr, tile.getArgs());
  if (!info.grid || !args)
    return tile.emitOpError("expected plan.grid and plan.args to describe the "
                            "launch of k2.kernel '")
           << kernel.getName() << "'";
  ArrayRef<Type> types = tile.getArgumentTypes();
  if (types.size() != args.size())
    return tile.emitOpError("expected one #plan.arg for each of ")
           << types.size() << " arguments, but got " << args.size();
  for (auto [index, type] : llvm::enumerate(types)) {
    auto arg = dyn_cast<plan::ArgAttr>(args[index]);
    auto view = dyn_cast<MemRefType>(type);
    if (!arg)
      return tile.emitOpError("expected #plan.arg for argument ")
             << index << ", but got " << args[index];
    int64_t extents = view ? view.getNumDynamicDims() : 1;
    if (bool(view) == (arg.getKind() == plan::ArgKind::Scalar) ||
        extents != int64_t(arg.getExtents().size()))
      return tile.emitOpError("expected argument ")
             << index << " of type " << type << " to have "
             << (view ? "an extent for each dynamic dimension" : "one scalar")
             << ", but got " << arg;
    info.args.push_back(arg);
  }
  if (auto lists = tile->getAttrOfType<ArrayAttr>(plan::kWorklistsAttr))
    llvm::append_range(info.worklists, lists.getAsRange<plan::WorklistAttr>());
  return info;
}

LogicalResult Kernels::build(k2::ModelOp model, ModuleOp module,
                             OpBuilder &builder) {
  MLIRContext *context = builder.getContext();
  llvm::StringMap<tile::KernelOp> tiles;
  for (auto tile : module.getOps<tile::KernelOp>())
    tiles[tile.getSymName()] = tile;
  auto declare = [&](k2::KernelOp kernel, StringRef name) -> LogicalResult {
    auto tile = tiles.find(name);
    if (tile == tiles.end())
      return kernel.emitOpError("expected a tile.kernel named '")
             << name << "'";
    FailureOr<KernelInfo> info = read(kernel, tile->second);
    if (failed(info))
      return failure();
    SmallVector<Attribute> abi;
    llvm::StringMap<int> seen;
    for (auto [arg, type] :
         llvm::zip(info->args, info->tile.getArgumentTypes())) {
      std::string label = nameOf(arg);
      if (int again = seen[label]++)
        label += "." + std::to_string(again);
      auto add = [&](plan::KernelArgKind kind, const Twine &argName) {
        abi.push_back(plan::KernelArgAttr::get(
            context, kind, builder.getStringAttr(argName), arg.getAccess()));
      };
      auto view = dyn_cast<MemRefType>(type);
      add(view ? plan::KernelArgKind::Pointer : plan::KernelArgKind::I32,
          label);
      for (int64_t dim = 0; view && dim < view.getRank(); ++dim)
        if (view.isDynamicDim(dim))
          add(plan::KernelArgKind::I32, label + ".d" + Twine(dim));
    }
    llvm::SetVector<StringRef> ops;
    for (Operation &op : kernel.getBody().front())
      if (!isa<k2::YieldOp, k2::WeightOp, k2::SliceOp>(op))
        ops.insert(op.getName().getStringRef());
    auto [code, fresh] = codes.try_emplace(codeText(info->tile), name.str());
    if (!fresh)
      copies.push_back(info->tile);
    info->plan = plan::KernelOp::create(
        builder, kernel.getLoc(), name, code->second,
        info->tile.getNumThreads(), builder.getArrayAttr(abi),
        builder.getStrArrayAttr(ops.getArrayRef()));
    infos[name] = *info;
    return success();
  };
  WalkResult result = model.walk([&](k2::KernelOp kernel) {
    for (Variant variant : getVariants(kernel))
      if (failed(declare(kernel, getVariantName(kernel, variant))))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
