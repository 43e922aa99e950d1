#include "compute/cuda/kv_codec.cuh"
#include "compute/cuda/kv_kernels.h"
#include "compute/cuda/rotary.cuh"

namespace looseleaf::cuda {
namespace {

constexpr int kTokens = 4;  // of a block

// A row between places that are stored as tensor cores want them, whole heads being turned in
// halves: half of a lane's eight dimensions are the others' partners. turn: [2][head_dim / 2] or
// null
__device__ __forceinline__ void move_halves(const std::byte* low_from, const std::byte* high_from,
                                            std::byte* low_to, std::byte* high_to, const float* cos,
                                            const float* sin) {
  uint2 low = *reinterpret_cast<const uint2*>(low_from);
  uint2 high = *reinterpret_cast<const uint2*>(high_from);
  if (cos != nullptr) {
    auto* a = reinterpret_cast<__nv_bfloat162*>(&low);
    auto* b = reinterpret_cast<__nv_bfloat162*>(&high);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float2 x = __bfloat1622float2(a[i]), y = __bfloat1622float2(b[i]);
      const float2 c = *reinterpret_cast<const float2*>(cos + 2 * i);
      const float2 s = *reinterpret_cast<const float2*>(sin + 2 * i);
      a[i] = __floats2bfloat162_rn(x.x * c.x - y.x * s.x, x.y * c.y - y.y * s.y);
      b[i] = __floats2bfloat162_rn(y.x * c.x + x.x * s.x, y.y * c.y + x.y * s.y);
    }
  }
  *reinterpret_cast<uint2*>(low_to) = low;
  *reinterpret_cast<uint2*>(high_to) = high;
}

// A warp a token, head, and K or V. The row is read whole before it is written, so that a token may
// go to its own place.
__global__ void __launch_bounds__(32 * kTokens)
    gather_kernel(const PageView* views, const GpuMove* moves, int count, int layer,
                  const float* turns, int rotary_dims, RopePairs pairs) {
  __shared__ float rows[kTokens][kMaxHeadDim];
  float* row = rows[threadIdx.y];
  const int token = blockIdx.x * kTokens + threadIdx.y;
  if (token >= count) return;
  const GpuMove move = moves[token];
  const PageView from = views[move.from_view], to = views[move.to_view];
  const int head = blockIdx.y, lane = threadIdx.x;
  const bool value = blockIdx.z == 1;
  const Piece piece = head_piece(from, move.from_page, layer, head, value);
  const Piece target = head_piece(to, move.to_page, layer, head, value);
  const bool turned = !value && move.turn >= 0;
  if (from.form == PieceForm::kBF16 && to.form == PieceForm::kBF16 &&
      (!turned || (pairs == RopePairs::kHalves && rotary_dims == from.head_dim))) {
    const int half = from.head_dim / 2, dim = 4 * lane;
    if (dim >= half) return;
    const float* turn = turned ? turns + move.turn * rotary_dims + dim : nullptr;
    return move_halves(
        code_at(from, piece, move.from_slot, dim), code_at(from, piece, move.from_slot, dim + half),
        code_at(to, target, move.to_slot, dim), code_at(to, target, move.to_slot, dim + half), turn,
        turned ? turn + half : nullptr);
  }
  // Codes are not chosen anew where nothing changes.
  if (!turned && to.type == from.type)
    return copy_row(from, piece, move.from_slot, to, target, move.to_slot, lane);
  for (int d = lane; d < from.head_dim; d += 32)
    row[d] = load_element(from, piece, move.from_slot, d);
  __syncwarp();
  if (turned)
    for (int j = lane; j < rotary_dims / 2; j += 32)
      turn_pair(row, turns + move.turn * rotary_dims, j, rotary_dims, pairs, false);
  __syncwarp();
  store_row(to, target, move.to_slot, row, lane);
}

}  // namespace

void gather(const PageView* views, const GpuMove* moves, int count, int kv_heads, int layer,
            const float* turns, int rotary_dims, RopePairs pairs, cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid(static_cast<unsigned>((count + kTokens - 1) / kTokens),
                  static_cast<unsigned>(kv_heads), 2);
  gather_kernel<<<grid, dim3(32, kTokens), 0, stream>>>(views, moves, count, layer, turns,
                                                        rotary_dims, pairs);
  launched("gathering keys and values");
}

}  // namespace looseleaf::cuda
