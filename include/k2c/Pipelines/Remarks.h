//===- Remarks.h - What passes say about their decisions --------*- C++ -*-===//
#ifndef K2C_PIPELINES_REMARKS_H
#define K2C_PIPELINES_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace k2c {

/// Which remarks are wanted and where they go; the options have the names and
/// meanings of mlir-opt's.
struct RemarkRequest {
  std::string filter;                // a regular expression over pass names
  std::string format = "emitRemark"; // emitRemark, yaml or bitstream
  std::string file;                  // of yaml and bitstream
};

/// Turns remarks on for a context. Passes then run one after the other: the
/// streamers of remarks are not made for threads, and the order is the same in
/// every run.
mlir::LogicalResult enableRemarks(mlir::MLIRContext &context,
                                  const RemarkRequest &request);

} // namespace k2c

#endif // K2C_PIPELINES_REMARKS_H
