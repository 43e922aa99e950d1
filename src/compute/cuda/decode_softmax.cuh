// Online softmax in the registers of a warpgroup (2112.05682): a thread has columns of two rows of
// the tile.
#pragma once

#include "compute/cuda/decode_tile.cuh"

namespace looseleaf::cuda {

// wgmma's accumulator: a thread of lane l holds, of each 8 columns, columns 2 * (l % 4) and + 1 of
// row l / 4 of its warp's 16 rows, and the same columns of row + 8. Element n of such an array
// belongs to row half n / 2 % 2.
template <int kHeadDim>
struct Softmax {
  float o[kHeadDim / 2];  // [head_dim / 8][row, row + 8][2] sum of weights times values
  float largest[2];       // score (log2) of the row; weights are relative to it
  float sum[2];           // of weights, of this thread's columns

  __device__ __forceinline__ void reset() {
#pragma unroll
    for (int n = 0; n < kHeadDim / 2; ++n) o[n] = 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      largest[h] = -INFINITY;
      sum[h] = 0;
    }
  }

  // Scales and masks the scores of two pages and raises `largest` to them; what was added up before
  // shrinks. s: [page][4][row, row + 8][2]; first_key: of this thread's first column; visible: keys
  // of each row
  __device__ __forceinline__ void raise(float (&s)[2][16], float scale_log2, int first_key,
                                        const int (&visible)[2]) {
    float most[2] = {largest[0], largest[1]};
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int n = 0; n < 16; ++n) {
        const int h = n >> 1 & 1;
        const int key = first_key + g * kPageTokens + (n >> 2) * 8 + (n & 1);
        s[g][n] = key < visible[h] ? s[g][n] * scale_log2 : -INFINITY;
        most[h] = fmaxf(most[h], s[g][n]);
      }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      most[h] = fmaxf(most[h], __shfl_xor_sync(~0u, most[h], 1));
      most[h] = fmaxf(most[h], __shfl_xor_sync(~0u, most[h], 2));
    }
    raise_to(most);
  }

  // What was added up before shrinks where `most`, of the two rows, is larger.
  __device__ __forceinline__ void raise_to(const float (&most)[2]) {
    if (!__any_sync(~0u, most[0] > largest[0] || most[1] > largest[1])) return;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float shrink = most[h] == -INFINITY ? 1.0f : exp2f(largest[h] - most[h]);
      largest[h] = most[h];
      sum[h] *= shrink;
#pragma unroll
      for (int n = 0; n < kHeadDim / 8; ++n) {
        o[4 * n + 2 * h] *= shrink;
        o[4 * n + 2 * h + 1] *= shrink;
      }
    }
  }

  // Weights of the scores, packed as the left operand of wgmma_values: four times 16 keys.
  __device__ __forceinline__ void weigh(const float (&s)[2][16], uint32_t (&p)[4][4]) {
    float base[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) base[h] = largest[h] == -INFINITY ? 0.0f : largest[h];
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int n = 0; n < 16; n += 2) {
        const int h = n >> 1 & 1;
        const float x = exp2f(s[g][n] - base[h]), y = exp2f(s[g][n + 1] - base[h]);
        sum[h] += x + y;
        p[2 * g + (n >> 3)][n >> 1 & 3] = pack(x, y);
      }
  }

  // partials: of the two rows; -1: none
  __device__ __forceinline__ void write(const DecodeArgs& args, const int (&partials)[2],
                                        int lane) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
      sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
      const int64_t partial = partials[h];
      if (partial < 0) continue;
      if (lane % 4 == 0) args.partial_softmax[partial] = {largest[h], sum[h]};
      float* to = args.partial_values + partial * kHeadDim + lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < kHeadDim / 8; ++n)
        *reinterpret_cast<float2*>(to + n * 8) = {o[4 * n + 2 * h], o[4 * n + 2 * h + 1]};
    }
  }
};

}  // namespace looseleaf::cuda
