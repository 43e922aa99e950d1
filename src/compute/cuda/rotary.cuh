// Turning the rotary dimensions of one head: the GPU's compute/cpu/rotary.h.
#pragma once

#include "model/rope.h"

namespace looseleaf::cuda {

// Pair j of a head: each pair (a, b) becomes (a cos - b sin, b cos + a sin), with `back` by the
// negated angle. turn: [2][rotary_dims / 2] cos, then sin
__device__ __forceinline__ void turn_pair(float* head, const float* turn, int j, int rotary_dims,
                                          RopePairs pairs, bool back) {
  const int half = rotary_dims / 2;
  float& a = head[pairs == RopePairs::kHalves ? j : 2 * j];
  float& b = head[pairs == RopePairs::kHalves ? j + half : 2 * j + 1];
  const float cos = turn[j], sin = back ? -turn[half + j] : turn[half + j];
  const float a0 = a;
  a = a0 * cos - b * sin;
  b = b * cos + a0 * sin;
}

}  // namespace looseleaf::cuda
