#include "compute/cuda/kernels.h"
#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"

namespace looseleaf::cuda {
namespace {

// To gate itself, or rounded to where a product takes it. count: a multiple of kWide
template <int kWide>
__global__ void silu_kernel(float* gate, const float* up, int64_t count, Number type,
                            void* rounded) {
  begin_overlapped();
  for (int64_t i = first_element() * kWide; i < count; i += element_stride() * kWide) {
    float values[kWide], factors[kWide];
    load_floats(gate + i, values);
    load_floats(up + i, factors);
#pragma unroll
    for (int j = 0; j < kWide; ++j) values[j] = values[j] / (1.0f + expf(-values[j])) * factors[j];
    if (rounded != nullptr)
      store_rounded(values, type, rounded, i);
    else
      store_floats(values, gate + i);
  }
}

}  // namespace

void silu_multiply(float* gate, const float* up, int64_t count, Number type, void* rounded,
                   cudaStream_t stream) {
  if (count == 0) return;
  const int wide = count % 4 == 0 ? 4 : 1;
  launch_overlapped(wide == 4 ? silu_kernel<4> : silu_kernel<1>, blocks_for(count / wide), kThreads,
                    stream, gate, up, count, type, rounded);
  launched("activating");
}

}  // namespace looseleaf::cuda
