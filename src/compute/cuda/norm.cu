#include "compute/cuda/kernels.h"
#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"

namespace looseleaf::cuda {
namespace {

constexpr int kMostThreads = 1024;

// A block a row. A thread has kWide columns at a time; the first are kept in registers, and their
// weights, which are nobody's result, are asked for while the kernel before ends.
template <int kWide>
__global__ void __launch_bounds__(kMostThreads)
    norm_kernel(const float* x, const float* weight, float eps, int cols, float* out, Number type,
                void* rounded) {
  __shared__ float sums[kMostThreads / 32];
  const int64_t first = int64_t{blockIdx.x} * cols;
  const int own = threadIdx.x * kWide, stride = static_cast<int>(blockDim.x) * kWide;
  float kept[kWide] = {}, kept_weights[kWide] = {};
  if (own < cols) load_floats(weight + own, kept_weights);
  begin_overlapped();
  if (own < cols) load_floats(x + first + own, kept);
  float sum = 0;
#pragma unroll
  for (int j = 0; j < kWide; ++j) sum += kept[j] * kept[j];
  for (int i = own + stride; i < cols; i += stride) {
    float values[kWide];
    load_floats(x + first + i, values);
#pragma unroll
    for (int j = 0; j < kWide; ++j) sum += values[j] * values[j];
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0;
  for (int w = 0; w < static_cast<int>(blockDim.x) / 32; ++w) total += sums[w];
  const float scale = 1.0f / sqrtf(total / static_cast<float>(cols) + eps);
  const auto write = [&](int i, float(&values)[kWide], const float(&weights)[kWide]) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) values[j] = values[j] * scale * weights[j];
    store_floats(values, out + first + i);
    if (rounded != nullptr) store_rounded(values, type, rounded, first + i);
  };
  if (own < cols) write(own, kept, kept_weights);
  for (int i = own + stride; i < cols; i += stride) {
    float values[kWide], weights[kWide];
    load_floats(x + first + i, values);
    load_floats(weight + i, weights);
    write(i, values, weights);
  }
}

}  // namespace

void rms_norm(const float* x, const float* weight, float eps, int rows, int cols, float* out,
              Number type, void* rounded, cudaStream_t stream) {
  if (rows == 0) return;
  const int wide = cols % 4 == 0 ? 4 : 1;
  const int threads = std::min(kMostThreads, (cols / wide + 31) / 32 * 32);
  launch_overlapped(wide == 4 ? norm_kernel<4> : norm_kernel<1>, static_cast<unsigned>(rows),
                    static_cast<unsigned>(std::max(32, threads)), stream, x, weight, eps, cols, out,
                    type, rounded);
  launched("normalizing");
}

}  // namespace looseleaf::cuda
