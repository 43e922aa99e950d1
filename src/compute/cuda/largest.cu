#include "compute/cuda/kernels.h"
#include "compute/cuda/launch.cuh"

namespace looseleaf::cuda {
namespace {

constexpr int kBlock = 1024;

struct Found {
  float value;
  int32_t place;
};

__device__ __forceinline__ Found better(const Found& a, const Found& b) {
  if (a.value != b.value) return a.value > b.value ? a : b;
  return a.place < b.place ? a : b;
}

__device__ __forceinline__ Found best_of_warp(Found x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    x = better(x, {__shfl_xor_sync(~0u, x.value, step), __shfl_xor_sync(~0u, x.place, step)});
  return x;
}

// A block a row.
__global__ void __launch_bounds__(kBlock) largest_kernel(const float* x, int cols, int32_t* out) {
  __shared__ Found of_warps[kBlock / 32];
  begin_overlapped();
  const float* row = x + int64_t{blockIdx.x} * cols;
  Found best{-INFINITY, 0};
#pragma unroll 4
  for (int i = threadIdx.x; i < cols; i += kBlock) best = better(best, {row[i], i});
  best = best_of_warp(best);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  best = best_of_warp(of_warps[threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = best.place;
}

}  // namespace

void largest(const float* x, int rows, int cols, int32_t* out, cudaStream_t stream) {
  if (rows == 0) return;
  launch_overlapped(largest_kernel, static_cast<unsigned>(rows), kBlock, stream, x, cols, out);
  launched("choosing a token");
}

}  // namespace looseleaf::cuda
