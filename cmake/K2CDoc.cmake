# k2c-doc: docs/reference from the .td files. The pages are in the tree; the whole test run checks that they are fresh.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_custom_target(k2c-doc
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/reference.py --tblgen ${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen --include ${MLIR_INCLUDE_DIRS}
  COMMENT "Writing docs/reference"
  VERBATIM)
