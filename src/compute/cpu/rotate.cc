#include <algorithm>

#include "compute/cpu/cpu_device.h"
#include "compute/cpu/turn.h"

namespace looseleaf {

void cpu_rotate(ThreadPool& pool, float* x, std::span<const float> angles, int rows, int heads,
                int head_dim, int rotary_dims, RopePairs pairs) {
  constexpr int64_t kAtOnce = 16;  // rows a task: some microseconds
  pool.parallel_for((rows + kAtOnce - 1) / kAtOnce, [&](int64_t task) {
    for (int64_t row = task * kAtOnce; row < std::min<int64_t>(rows, (task + 1) * kAtOnce); ++row)
      turn_heads(Turn::kForward, x + row * heads * head_dim, heads, head_dim,
                 angles.data() + row * rotary_dims, rotary_dims, pairs);
  });
}

}  // namespace looseleaf
