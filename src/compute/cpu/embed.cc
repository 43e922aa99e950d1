#include "compute/cpu/cpu_device.h"

namespace looseleaf {

void cpu_embed(ThreadPool& pool, const WeightMatrix& table, std::span<const int32_t> tokens,
               float* out) {
  pool.parallel_for(static_cast<int64_t>(tokens.size()), [&](int64_t row) {
    table.dequantize_row(tokens[static_cast<size_t>(row)], out + row * table.cols);
  });
}

}  // namespace looseleaf
