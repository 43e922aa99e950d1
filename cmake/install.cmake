# What `cmake --install` lays down: the command, the library, its headers, and a CMake package that other projects
# find with find_package(looseleaf). Paths in it are relative to the package, so the tree can be moved.
include(CMakePackageConfigHelpers)

set(LOOSELEAF_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/looseleaf)

install(TARGETS looseleaf_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS looseleaf EXPORT looseleaf-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/looseleaf DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT looseleaf-targets NAMESPACE looseleaf:: DESTINATION ${LOOSELEAF_PACKAGE_DIR})

configure_package_config_file(cmake/looseleaf-config.cmake.in ${CMAKE_BINARY_DIR}/looseleaf-config.cmake
  INSTALL_DESTINATION ${LOOSELEAF_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/looseleaf-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/looseleaf-config.cmake ${CMAKE_BINARY_DIR}/looseleaf-config-version.cmake
  DESTINATION ${LOOSELEAF_PACKAGE_DIR})
