//===- Remarks.cpp - What passes say about their decisions ----------------===//
#include "k2c/Pipelines/Remarks.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Remark/RemarkStreamer.h"

using namespace mlir;

LogicalResult k2c::enableRemarks(MLIRContext &context,
                                 const RemarkRequest &request) {
  // Of all kinds: one that has no filter of its own, even an empty one, is not
  // emitted.
  remark::RemarkCategories categories{request.filter, "", "", "", ""};
  auto policy = std::make_unique<remark::RemarkEmittingPolicyAll>();
  context.disableMultithreading();
  if (request.format == "emitRemark")
    return remark::enableOptimizationRemarks(context, nullptr,
                                             std::move(policy), categories,
                                             /*printAsEmitRemarks=*/true);
  bool yaml = request.format == "yaml";
  std::string file = request.file;
  if (file.empty())
    file = yaml ? "k2c-remarks.yaml" : "k2c-remarks.bitstream";
  return remark::enableOptimizationRemarksWithLLVMStreamer(
      context, file,
      yaml ? llvm::remarks::Format::YAML : llvm::remarks::Format::Bitstream,
      std::move(policy), categories);
}
