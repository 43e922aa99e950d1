// The warpgroup of a decode block that multiplies fp8 pages: each warp has 16 of the item's 64
// query vectors. Scores are (q1 + q2) k; a key's scale is the score column's, a value's scale goes
// into the weights, which become two codes too.
#pragma once

#include "compute/cuda/decode_consumer.cuh"
#include "compute/cuda/decode_fp8_tile.cuh"

namespace looseleaf::cuda {

// Clears the values of a step's tokens from `filled` on: a weight of 0 does not silence a NaN.
// values: two pieces
template <int kHeadDim>
__device__ __forceinline__ void clear_unfilled_fp8(char* values, int filled) {
  for (int n = threadIdx.x; n < 2 * 2 * kHeadDim; n += kConsumers) {
    // Sixteen tokens of one dimension: half of a page.
    const int page = n / (2 * kHeadDim), dim = n / 2 % kHeadDim, half = n % 2;
    const int first = page * kPageTokens + half * 16;
    if (first + 16 <= filled) continue;
    auto* codes = reinterpret_cast<uint32_t*>(values + page * Fp8Tile<kHeadDim>::kPiece +
                                              fp8_offset(dim, half * 16, kFp8ValuesApart));
#pragma unroll
    for (int q = 0; q < 4; ++q) {  // fp8_value_column: tokens 2q, 2q + 1, 2q + 8, 2q + 9
      const int at = first + 2 * q;
      const uint32_t keep = (at < filled ? 0xFFu : 0) | (at + 1 < filled ? 0xFF00u : 0) |
                            (at + 8 < filled ? 0xFF0000u : 0) | (at + 9 < filled ? 0xFF000000u : 0);
      codes[q] &= keep;
    }
  }
  tensor_core_fence();
  consumers_sync();
}

// s = (q1 + q2) k^T for 64 tokens, smaller terms first: the tensor cores add to about 14 bits of
// the largest. q, keys: shared addresses
template <int kHeadDim>
__device__ __forceinline__ void multiply_keys_fp8(float (&s)[32], uint32_t q, uint32_t keys) {
  using T = Fp8Tile<kHeadDim>;
  wgmma_begin();
#pragma unroll
  for (int term = 1; term >= 0; --term)
#pragma unroll
    for (int k = 0; k < kHeadDim / 32; ++k)
      wgmma_fp8_scores(s, fp8_matrix(q + term * T::kTermBytes + k * 2 * kFp8Block, T::kQueryApart),
                       fp8_matrix(keys + k * 2 * kFp8Block, fp8_keys_apart(kHeadDim)),
                       term == 0 || k > 0);
  wgmma_commit();
  wgmma_wait<0>(s);
}

// Weights of a step: p = unit * (p1 + p2), as left operands of wgmma_fp8_values.
struct Fp8Weights {
  uint32_t term[2][2][4];  // [high, low][page]
  float unit;
};

// sum of p v over 64 tokens, from nothing; values: shared address of two pieces
template <int kHeadDim>
__device__ __forceinline__ void multiply_values_fp8(float (&sum)[kHeadDim / 2], const Fp8Weights& p,
                                                    uint32_t values) {
  wgmma_begin();
#pragma unroll
  for (int term = 1; term >= 0; --term)
#pragma unroll
    for (int page = 0; page < 2; ++page)
      wgmma_fp8_values(sum, p.term[term][page],
                       fp8_matrix(values + page * Fp8Tile<kHeadDim>::kPiece, kFp8ValuesApart),
                       term == 0 || page > 0);
  wgmma_commit();
  wgmma_wait<0>(sum);
}

// Two tokens' scales of a thread's columns, 8 * group + 2 * (lane % 4) and the one behind it.
__device__ __forceinline__ float2 two_scales(const char* at) {
  return __half22float2(*reinterpret_cast<const __half2*>(at));
}

// Scores of 64 tokens become weights, and `softmax` rises to them. stage: the step's pages;
// factor: of each row's scores, softmax scale (log2) included; first: the step's first token;
// filled: its tokens; visible: keys of each row; all_see: keys that all rows of the warp see
template <int kHeadDim>
__device__ __forceinline__ void weigh_fp8(Softmax<kHeadDim>& softmax, float (&s)[32],
                                          const char* stage, const float (&factor)[2], int first,
                                          int filled, const int (&visible)[2], int all_see,
                                          Fp8Weights& p) {
  using T = Fp8Tile<kHeadDim>;
  const int quad = threadIdx.x % 4;
#pragma unroll
  for (int c = 0; c < 8; ++c) {  // eight tokens
    const float2 scale = two_scales(stage + c / 4 * T::kPiece +
                                    fp8_key_scale_offset(c % 4 * 8, kHeadDim) + quad * 4);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      s[4 * c + 2 * h] *= scale.x;
      s[4 * c + 2 * h + 1] *= scale.y;
    }
  }
  if (first + T::kStepTokens > all_see)
#pragma unroll
    for (int n = 0; n < 32; ++n)
      if (first + n / 4 * 8 + quad * 2 + n % 2 >= visible[n / 2 % 2]) s[n] = -INFINITY;
  float most[2] = {-INFINITY, -INFINITY};
#pragma unroll
  for (int n = 0; n < 32; ++n) most[n / 2 % 2] = fmaxf(most[n / 2 % 2], s[n]);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    most[h] = fmaxf(most[h], __shfl_xor_sync(~0u, most[h], 1));
    most[h] = fmaxf(most[h], __shfl_xor_sync(~0u, most[h], 2));
    most[h] = fmaxf(softmax.largest[h], most[h] * factor[h]);
  }
  softmax.raise_to(most);

  // The largest scale of a value takes a weight of 1 to the largest code.
  float2 scale[8];
  float largest = 0x1p-24f;  // the least scale that is not 0
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    const int token = c * 8 + quad * 2;
    scale[c] = two_scales(stage + T::kValues + c / 4 * T::kPiece +
                          fp8_value_scale_offset(c % 4 * 8, kHeadDim) + quad * 4);
    if (token >= filled) scale[c].x = 0;
    if (token + 1 >= filled) scale[c].y = 0;
    largest = fmaxf(largest, fmaxf(scale[c].x, scale[c].y));
  }
  largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
  largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
  p.unit = largest * (1.0f / 448);
  const float to_codes = __fdividef(448.0f, largest);
  float base[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) base[h] = softmax.largest[h] == -INFINITY ? 0.0f : softmax.largest[h];
