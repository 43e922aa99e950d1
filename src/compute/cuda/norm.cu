#include "compute/cuda/kernels.h"
#include "compute/cuda/launch.cuh"

namespace looseleaf::cuda {
namespace {

// A block a row.
__global__ void __launch_bounds__(kThreads)
    norm_kernel(const float* x, const float* weight, float eps, int cols, float* out) {
  __shared__ float sums[kThreads / 32];
  begin_overlapped();
  const float* from = x + int64_t{blockIdx.x} * cols;
  float* to = out + int64_t{blockIdx.x} * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += kThreads) sum += from[i] * from[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0;
#pragma unroll
  for (int w = 0; w < kThreads / 32; ++w) total += sums[w];
  const float scale = 1.0f / sqrtf(total / static_cast<float>(cols) + eps);
  for (int i = threadIdx.x; i < cols; i += kThreads) to[i] = from[i] * scale * weight[i];
}

}  // namespace

void rms_norm(const float* x, const float* weight, float eps, int rows, int cols, float* out,
              cudaStream_t stream) {
  if (rows == 0) return;
  launch_overlapped(norm_kernel, static_cast<unsigned>(rows), kThreads, stream, x, weight, eps,
                    cols, out);
  launched("normalizing");
}

}  // namespace looseleaf::cuda
