// Turning the rotary dimensions of one head.
#pragma once

#include <cstddef>

#include "model/rope.h"

namespace looseleaf {

// Each pair (a, b) becomes (a cos - b sin, b cos + a sin); with kBack the angle is negated.
enum class Turn { kForward, kBack };

// turn: [2][rotary_dims / 2] cos, then sin
template <Turn kTurn, typename Value>
void turn_head(Value* head, const float* turn, int rotary_dims, RopePairs pairs) {
  const int half = rotary_dims / 2;
  for (int j = 0; j < half; ++j) {
    Value& a = head[pairs == RopePairs::kHalves ? j : 2 * j];
    Value& b = head[pairs == RopePairs::kHalves ? j + half : 2 * j + 1];
    const Value cos = turn[j];
    const Value sin = kTurn == Turn::kForward ? turn[half + j] : -turn[half + j];
    const Value a0 = a;
    a = a0 * cos - b * sin;
    b = b * cos + a0 * sin;
  }
}

}  // namespace looseleaf
