#include "compute/cpu/cpu_device.h"
#include "compute/cpu/rotary.h"

namespace looseleaf {

void cpu_rotate(ThreadPool& pool, float* x, std::span<const float> angles, int rows, int heads,
                int head_dim, int rotary_dims, RopePairs pairs) {
  pool.parallel_for(rows, [&](int64_t row) {
    for (int h = 0; h < heads; ++h)
      turn_head<Turn::kForward>(x + (row * heads + h) * head_dim, angles.data() + row * rotary_dims,
                                rotary_dims, pairs);
  });
}

}  // namespace looseleaf
