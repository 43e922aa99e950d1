// Between float32 and the formats of products.
#include "compute/cuda/kernels.h"
#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"

namespace looseleaf::cuda {
namespace {

__global__ void narrow_kernel(const float* from, int64_t count, Number type, void* to) {
  begin_overlapped();
  for (int64_t i = first_element(); i < count; i += element_stride()) {
    if (type == Number::kBF16)
      static_cast<__nv_bfloat16*>(to)[i] = __float2bfloat16_rn(from[i]);
    else if (type == Number::kF16)
      static_cast<__half*>(to)[i] = to_half(from[i]);
    else
      static_cast<float*>(to)[i] = from[i];
  }
}

__global__ void assign_kernel(const float* x, int64_t count, bool accumulate, float* y) {
  for (int64_t i = first_element(); i < count; i += element_stride())
    y[i] = accumulate ? y[i] + x[i] : x[i];
}

}  // namespace

void narrow(const float* from, int64_t count, Number type, void* to, cudaStream_t stream) {
  if (count == 0) return;
  launch_overlapped(narrow_kernel, blocks_for(count), kThreads, stream, from, count, type, to);
  launched("rounding");
}

void assign(const float* x, int64_t count, bool accumulate, float* y, cudaStream_t stream) {
  if (count == 0) return;
  assign_kernel<<<blocks_for(count), kThreads, 0, stream>>>(x, count, accumulate, y);
  launched("adding");
}

}  // namespace looseleaf::cuda
