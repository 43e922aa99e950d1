#include "compute/cuda/kv_codec.cuh"
#include "compute/cuda/kv_kernels.h"

namespace looseleaf::cuda {
namespace {

// A warp a token.
__global__ void deviation_kernel(StoredTokens fresh, StoredTokens stored, int32_t first, int layer,
                                 float* out) {
  const int token = blockIdx.x, lane = threadIdx.x;
  const int again = first + token;
  double sum = 0;
  for (int head = 0; head < stored.view.kv_heads; ++head) {
    const Piece a = head_piece(fresh.view, fresh.pages[again / kPageTokens], layer, head, true);
    const Piece b = head_piece(stored.view, stored.pages[token / kPageTokens], layer, head, true);
    for (int d = lane; d < stored.view.head_dim; d += 32) {
      const double difference = double{load_element(fresh.view, a, again % kPageTokens, d)} -
                                load_element(stored.view, b, token % kPageTokens, d);
      sum += difference * difference;
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) out[token] = static_cast<float>(sum);
}

}  // namespace

void value_deviation(const StoredTokens& fresh, const StoredTokens& stored, int32_t first,
                     int count, int layer, float* out, cudaStream_t stream) {
  if (count == 0) return;
  deviation_kernel<<<static_cast<unsigned>(count), 32, 0, stream>>>(fresh, stored, first, layer,
                                                                    out);
  launched("comparing values");
}

}  // namespace looseleaf::cuda
