#include "compute/cuda/attend_decode.h"
#include "compute/cuda/hopper.cuh"

namespace looseleaf::cuda {
namespace {

// One block a query, one thread a dimension. Loads come in whole batches, so that few latencies add
// up.
template <int kHeadDim>
__global__ void __launch_bounds__(kHeadDim) merge_kernel(const MergeArgs args) {
  constexpr int kBatch = 32;
  const int query = blockIdx.x, thread = threadIdx.x;
  const int begin = args.first_partial[query], end = args.first_partial[query + 1];
  wait_for_predecessor();
  float most = -INFINITY, sum = 0, value = 0;
  for (int first = begin; first < end; first += kBatch) {
    float2 softmax[kBatch];
    float values[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int64_t partial = first + i;
      const bool there = partial < end;
      softmax[i] = there ? args.partial_softmax[partial] : float2{-INFINITY, 0.0f};
      values[i] = there ? args.partial_values[partial * kHeadDim + thread] : 0.0f;
    }
    float peak = most;
#pragma unroll
    for (int i = 0; i < kBatch; ++i) peak = fmaxf(peak, softmax[i].x);
    const float base = peak == -INFINITY ? 0.0f : peak, shrink = exp2f(most - base);
    most = peak;
    sum *= shrink;
    value *= shrink;
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const float weight = exp2f(softmax[i].x - base);
      sum += softmax[i].y * weight;
      value += values[i] * weight;
    }
  }
  const int64_t to = args.merged == nullptr ? query : args.merged[query];
  args.out[to * kHeadDim + thread] = sum > 0 ? value / sum : 0.0f;
}

}  // namespace

cudaError_t merge_partials(const MergeArgs& args, int head_dim, cudaStream_t stream) {
  if (head_dim != 64 && head_dim != 128) return cudaErrorInvalidValue;
  if (args.queries == 0) return cudaSuccess;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = args.queries;
  config.blockDim = head_dim;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, head_dim == 128 ? merge_kernel<128> : merge_kernel<64>, args);
}

}  // namespace looseleaf::cuda
