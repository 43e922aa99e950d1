# `looseleaf_bundled`: the command for machines without our dependencies. CPU products are our own kernels', so that
# oneDNN stays out (scripts/bundle.sh carries every other library); the rest are the same objects.
set(LOOSELEAF_ONEDNN_SOURCES src/compute/cpu/library_product.cc)

add_executable(looseleaf_bundled EXCLUDE_FROM_ALL src/cli/main.cc ${LOOSELEAF_ONEDNN_SOURCES}
  $<FILTER:$<TARGET_OBJECTS:looseleaf_objects>,EXCLUDE,/compute/cpu/library_product\\.cc\\.o$>
  $<TARGET_OBJECTS:looseleaf_cli_objects> $<TARGET_OBJECTS:looseleaf_eval_objects>)
target_include_directories(looseleaf_bundled PRIVATE include src)
target_compile_definitions(looseleaf_bundled PRIVATE LOOSELEAF_VERSION="${PROJECT_VERSION}")
target_link_libraries(looseleaf_bundled PRIVATE ${CMAKE_DL_LIBS} Threads::Threads OpenSSL::Crypto fmt::fmt
  Boost::json PkgConfig::PCRE2 PkgConfig::XXHASH PkgConfig::HWY PkgConfig::UTF8PROC tl::expected CLI11::CLI11 PkgConfig::ZIP)
# An rpath for carried libraries' own libraries too, not only for the command's.
target_link_options(looseleaf_bundled PRIVATE -Wl,--disable-new-dtags -Wl,--as-needed)
set_target_properties(looseleaf_bundled PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
  SKIP_BUILD_RPATH FALSE BUILD_WITH_INSTALL_RPATH TRUE INSTALL_RPATH "$ORIGIN")
