# Finds LLVM/MLIR 22 and defines how the compiler's libraries are built.
#
#   k2c_dialect(NAME TD...)     tablegen of dialects/NAME: NAMEDialect, NAMEOps, NAMETypes, NAMEAttrs, NAMEEnums; target NAMEIncGen
#   k2c_passes(NAME TD)         Passes.h.inc of a Passes.td; target NAMEPassesIncGen
#   k2c_library(NAME SRC... [DEPENDS TARGET...] [LINK LIB...])   a static library that shares the one precompiled header

find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "k2c needs LLVM/MLIR 22, but ${MLIR_DIR} has ${LLVM_PACKAGE_VERSION}: set MLIR_DIR or run scripts/bootstrap.sh")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# The dynamic library and the static ones must never be mixed: type ids and options would exist twice.
set(K2C_MLIR_LIBS MLIR LLVM)
separate_arguments(K2C_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
link_directories(${LLVM_LIBRARY_DIRS})

set(K2C_COMPILER_OPTIONS -O1 -fno-exceptions ${K2C_LLVM_DEFINITIONS})
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(K2C_COMPILER_OPTIONS -O0 -fno-exceptions ${K2C_LLVM_DEFINITIONS})
endif()
set(K2C_MLIR_INCLUDES ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
list(REMOVE_DUPLICATES K2C_MLIR_INCLUDES)

# MLIR's headers cost 20-45 s a file without a precompiled header, 2-4 s with one.
add_library(K2CPch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
target_include_directories(K2CPch SYSTEM PRIVATE ${K2C_MLIR_INCLUDES})
target_compile_options(K2CPch PRIVATE ${K2C_COMPILER_OPTIONS})
target_compile_options(K2CPch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
target_precompile_headers(K2CPch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)

function(k2c_compiler_target target)
  target_include_directories(${target} SYSTEM PRIVATE ${K2C_MLIR_INCLUDES})
  target_compile_options(${target} PRIVATE ${K2C_COMPILER_OPTIONS} "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(${target} REUSE_FROM K2CPch)
  # The header is compiled with -fPIC; CMake's -fPIE for executables would not match it.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()

function(k2c_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  k2c_compiler_target(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} ${K2C_MLIR_LIBS})
  set_property(GLOBAL APPEND PROPERTY K2C_Compiler_LIBRARIES ${name})
endfunction()

# A unit test of the compiler: GoogleTest plus MLIR.
function(k2c_compiler_unittest name)
  k2c_unittest(${name} ${ARGN})
  k2c_compiler_target(${name})
endfunction()

function(k2c_dialect name td)
  string(TOLOWER ${name} lower)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  foreach(kind Dialect:dialect Types:typedef Attrs:attrdef)
    string(REPLACE ":" ";" kind ${kind})
    list(GET kind 0 file)
    list(GET kind 1 gen)
    if(gen STREQUAL "dialect")
      set(flag -dialect=${lower})
    else()
      set(flag -${gen}s-dialect=${lower})
    endif()
    mlir_tablegen(${name}${file}.h.inc -gen-${gen}-decls ${flag} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
    mlir_tablegen(${name}${file}.cpp.inc -gen-${gen}-defs ${flag} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  endforeach()
  mlir_tablegen(${name}Ops.h.inc -gen-op-decls -dialect=${lower} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  mlir_tablegen(${name}Ops.cpp.inc -gen-op-defs -dialect=${lower} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  mlir_tablegen(${name}Enums.h.inc -gen-enum-decls EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  add_public_tablegen_target(${name}IncGen)
  add_dependencies(K2CGenerated ${name}IncGen)
endfunction()

function(k2c_passes name td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name=${name} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  add_public_tablegen_target(${name}PassesIncGen)
  add_dependencies(K2CGenerated ${name}PassesIncGen)
endfunction()

add_custom_target(K2CGenerated)