#pragma unroll
  for (int c = 0; c < 8; c += 2)  // sixteen tokens
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      Fp8Pairs pairs[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int n = 4 * (c + e) + 2 * h;
        const float x = fast_exp2(fmaf(s[n], factor[h], -base[h]));
        const float y = fast_exp2(fmaf(s[n + 1], factor[h], -base[h]));
        softmax.sum[h] += x + y;
        pairs[e] = split_fp8(x * (scale[c + e].x * to_codes), y * (scale[c + e].y * to_codes));
      }
      const int page = c / 4, n = h + c / 2 % 2 * 2;
      p.term[0][page][n] = pairs[0].high | uint32_t{pairs[1].high} << 16;
      p.term[1][page][n] = pairs[0].low | uint32_t{pairs[1].low} << 16;
    }
}

template <int kHeadDim>
__device__ void consume_fp8(const DecodeArgs& args, const Fp8DecodeBlock& block) {
  using T = Fp8Tile<kHeadDim>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp * 16 + lane / 4;  // and row + 8
  int visit = 0;
  for (int i = block.begin; i < block.end; ++i) {
    const int buffer = (i - block.begin) & 1;
    barrier_wait(block.query_full + 8 * buffer, (i - block.begin) >> 1 & 1);
    const Fp8ItemState& state = block.states[buffer];
    const int tokens = state.item.item.tokens;
    const int visible[2] = {state.item.end[row], state.item.end[row + 8]};
    const int partials[2] = {state.item.partial[row], state.item.partial[row + 8]};
    const float factor[2] = {state.query_scale[row] * args.scale_log2,
                             state.query_scale[row + 8] * args.scale_log2};
    const int all_see = __reduce_min_sync(~0u, min(visible[0], visible[1]));
    // Warps without a vector multiply along, with weights of 0.
    const bool has_vectors = warp * 16 < state.item.item.vectors;
    const uint32_t q = shared_address(block.queries + buffer * T::kQueryBytes);
    Softmax<kHeadDim> softmax;
    softmax.reset();
    for (int first = 0; first < tokens; first += T::kStepTokens, ++visit) {
      const Visit<T::kStages> at(visit);
      char* stage = block.stages + at.stage * T::kStageBytes;
      const int filled = min(tokens - first, T::kStepTokens);
      barrier_wait(block.full + 8 * at.stage, at.parity);
      if (filled < T::kStepTokens) clear_unfilled_fp8<kHeadDim>(stage + T::kValues, filled);
      float s[32];
      multiply_keys_fp8<kHeadDim>(s, q, shared_address(stage));
      Fp8Weights p{};
      if (has_vectors)
        weigh_fp8<kHeadDim>(softmax, s, stage, factor, first, filled, visible, all_see, p);
      float sum[kHeadDim / 2];
      multiply_values_fp8<kHeadDim>(sum, p, shared_address(stage + T::kValues));
      // Added up here, to 24 bits: the tensor cores' own sum over many steps would lose more.
#pragma unroll
      for (int n = 0; n < kHeadDim / 2; ++n) softmax.o[n] = fmaf(sum[n], p.unit, softmax.o[n]);
      barrier_arrive_warp(block.empty + 8 * at.stage);
    }
    barrier_arrive_warp(block.query_empty + 8 * buffer);
    softmax.write(args, partials, lane);
  }
}

}  // namespace looseleaf::cuda
