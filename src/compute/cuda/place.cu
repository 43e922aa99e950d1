#include "compute/cuda/kv_codec.cuh"
#include "compute/cuda/kv_kernels.h"
#include "compute/cuda/rotary.cuh"

namespace looseleaf::cuda {
namespace {

constexpr int kHeads = 4;  // of a block

// A warp a row and head: queries are turned in place, keys and values stored.
__global__ void __launch_bounds__(32 * kHeads) place_kernel(const Placing p) {
  __shared__ float turned[kHeads][kMaxHeadDim];
  const int row = blockIdx.x, lane = threadIdx.x;
  int head = blockIdx.y * kHeads + threadIdx.y;
  const float* angles = p.angles + int64_t{row} * p.rotary_dims;
  if (head < p.heads) {
    begin_overlapped();
    if (row >= p.query_rows) return;
    float* q = p.query + (int64_t{row} * p.heads + head) * p.head_dim;
    for (int j = lane; j < p.rotary_dims / 2; j += 32)
      turn_pair(q, angles, j, p.rotary_dims, p.pairs, false);
    return;
  }
  head -= p.heads;
  const bool stores = head < 2 * p.kv_heads && row < p.key_rows;
  // Where to is the host's word: it is read while the kernel before ends.
  const GpuSlot to = stores ? p.slots[row] : GpuSlot{};
  const PageView view = to.page == nullptr ? PageView{} : p.views[to.view];
  begin_overlapped();
  if (to.page == nullptr) return;
  if (p.layer < view.first_layer) return;
  const bool value = head >= p.kv_heads;
  if (value) head -= p.kv_heads;
  const int64_t at = (int64_t{row} * p.kv_heads + head) * p.head_dim;
  const float* from = (value ? p.value : p.key) + at;
  if (!value) {
    float* key = turned[threadIdx.y];
    for (int d = lane; d < p.head_dim; d += 32) key[d] = from[d];
    __syncwarp();
    for (int j = lane; j < p.rotary_dims / 2; j += 32)
      turn_pair(key, angles, j, p.rotary_dims, p.pairs, false);
    __syncwarp();
    from = key;
  }
  store_row(view, head_piece(view, to.page, p.layer, head, value), to.slot, from, lane);
}

}  // namespace

void place(const Placing& p, cudaStream_t stream) {
  const int rows = std::max(p.query_rows, p.key_rows);
  if (rows == 0) return;
  const int heads = p.heads + 2 * p.kv_heads;
  const dim3 grid(static_cast<unsigned>(rows),
                  static_cast<unsigned>((heads + kHeads - 1) / kHeads));
  launch_overlapped(place_kernel, grid, dim3(32, kHeads), stream, p);
  launched("placing queries, keys and values");
}

}  // namespace looseleaf::cuda
