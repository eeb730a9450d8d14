# cmake --install: tools, libraries with their headers, and the package that find_package(k2c) finds.
#
#   find_package(k2c REQUIRED)                        k2c::K2RT (runtime, C and C++), k2c::ptxsim (simulator), k2c::ptxsim-driver (the same as a CUDA driver)
#   find_package(k2c REQUIRED COMPONENTS Compiler)    also k2c::K2CInitAll, k2c::K2CPipelines and what they link (needs LLVM/MLIR 22)
#
# Headers keep their paths in the tree: #include "k2rt/k2rt.h", "runtime/ptxsim/ptxsim.h", "dialects/K2/K2.h", "k2c/InitAll.h".
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/k2c)
set(header_dir ${CMAKE_INSTALL_INCLUDEDIR}/k2c)

function(k2c_install_libraries component)
  get_property(libraries GLOBAL PROPERTY K2C_${component}_LIBRARIES)
  foreach(library ${libraries})
    target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${header_dir}>)
  endforeach()
  install(TARGETS ${libraries} EXPORT k2c${component}Targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
  install(EXPORT k2c${component}Targets NAMESPACE k2c:: DESTINATION ${package_dir} COMPONENT ${component})
endfunction()

function(k2c_install_tools component)
  foreach(tool ${ARGN})
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
  endforeach()
endfunction()

k2c_install_libraries(Runtime)
k2c_install_tools(Runtime k2-run ptxsim-tool)
# The simulator as a CUDA driver: lib/libptxsim.so, and lib/ptxsim with the name under which programs look for NVIDIA's.
target_include_directories(ptxsim-driver INTERFACE $<INSTALL_INTERFACE:${header_dir}>)
install(TARGETS ptxsim-driver EXPORT k2cRuntimeTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime)
install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/ptxsim\")
file(CREATE_LINK ../libptxsim.so \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/ptxsim/libcuda.so.1\" SYMBOLIC)" COMPONENT Runtime)
install(DIRECTORY runtime/include/ DESTINATION ${header_dir} COMPONENT Runtime)
install(DIRECTORY runtime DESTINATION ${header_dir} COMPONENT Runtime FILES_MATCHING PATTERN "*.h" PATTERN "Counters.def" PATTERN include EXCLUDE)
install(DIRECTORY runtime/ptxsim/devices/ DESTINATION ${CMAKE_INSTALL_DATADIR}/k2c/devices COMPONENT Runtime FILES_MATCHING PATTERN "*.json")
if(K2C_BUILD_COMPILER)
  k2c_install_libraries(Compiler)
  k2c_install_tools(Compiler k2c k2-opt k2-interpret k2-lsp-server)
  install(DIRECTORY include/ DESTINATION ${header_dir} COMPONENT Compiler FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  install(DIRECTORY dialects DESTINATION ${header_dir} COMPONENT Compiler FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/ DESTINATION ${header_dir} COMPONENT Compiler FILES_MATCHING PATTERN "*.inc")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/dialects DESTINATION ${header_dir} COMPONENT Compiler FILES_MATCHING PATTERN "*.inc")
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/k2cConfig.cmake.in ${PROJECT_BINARY_DIR}/k2cConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/k2cConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/k2cConfig.cmake ${PROJECT_BINARY_DIR}/k2cConfigVersion.cmake DESTINATION ${package_dir} COMPONENT Runtime)
