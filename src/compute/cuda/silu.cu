#include "compute/cuda/kernels.h"
#include "compute/cuda/launch.cuh"

namespace looseleaf::cuda {
namespace {

__global__ void silu_kernel(float* gate, const float* up, int64_t count) {
  begin_overlapped();
  for (int64_t i = first_element(); i < count; i += element_stride())
    gate[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
}

}  // namespace

void silu_multiply(float* gate, const float* up, int64_t count, cudaStream_t stream) {
  if (count == 0) return;
  launch_overlapped(silu_kernel, blocks_for(count), kThreads, stream, gate, up, count);
  launched("activating");
}

}  // namespace looseleaf::cuda
