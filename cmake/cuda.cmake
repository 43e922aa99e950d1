# The CUDA kernels and their bench; compiled for Hopper only (wgmma, bulk copies).
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
set(LOOSELEAF_CUDA_FLAGS -gencode arch=compute_90a,code=sm_90a --expt-relaxed-constexpr
  -Xcompiler=-Wall,-Wextra)
if(LOOSELEAF_WERROR)
  list(APPEND LOOSELEAF_CUDA_FLAGS -Werror=all-warnings)
endif()

file(GLOB LOOSELEAF_CUDA_SOURCES CONFIGURE_DEPENDS src/compute/cuda/*.cu)
add_library(looseleaf_cuda_kernels STATIC ${LOOSELEAF_CUDA_SOURCES})
target_include_directories(looseleaf_cuda_kernels PUBLIC src)
target_compile_options(looseleaf_cuda_kernels PRIVATE
  "$<$<COMPILE_LANGUAGE:CUDA>:${LOOSELEAF_CUDA_FLAGS}>")
target_link_libraries(looseleaf_cuda_kernels PUBLIC CUDA::cudart_static)

# Needs nothing but a driver where it runs, so that it can be copied to the machine with the GPU.
file(GLOB LOOSELEAF_CUDA_BENCH_SOURCES CONFIGURE_DEPENDS bench/cuda/*.cu bench/cuda/*.cc)
add_executable(bench_attention ${LOOSELEAF_CUDA_BENCH_SOURCES} src/compute/attend_plan.cc src/compute/prefill_plan.cc)
target_compile_options(bench_attention PRIVATE
  "$<$<COMPILE_LANGUAGE:CUDA>:${LOOSELEAF_CUDA_FLAGS}>")
target_link_libraries(bench_attention PRIVATE looseleaf_cuda_kernels)
target_link_options(bench_attention PRIVATE -static-libstdc++ -static-libgcc)
set_target_properties(bench_attention PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
