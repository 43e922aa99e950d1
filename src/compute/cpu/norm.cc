#include <cmath>

#include "compute/cpu/cpu_device.h"

namespace looseleaf {

void cpu_rms_norm(ThreadPool& pool, const float* x, std::span<const float> weight, float eps,
                  int rows, float* out) {
  const size_t cols = weight.size();
  pool.parallel_for(rows, [&](int64_t row) {
    const float* from = x + static_cast<size_t>(row) * cols;
    float* to = out + static_cast<size_t>(row) * cols;
    // Eight partial sums: shorter rounding chains, and the compiler may use vectors.
    float partial[8] = {};
    size_t i = 0;
    for (; i + 8 <= cols; i += 8)
      for (size_t j = 0; j < 8; ++j) partial[j] += from[i + j] * from[i + j];
    double sum = 0;
    for (; i < cols; ++i) sum += static_cast<double>(from[i]) * from[i];
    for (const float p : partial) sum += p;
    const float scale = static_cast<float>(1 / std::sqrt(sum / static_cast<double>(cols) + eps));
    for (i = 0; i < cols; ++i) to[i] = from[i] * scale * weight[i];
  });
}

}  // namespace looseleaf
