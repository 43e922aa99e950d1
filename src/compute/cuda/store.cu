#include "compute/cuda/kv_codec.cuh"
#include "compute/cuda/kv_kernels.h"

namespace looseleaf::cuda {
namespace {

// A warp a row, head, and K or V.
__global__ void store_kernel(const PageView* views, const GpuSlot* slots, int layer, const float* k,
                             const float* v) {
  begin_overlapped();
  const GpuSlot to = slots[blockIdx.x];
  if (to.page == nullptr) return;
  const PageView view = views[to.view];
  if (layer < view.first_layer) return;
  const int head = blockIdx.y;
  const bool value = blockIdx.z == 1;
  const float* row = (value ? v : k) + (int64_t{blockIdx.x} * view.kv_heads + head) * view.head_dim;
  store_row(view, head_piece(view, to.page, layer, head, value), to.slot, row, threadIdx.x);
}

}  // namespace

void store(const PageView* views, const GpuSlot* slots, int count, int kv_heads, int layer,
           const float* k, const float* v, cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(kv_heads), 2);
  launch_overlapped(store_kernel, grid, 32, stream, views, slots, layer, k, v);
  launched("storing keys and values");
}

}  // namespace looseleaf::cuda
