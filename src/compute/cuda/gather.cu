#include "compute/cuda/kv_codec.cuh"
#include "compute/cuda/kv_kernels.h"
#include "compute/cuda/rotary.cuh"

namespace looseleaf::cuda {
namespace {

constexpr int kTokens = 4;  // of a block

// A warp a token, head, and K or V. The row is read whole before it is written, so that a token may
// go to its own place.
__global__ void __launch_bounds__(32 * kTokens)
    gather_kernel(PageView from, const PageView* views, const GpuMove* moves, int count, int layer,
                  const float* turns, int rotary_dims, RopePairs pairs) {
  __shared__ float rows[kTokens][kMaxHeadDim];
  float* row = rows[threadIdx.y];
  const int token = blockIdx.x * kTokens + threadIdx.y;
  if (token >= count) return;
  const GpuMove move = moves[token];
  const PageView to = views[move.to_view];
  const int head = blockIdx.y, lane = threadIdx.x;
  const bool value = blockIdx.z == 1;
  const Piece piece = head_piece(from, move.from_page, layer, head, value);
  const Piece target = head_piece(to, move.to_page, layer, head, value);
  const bool turned = !value && move.turn >= 0;
  // Codes are not chosen anew where nothing changes.
  if (!turned && to.type == from.type)
    return copy_row(from, piece, move.from_slot, to, target, move.to_slot, lane);
  for (int d = lane; d < from.head_dim; d += 32)
    row[d] = load_element(from, piece, move.from_slot, d);
  __syncwarp();
  if (turned)
    for (int j = lane; j < rotary_dims / 2; j += 32)
      turn_pair(row, turns + int64_t{move.turn} * rotary_dims, j, rotary_dims, pairs, false);
  __syncwarp();
  store_row(to, target, move.to_slot, row, lane);
}

}  // namespace

void gather(const PageView& from, const PageView* views, const GpuMove* moves, int count, int layer,
            const float* turns, int rotary_dims, RopePairs pairs, cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid(static_cast<unsigned>((count + kTokens - 1) / kTokens),
                  static_cast<unsigned>(from.kv_heads), 2);
  gather_kernel<<<grid, dim3(32, kTokens), 0, stream>>>(from, views, moves, count, layer, turns,
                                                        rotary_dims, pairs);
  launched("gathering keys and values");
}

}  // namespace looseleaf::cuda
