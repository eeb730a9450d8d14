//===- Compiler.h - From a model's folder to an artifact --------*- C++ -*-===//
#ifndef K2C_PIPELINES_COMPILER_H
#define K2C_PIPELINES_COMPILER_H

#include "k2c/Pipelines/Pipelines.h"

namespace k2c {

struct CompileRequest {
  std::string model;  // a config.json, or a folder with one
  std::string output; // artifact folder, or a file ("-": standard output)
  Stage emit = Stage::Artifact;
  std::string dumpFolder; // empty: none
  PipelineOptions options;
};

/// Compiles; returns the exit code after printing errors as
/// `k2c: error: <file or field>: <rule>, but got <fact>`.
int compile(const CompileRequest &request, mlir::MLIRContext &context);

} // namespace k2c

#endif // K2C_PIPELINES_COMPILER_H
