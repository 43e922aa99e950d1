// The warpgroups of a mass block that multiply, 64 keys of a step each: rows are keys and columns
// are vectors, so that a thread adds up its own two keys, and a garbage key spoils no other.
#pragma once

#include "compute/cuda/mass_tile.cuh"
#include "compute/cuda/prefill_softmax.cuh"

namespace looseleaf::cuda {

// Where a key of a span stands in the prompt; anything, but no fault, for the rest of its last
// step.
__device__ __forceinline__ int key_position(const MassArgs& args, const PrefillSpan& span,
                                            int key) {
  return span.key_positions < 0 ? span.position + key
                                : __ldg(args.key_positions + span.key_positions + key);
}

// Of ascending positions, how many are below `position`.
__device__ __forceinline__ int positions_below(const int* positions, int count, int64_t position) {
  int below = 0;
#pragma unroll 1
  for (int size = kMassVectors; size > 0; size /= 2)
    if (below + size <= count && positions[below + size - 1] < position) below += size;
  return below;
}

// Hides scores of the vectors that do not see the thread's two keys. As positions ascend, those
// that do are a range.
// position: of the keys in the prompt
__device__ __forceinline__ void hide_unseen(float (&s)[64], const MassVectors& vectors, int count,
                                            int window, const int (&position)[2], int lane) {
  const int lowest = vectors.position[0], highest = vectors.position[count - 1];
  bool all = true;
#pragma unroll
  for (int h = 0; h < 2; ++h)
    all &= position[h] <= lowest && (window == 0 || highest - position[h] < window);
  if (__all_sync(~0u, all)) return;
  uint32_t seen[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    seen[h] = ~first_columns(positions_below(vectors.position, count, position[h]), lane);
    if (window > 0)
      seen[h] &= first_columns(
          positions_below(vectors.position, count, int64_t{position[h]} + window), lane);
  }
#pragma unroll
  for (int n = 0; n < 64; ++n)
    if ((seen[n >> 1 & 1] >> ((n >> 2) * 2 + (n & 1)) & 1) == 0) s[n] = -INFINITY;
}

// Sums over the vectors of 2^(score - lse), for the thread's two keys, the same in four lanes.
__device__ __forceinline__ void add_vectors(const float (&s)[64], const MassVectors& vectors,
                                            int count, float scale_log2, int lane,
                                            float (&sum)[2]) {
  float odd[2] = {};
  sum[0] = sum[1] = 0;
#pragma unroll
  for (int g = 0; g < 16; ++g) {
    if (g % 4 == 0 && g * 8 >= count) break;
    const float2 lse = *reinterpret_cast<const float2*>(vectors.lse + g * 8 + lane % 4 * 2);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      sum[h] += fast_exp2(fmaf(s[4 * g + 2 * h], scale_log2, -lse.x));
      odd[h] += fast_exp2(fmaf(s[4 * g + 2 * h + 1], scale_log2, -lse.y));
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    sum[h] += odd[h];
    sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
    sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
  }
}

// Writes a piece's sums: 0 where limit or stale bit hide the key from every row.
__device__ __forceinline__ void write_sums(const MassArgs& args, const MassPiece& piece,
                                           const PrefillSpan& span, const float* sums, float* to,
                                           int thread) {
  for (int n = thread; n < piece.keys; n += kMassMultipliers) {
    const int key = piece.first_key + n;
    const bool fresh =
        span.stale < 0 || (__ldg(args.stale + span.stale + key / 32) >> (key % 32) & 1) == 0;
    to[n] = fresh && key_position(args, span, key) < span.limit ? sums[n] : 0.0f;
  }
}

template <int kHeadDim>
struct MassMultiplier {
  using T = MassTile<kHeadDim>;

  const MassArgs& args;
  const MassBlock& block;
  const int thread = threadIdx.x, lane = thread % 32;
  // The same in all threads of a warp, which the compiler cannot know.
  const int warpgroup = __shfl_sync(~0u, thread / kGroupThreads, 0);
  const int own = warpgroup * 64 + thread % kGroupThreads / 32 * 16 + lane / 4;  // and + 8
  // Descriptors of the first slot's keys, this warpgroup's, and of the queries.
  const uint64_t keys =
      matrix<kHeadDim>(shared_address(block.keys) + warpgroup * 8 * rows_apart(kHeadDim));
  const uint64_t queries = matrix<kHeadDim>(shared_address(block.queries));
  int visit = 0;  // steps so far

  static __device__ __forceinline__ void meet() { group_wait(1, kMassMultipliers); }

  // Keys [step, step + kMassKeys) of a piece, and the tile's `count` vectors.
  __device__ __forceinline__ void run_step(const MassPiece& piece, const PrefillSpan& span,
                                           int step, int count, bool adds) {
    int position[2];
#pragma unroll
    for (int h = 0; h < 2; ++h)
      position[h] = key_position(args, span, piece.first_key + step + own + 8 * h);
    const MassVisit<kHeadDim> here(visit++);
    float s[64];
    barrier_wait(block.full + 8 * here.slot, here.parity);
    issue_scores<kHeadDim>(s, moved(keys, here.slot * T::kMatrixBytes), queries);
    wgmma_wait<0>(s);
    barrier_arrive_warp(block.empty + 8 * here.slot);
    hide_unseen(s, *block.vectors, count, args.window, position, lane);
    float sum[2];
    add_vectors(s, *block.vectors, count, args.scale_log2, lane, sum);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float* total = block.sums + step + own + 8 * h;
      if (lane % 4 == 0) *total = adds ? *total + sum[h] : sum[h];
    }
    __syncwarp();  // products want the warp together
  }

  __device__ __forceinline__ void run(const MassPiece& piece, int kv_head) {
    const PrefillSpan span = load_span(args.spans + piece.span);
    for (int first = 0; first < piece.vectors; first += kMassVectors) {
      meet();  // all are done with the vectors before, and with the sums
      load_vectors<kHeadDim>(args, block, piece, span.turn, kv_head, first, thread);
      tensor_core_fence();
      meet();
      const int count = min(kMassVectors, piece.vectors - first);
#pragma unroll 1
      for (int step = 0; step < piece.keys; step += kMassKeys)
        run_step(piece, span, step, count, first > 0);
    }
    meet();
    write_sums(args, piece, span, block.sums,
               args.partials + kv_head * args.partial_stride + piece.partial, thread);
  }
};

template <int kHeadDim>
__device__ void weigh_keys(const MassArgs& args, const MassBlock& block) {
  MassMultiplier<kHeadDim> multiplier{args, block};
  for (int i = blockIdx.x; i < args.piece_count * args.kv_heads; i += gridDim.x)
    multiplier.run(args.pieces[i / args.kv_heads], i % args.kv_heads);
}

}  // namespace looseleaf::cuda
