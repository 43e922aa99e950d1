// Online softmax in the registers of a warpgroup (2112.05682) for 128 keys a step: a thread has
// columns of two rows.
#pragma once

#include <climits>

#include "compute/cuda/prefill_tile.cuh"

namespace looseleaf::cuda {

// wgmma's accumulator: a thread of lane l holds, of each 8 columns, columns 2 * (l % 4) and + 1 of
// row l / 4 of its warp's 16 rows, and the same columns of row + 8. Element n of such an array
// belongs to row half n / 2 % 2, and is of column n / 4 * 8 + 2 * (l % 4) + n % 2.

// Columns as bits: bit 2 * g + c of a thread's 32 is column 8 * g + 2 * (lane % 4) + c.

// Those below `end`.
__device__ __forceinline__ uint32_t first_columns(int end, int lane) {
  const int own =
      end - lane % 4 * 2;  // columns of this thread lie at 0, 1, 8, 9, 16, 17 from here on
  if (own <= 0) return 0;
  const int bits = own / 8 * 2 + min(own % 8, 2);
  return bits >= 32 ? ~0u : (1u << bits) - 1;
}

// Those that no overlay replaces.
__device__ __forceinline__ uint32_t fresh_columns(const PrefillArgs& args, const Step& step,
                                                  int lane) {
  if (step.stale < 0) return ~0u;
  uint32_t stale = 0;
#pragma unroll
  for (int w = 0; w < kPrefillKeys / 32; ++w) {
    // Two neighbouring bits of each byte, moved together.
    const uint32_t own = __ldg(args.stale + step.stale + w) >> (lane % 4 * 2) & 0x03030303u;
    stale |= ((own | own >> 6 | own >> 12 | own >> 18) & 0xFFu) << (8 * w);
  }
  return ~stale;
}

// Those that two rows see of keys at positions of their own, in any order.
// position: of the rows in the prompt; where there is no row, before all keys
__device__ __forceinline__ void scattered_columns(const PrefillArgs& args, const Step& step,
                                                  const int (&position)[2], int lane,
                                                  uint32_t (&seen)[2]) {
  const int window = args.window == 0 ? INT_MAX : args.window;
  const int* positions = args.key_positions + step.key_positions + lane % 4 * 2;
  seen[0] = seen[1] = 0;
#pragma unroll 1
  for (int w = 0; w < kPrefillKeys / 32; ++w) {
    int2 at[4];
#pragma unroll
    for (int g = 0; g < 4; ++g)
      at[g] = __ldg(reinterpret_cast<const int2*>(positions + w * 32 + g * 8));
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int key = i % 2 == 0 ? at[i / 2].x : at[i / 2].y;
#pragma unroll
      for (int h = 0; h < 2; ++h)
        if (key <= position[h] && key < step.limit && position[h] - key < window)
          seen[h] |= 1u << (8 * w + i);
    }
  }
}

// Hides what the rows do not see.
__device__ __forceinline__ void mask_scores(float (&s)[64], const PrefillArgs& args,
                                            const Step& step, const int (&position)[2], int lane) {
  uint32_t seen[2] = {~0u, ~0u};
  if (step.key_positions >= 0) scattered_columns(args, step, position, lane, seen);
  const uint32_t fresh = fresh_columns(args, step, lane);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    seen[h] &= fresh & first_columns(step.tokens, lane);
    if (step.key_positions >= 0) continue;
    const int causal = min(position[h], step.limit - 1) - step.position + 1;
    seen[h] &= first_columns(causal, lane);
    if (args.window > 0)
      seen[h] &= ~first_columns(position[h] - args.window + 1 - step.position, lane);
  }
#pragma unroll
  for (int n = 0; n < 64; ++n)
    if ((seen[n >> 1 & 1] >> ((n >> 2) * 2 + (n & 1)) & 1) == 0) s[n] = -INFINITY;
}

template <int kHeadDim>
struct PrefillSoftmax {
  float o[kHeadDim / 2];  // [head_dim / 8][row, row + 8][2] sum of weights times values
  float largest[2];       // score of the row, not scaled; weights are relative to it
  float sum[2];           // of weights, of this thread's columns
  float shrink[2];        // what `o` is to be scaled by

  __device__ __forceinline__ void reset() {
#pragma unroll
    for (int n = 0; n < kHeadDim / 2; ++n) o[n] = 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      largest[h] = -INFINITY;
      sum[h] = 0;
    }
  }

  // Scores become weights in place; `shrink` says how much what was added up before counts now.
  __device__ __forceinline__ void weigh(float (&s)[64], float scale_log2) {
    float base[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // Two chains each for the largest and the sum: one would wait for itself.
      float most = largest[h], other = s[2 * h];
#pragma unroll
      for (int n = 0; n < 64; n += 4) {
        most = fmaxf(most, s[n + 2 * h]);
        other = fmaxf(other, s[n + 2 * h + 1]);
      }
      most = fmaxf(most, other);
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
      base[h] = most == -INFINITY ? 0.0f : most * scale_log2;
      shrink[h] = fast_exp2(largest[h] * scale_log2 - base[h]);
      largest[h] = most;
      sum[h] *= shrink[h];
    }
    float odd[2] = {};
#pragma unroll
    for (int n = 0; n < 64; n += 2) {
      const int h = n >> 1 & 1;
      s[n] = fast_exp2(fmaf(s[n], scale_log2, -base[h]));
      s[n + 1] = fast_exp2(fmaf(s[n + 1], scale_log2, -base[h]));
      sum[h] += s[n];
      odd[h] += s[n + 1];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) sum[h] += odd[h];
  }

  __device__ __forceinline__ void shrink_sums() {
#pragma unroll
    for (int n = 0; n < kHeadDim / 2; ++n) o[n] *= shrink[n >> 1 & 1];
  }

  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
      sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
    }
  }
};

// Weights as the left operand of wgmma_values: eight times 16 keys.
__device__ __forceinline__ void pack_weights(const float (&s)[64], uint32_t (&p)[8][4]) {
#pragma unroll
  for (int n = 0; n < 64; n += 2) p[n >> 3][n >> 1 & 3] = pack(s[n], s[n + 1]);
}

}  // namespace looseleaf::cuda
