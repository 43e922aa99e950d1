// Launching kernels, one thread or one block an element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "compute/cuda/check.h"

namespace looseleaf::cuda {

inline constexpr int kThreads = 256;

// Blocks for a loop that strides over `count` elements: enough to fill any GPU.
inline unsigned blocks_for(int64_t count) {
  return static_cast<unsigned>(std::clamp<int64_t>((count + kThreads - 1) / kThreads, 1, 4096));
}

// for (int64_t i = first_element(); i < count; i += element_stride())
__device__ __forceinline__ int64_t first_element() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t element_stride() { return int64_t{gridDim.x} * blockDim.x; }

// First in a kernel that is launched by launch_overlapped, before it touches what others made or
// may still read. The next one may begin up to its own such call.
__device__ __forceinline__ void begin_overlapped() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// A number of the GPU at hand.
template <cudaDeviceAttr kAttribute>
int gpu_number() {
  static const int number = [] {
    int device = 0, found = 0;
    check(cudaGetDevice(&device), "asking for the GPU");
    check(cudaDeviceGetAttribute(&found, kAttribute, device), "asking for the GPU");
    return found;
  }();
  return number;
}
// Where begin_overlapped() waits: newer GPUs run what was compiled for older ones.
inline bool can_overlap() { return gpu_number<cudaDevAttrComputeCapabilityMajor>() == 9; }
inline int multiprocessors() { return gpu_number<cudaDevAttrMultiProcessorCount>(); }

// Launches a kernel; where `overlaps`, it may begin while the one before it in the stream ends.
// shared: bytes of dynamic shared memory
template <class... P>
cudaError_t launch_kernel(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, bool overlaps,
                          cudaStream_t stream, std::type_identity_t<P>... args) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = overlaps ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

// The same for kernels that begin with begin_overlapped().
template <class... P>
void launch_overlapped(void (*kernel)(P...), dim3 grid, dim3 block, cudaStream_t stream,
                       std::type_identity_t<P>... args) {
  check(launch_kernel(kernel, grid, block, 0, can_overlap(), stream, args...), "launching");
}

inline void launched(const char* what) { check(cudaGetLastError(), what); }

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}
__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, step));
  return x;
}

}  // namespace looseleaf::cuda
