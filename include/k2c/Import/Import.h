//===- Import.h - config.json to a k2.model ---------------------*- C++ -*-===//
#ifndef K2C_IMPORT_IMPORT_H
#define K2C_IMPORT_IMPORT_H

#include "k2c/Import/ModelFacts.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace k2c {

/// Builds a module that holds one `k2.model`: parameters, blocks @dense and
/// @moe, entries @stack and @model. Storage types come from the safetensors
/// headers in `facts.folder` when there are any, else from quantization_config.
/// Loads the dialects it needs into `context`.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(const ModelFacts &facts, mlir::MLIRContext &context);

/// readModelFacts and the above; `notes` receives one sentence for every
/// default that was taken.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(llvm::StringRef model, mlir::MLIRContext &context,
            std::vector<std::string> *notes = nullptr);

enum class ParameterFormat { Text, Json };

/// The accounting of `k2c --print-parameters`: for every config whose block is
/// the model's, compilable or not. Checked against the checkpoint's headers
/// when they are there. Returns an exit code: 0, or 1 with a message on
/// `errors`.
int printParameters(llvm::StringRef model, ParameterFormat format,
                    llvm::raw_ostream &out, llvm::raw_ostream &errors);

} // namespace k2c

#endif // K2C_IMPORT_IMPORT_H
