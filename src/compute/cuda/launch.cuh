// Launching kernels, one thread or one block an element.
#pragma once

#include <algorithm>
#include <cstdint>

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
