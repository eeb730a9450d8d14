// Registration of everything in the tree: one line per dialect in
// lib/InitAll/Dialects.cpp, one per group of passes in Passes.cpp.
#ifndef K2C_INITALL_H
#define K2C_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace k2c {

/// Own dialects, the upstream ones they build on, and their translations to
/// LLVM IR.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Own passes and the upstream ones that pipelines and tests name.
void registerAllPasses();

} // namespace k2c

#endif // K2C_INITALL_H
