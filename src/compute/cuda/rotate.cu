#include "compute/cuda/kernels.h"
#include "compute/cuda/launch.cuh"
#include "compute/cuda/rotary.cuh"

namespace looseleaf::cuda {
namespace {

__global__ void rotate_kernel(float* x, const float* angles, int64_t count, int heads, int head_dim,
                              int rotary_dims, RopePairs pairs) {
  begin_overlapped();
  const int half = rotary_dims / 2;
  for (int64_t i = first_element(); i < count; i += element_stride()) {
    const int64_t head = i / half;
    turn_pair(x + head * head_dim, angles + head / heads * rotary_dims, static_cast<int>(i % half),
              rotary_dims, pairs, false);
  }
}

}  // namespace

void rotate(float* x, const float* angles, int rows, int heads, int head_dim, int rotary_dims,
            RopePairs pairs, cudaStream_t stream) {
  const int64_t count = int64_t{rows} * heads * (rotary_dims / 2);
  if (count == 0) return;
  launch_overlapped(rotate_kernel, blocks_for(count), kThreads, stream, x, angles, count, heads,
                    head_dim, rotary_dims, pairs);
  launched("rotating");
}

}  // namespace looseleaf::cuda
