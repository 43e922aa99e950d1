#include "compute/cuda/kernels.h"
#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"

namespace looseleaf::cuda {
namespace {

__global__ void embed_kernel(GpuMatrix table, const int32_t* tokens, float* out) {
  const int64_t row = blockIdx.x, token = tokens[row];
  for (int64_t i = threadIdx.x; i < table.cols; i += blockDim.x)
    out[row * table.cols + i] = load_number(table.data, table.type, token * table.cols + i);
}

}  // namespace

void embed(const GpuMatrix* table, const int32_t* tokens, int count, float* out,
           cudaStream_t stream) {
  if (count == 0) return;
  embed_kernel<<<static_cast<unsigned>(count), kThreads, 0, stream>>>(*table, tokens, out);
  launched("embedding tokens");
}

}  // namespace looseleaf::cuda
