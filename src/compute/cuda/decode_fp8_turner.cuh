// The warp of a decode block that turns queries by their bindings and brings them to e4m3, two
// codes a number.
#pragma once

#include "compute/cuda/decode_fp8_tile.cuh"

namespace looseleaf::cuda {

__device__ __forceinline__ void load_eight(const float* from, float (&x)[8]) {
  const float4 a = __ldg(reinterpret_cast<const float4*>(from));
  const float4 b = __ldg(reinterpret_cast<const float4*>(from + 4));
  x[0] = a.x, x[1] = a.y, x[2] = a.z, x[3] = a.w;
  x[4] = b.x, x[5] = b.y, x[6] = b.z, x[7] = b.w;
}

// Writes eight numbers as codes of both terms. to: the first term's
template <int kHeadDim>
__device__ __forceinline__ void write_codes(const float (&x)[8], float inverse, char* to) {
  Fp8Pairs pairs[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) pairs[j] = split_fp8(x[2 * j] * inverse, x[2 * j + 1] * inverse);
  const auto join = [](uint16_t low, uint16_t high) { return low | uint32_t{high} << 16; };
  *reinterpret_cast<uint2*>(to) = {join(pairs[0].high, pairs[1].high),
                                   join(pairs[2].high, pairs[3].high)};
  *reinterpret_cast<uint2*>(to + Fp8Tile<kHeadDim>::kTermBytes) = {
      join(pairs[0].low, pairs[1].low), join(pairs[2].low, pairs[3].low)};
}

template <int kHeadDim>
__device__ void turn_queries_fp8(const DecodeArgs& args, const Fp8DecodeBlock& block, int thread) {
  using T = Fp8Tile<kHeadDim>;
  constexpr int kHalf = kHeadDim / 2, kGroups = kHalf / 8;  // threads a vector
  const uint32_t vector_mask = ((1u << kGroups) - 1) << (thread & ~(kGroups - 1));
  for (int i = block.begin; i < block.end; ++i) {
    const WorkItem item = args.items[i];
    const int buffer = (i - block.begin) & 1, parity = (i - block.begin) >> 1 & 1;
    barrier_wait(block.query_empty + 8 * buffer, parity ^ 1);
    Fp8ItemState& state = block.states[buffer];
    char* to = block.queries + buffer * T::kQueryBytes;
    if (thread == 0) state.item.item = item;
    for (int v = thread; v < kItemVectors; v += kTurners) {
      const bool filled = v < item.vectors;
      state.item.end[v] = filled ? args.vectors[item.first_vector + v].end : item.tokens;
      state.item.partial[v] = filled ? args.vectors[item.first_vector + v].partial : -1;
      if (!filled) state.query_scale[v] = 1;
    }
    // Rows without a vector keep older codes; nothing of them is written.
    const int steps = item.vectors * kGroups;
#pragma unroll 2
    for (int n = thread; n < steps; n += kTurners) {
      const int v = n / kGroups, g = n % kGroups;
      const auto entry = __ldg(reinterpret_cast<const int4*>(args.vectors + item.first_vector + v));
      const QueryVector vector{entry.x, entry.y, entry.z, entry.w};
      const float* q = args.query + int64_t{vector.query} * kHeadDim + g * 8;
      float low[8], high[8];
      load_eight(q, low);
      load_eight(q + kHalf, high);
      if (vector.turn >= 0) {
        float cos[8], sin[8];
        load_eight(args.turns + int64_t{vector.turn} * kHeadDim + g * 8, cos);
        load_eight(args.turns + int64_t{vector.turn} * kHeadDim + g * 8 + kHalf, sin);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const float x = low[j], y = high[j];
          low[j] = x * cos[j] + y * sin[j];
          high[j] = y * cos[j] - x * sin[j];
        }
      }
      float largest = 0;
#pragma unroll
      for (int j = 0; j < 8; ++j) largest = fmaxf(largest, fmaxf(fabsf(low[j]), fabsf(high[j])));
#pragma unroll
      for (int step = 1; step < kGroups; step *= 2)
        largest = fmaxf(largest, __shfl_xor_sync(vector_mask, largest, step));
      const bool tiny = largest < 1e-30f;  // its inverse is no number
      if (g == 0) state.query_scale[v] = tiny ? 1.0f : largest / 448;
      const float inverse = tiny ? 0.0f : 448 / largest;
      write_codes<kHeadDim>(low, inverse, to + fp8_offset(v, g * 8, T::kQueryApart));
      write_codes<kHeadDim>(high, inverse, to + fp8_offset(v, g * 8 + kHalf, T::kQueryApart));
    }
    tensor_core_fence();
    barrier_arrive(block.query_full + 8 * buffer);
  }
}

}  // namespace looseleaf::cuda
