# `looseleaf_bundled`: the command for machines without our dependencies. CPU products are our own kernels', so that
# oneDNN stays out (scripts/bundle.sh carries every other library); the rest are the same objects.
set(LOOSELEAF_ONEDNN_SOURCES src/compute/cpu/matmul.cc)

add_executable(looseleaf_bundled EXCLUDE_FROM_ALL src/cli/main.cc ${LOOSELEAF_ONEDNN_SOURCES}
  $<FILTER:$<TARGET_OBJECTS:looseleaf_objects>,EXCLUDE,/compute/cpu/matmul\\.cc\\.o$>
  $<TARGET_OBJECTS:looseleaf_cli_objects>)
target_include_directories(looseleaf_bundled PRIVATE include src)
target_compile_definitions(looseleaf_bundled PRIVATE LOOSELEAF_VERSION="${PROJECT_VERSION}"
  "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3_DL)")
target_link_libraries(looseleaf_bundled PRIVATE ${CMAKE_DL_LIBS} Threads::Threads OpenSSL::Crypto fmt::fmt
  Boost::json PkgConfig::PCRE2 PkgConfig::XXHASH PkgConfig::HWY PkgConfig::UTF8PROC tl::expected CLI11::CLI11)
# An rpath for carried libraries' own libraries too, not only for the command's.
target_link_options(looseleaf_bundled PRIVATE -Wl,--disable-new-dtags -Wl,--as-needed)
set_target_properties(looseleaf_bundled PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
  SKIP_BUILD_RPATH FALSE BUILD_WITH_INSTALL_RPATH TRUE INSTALL_RPATH "$ORIGIN")
