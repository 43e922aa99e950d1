// The warp of a decode block that turns queries by their bindings: R(-s) q, once an item instead of
// once a key.
#pragma once

#include "compute/cuda/decode_tile.cuh"

namespace looseleaf::cuda {

// Turns pairs (d, d + head_dim / 2) back. low, high: 8 dimensions each; cos, sin: of these pairs.
__device__ __forceinline__ void turn_back(uint4& low, uint4& high, const float* cos,
                                          const float* sin) {
  auto* a = reinterpret_cast<__nv_bfloat162*>(&low);
  auto* b = reinterpret_cast<__nv_bfloat162*>(&high);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 x = __bfloat1622float2(a[j]), y = __bfloat1622float2(b[j]);
    const float2 c = __ldg(reinterpret_cast<const float2*>(cos + 2 * j));
    const float2 s = __ldg(reinterpret_cast<const float2*>(sin + 2 * j));
    a[j] = __floats2bfloat162_rn(x.x * c.x + y.x * s.x, x.y * c.y + y.y * s.y);
    b[j] = __floats2bfloat162_rn(y.x * c.x - x.x * s.x, y.y * c.y - x.y * s.y);
  }
}

// kRotateKeys: queries stay as they came, and the consumers are told the item's turn.
template <int kHeadDim, bool kRotateKeys>
__device__ void turn_queries(const DecodeArgs& args, const DecodeBlock& block, int thread) {
  constexpr int kHalf = kHeadDim / 2, kGroups = kHalf / 8;
  for (int i = block.begin; i < block.end; ++i) {
    const WorkItem item = args.items[i];
    const int buffer = (i - block.begin) & 1, parity = (i - block.begin) >> 1 & 1;
    barrier_wait(block.query_empty + 8 * buffer, parity ^ 1);
    ItemState& state = block.states[buffer];
    char* to = block.queries + buffer * Tile<kHeadDim>::kQueryBytes;
    if (thread == 0) state.item = item;
    if (kRotateKeys && thread == 0) state.turn = args.vectors[item.first_vector].turn;
    for (int v = thread; v < kItemVectors; v += kTurners) {
      const bool filled = v < item.vectors;
      state.end[v] = filled ? args.vectors[item.first_vector + v].end : 0;
      state.partial[v] = filled ? args.vectors[item.first_vector + v].partial : -1;
    }
    // Rows without a vector keep an older query; they see no key. A step takes 8 pairs, and four
    // steps' loads are under way together.
    const int steps = item.vectors * kGroups;
#pragma unroll 4
    for (int n = thread; n < steps; n += kTurners) {
      const int v = n / kGroups, g = n % kGroups;
      const auto entry = __ldg(reinterpret_cast<const int4*>(args.vectors + item.first_vector + v));
      const QueryVector vector{entry.x, entry.y, entry.z, entry.w};
      const float* q = args.query + int64_t{vector.query} * kHeadDim + g * 8;
      uint4 low = load_rounded(q), high = load_rounded(q + kHalf);
      if (!kRotateKeys && vector.turn >= 0) {
        const float* cos = args.turns + int64_t{vector.turn} * kHeadDim + g * 8;
        turn_back(low, high, cos, cos + kHalf);
      }
      *reinterpret_cast<uint4*>(to + swizzled(v, g, kHeadDim)) = low;
      *reinterpret_cast<uint4*>(to + swizzled(v, g + kGroups, kHeadDim)) = high;
    }
    tensor_core_fence();
    barrier_arrive(block.query_full + 8 * buffer);
  }
}

}  // namespace looseleaf::cuda
