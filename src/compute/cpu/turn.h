// Turning rotary dimensions by vectors.
#pragma once

#include "compute/cpu/rotary.h"

namespace looseleaf {

// turn_head of `heads` heads that lie `head_dim` apart, all by the same angles.
// turn: [2][rotary_dims / 2] cos, then sin
void turn_heads(Turn direction, float* x, int heads, int head_dim, const float* turn,
                int rotary_dims, RopePairs pairs);

}  // namespace looseleaf
