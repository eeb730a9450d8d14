# Targets that every part of the tree uses.
#
#   k2c_add_subdirectories(DIR)          every child of DIR that has a CMakeLists.txt
#   k2c_runtime_library(NAME SRC... [LINK LIB...])    a static library of runtime/ (exceptions on, no LLVM)
#   k2c_unittest(NAME SRC... [LINK LIB...])           a GoogleTest binary under build/test/Unit, run by ctest

find_program(K2C_CCACHE ccache)
if(K2C_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header defeats ccache unless these checks are relaxed and the header carries no time stamp.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${K2C_CCACHE})
endif()

find_program(K2C_LLD NAMES ld.lld-22)
if(K2C_LLD)
  add_link_options(-fuse-ld=${K2C_LLD})
endif()

# Results must not depend on the host compiler contracting a*b+c: the simulator and the reference state every rounding.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffp-contract=off)
if(K2C_SANITIZE)
  add_compile_options(-fsanitize=${K2C_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${K2C_SANITIZE})
endif()

include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include
                    ${PROJECT_SOURCE_DIR}/runtime/include)

function(k2c_add_subdirectories dir)
  file(GLOB children CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*/CMakeLists.txt)
  foreach(child ${children})
    get_filename_component(child ${child} DIRECTORY)
    add_subdirectory(${child})
  endforeach()
endfunction()

function(k2c_runtime_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY K2C_Runtime_LIBRARIES ${name})
endfunction()

# SHARDS n: ctest runs the tests in n processes, because one would take longer than all others together.
function(k2c_unittest name)
  cmake_parse_arguments(ARG "" "SHARDS" "LINK" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/Unit)
  target_compile_definitions(${name} PRIVATE K2C_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(ARG_SHARDS)
    math(EXPR last "${ARG_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${name}-${shard} COMMAND ${name})
      # Shards that start together would choose the same name for their reports.
      set_tests_properties(${name}-${shard} PROPERTIES ENVIRONMENT
        "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard};GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/test-reports/unit/${name}-${shard}.xml")
    endforeach()
  else()
    add_test(NAME ${name} COMMAND ${name})
  endif()
  if(NOT TARGET UnitTests)
    add_custom_target(UnitTests) # all of them
  endif()
  add_dependencies(UnitTests ${name})
endfunction()
