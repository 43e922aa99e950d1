# The CUDA device, as a module that programs open at run time.
set(CMAKE_CUDA_ARCHITECTURES OFF)  # by hand: 90a, which older CMakes do not know
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 12 and 13 have C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
find_package(CUDAToolkit REQUIRED)

# Layouts are constexpr functions that host and kernels share.
set(LOOSELEAF_CUDA_FLAGS --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra)
if(LOOSELEAF_WERROR)
  list(APPEND LOOSELEAF_CUDA_FLAGS -Werror=all-warnings)
endif()
option(LOOSELEAF_RACECHECK "Kernels as compute-sanitizer's racecheck can follow them" OFF)
if(LOOSELEAF_RACECHECK)
  list(APPEND LOOSELEAF_CUDA_FLAGS -DLOOSELEAF_RACECHECK)
endif()
set(LOOSELEAF_HOPPER --generate-code=arch=compute_90a,code=sm_90a)
# What needs no instruction of Hopper's own runs on Ampere and later, compiled by the driver at the first start.
set(LOOSELEAF_ANY_GPU ${LOOSELEAF_HOPPER} --generate-code=arch=compute_80,code=compute_80)

# The tensor-core kernels, which the module calls on Hopper only.
set(LOOSELEAF_HOPPER_SOURCES src/compute/cuda/attend_decode.cu src/compute/cuda/attend_decode_fp8.cu
  src/compute/cuda/attend_mass_hopper.cu src/compute/cuda/attend_merge.cu src/compute/cuda/attend_prefill.cu)
add_library(looseleaf_cuda_kernels STATIC ${LOOSELEAF_HOPPER_SOURCES})
target_include_directories(looseleaf_cuda_kernels PUBLIC src include)
target_compile_options(looseleaf_cuda_kernels PRIVATE
  "$<$<COMPILE_LANGUAGE:CUDA>:${LOOSELEAF_CUDA_FLAGS};${LOOSELEAF_HOPPER}>")
target_link_libraries(looseleaf_cuda_kernels PUBLIC CUDA::cudart_static)

# A few host sources are compiled again: the module takes no symbol from the program that opens it.
file(GLOB LOOSELEAF_CUDA_SOURCES CONFIGURE_DEPENDS src/compute/cuda/*.cu src/compute/cuda/*.cc)
foreach(source ${LOOSELEAF_HOPPER_SOURCES})
  list(REMOVE_ITEM LOOSELEAF_CUDA_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/${source})
endforeach()
add_library(looseleaf_cuda MODULE ${LOOSELEAF_CUDA_SOURCES}
  src/base/thread_pool.cc src/compute/attend_plan.cc src/compute/attend_plan_by_type.cc src/compute/prefill_plan.cc
  src/compute/mass_pieces.cc src/compute/kv_layout.cc)
target_include_directories(looseleaf_cuda PRIVATE src include)
target_compile_definitions(looseleaf_cuda PRIVATE LOOSELEAF_VERSION="${PROJECT_VERSION}")
target_compile_options(looseleaf_cuda PRIVATE
  "$<$<COMPILE_LANGUAGE:CUDA>:${LOOSELEAF_CUDA_FLAGS};${LOOSELEAF_ANY_GPU}>")
target_link_libraries(looseleaf_cuda PRIVATE looseleaf_cuda_kernels fmt::fmt-header-only tl::expected
  Threads::Threads CUDA::cudart_static CUDA::cublasLt)
target_link_options(looseleaf_cuda PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
# Beside the programs, where their rpath finds it; CUDA's libraries where its packages put them.
set_target_properties(looseleaf_cuda PROPERTIES PREFIX "" OUTPUT_NAME looseleaf-cuda
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
  BUILD_RPATH "$ORIGIN;/usr/local/cuda/lib64" INSTALL_RPATH "$ORIGIN;/usr/local/cuda/lib64")

add_dependencies(looseleaf_bundled looseleaf_cuda)
add_dependencies(looseleaf looseleaf_cuda)  # `make build` and `make install` bring it along
install(TARGETS looseleaf_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
