#include "compute/cuda/attend_decode.h"
#include "compute/cuda/hopper.cuh"
#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"

namespace looseleaf::cuda {
namespace {

// One block a query, one thread a dimension. Loads come in whole batches, so that few latencies add
// up.
template <int kHeadDim>
__global__ void __launch_bounds__(kHeadDim) merge_kernel(const MergeArgs args) {
  constexpr int kBatch = 32;
  const int query = blockIdx.x, thread = threadIdx.x;
  const int begin = args.first_partial[query], end = args.first_partial[query + 1];
  launch_dependents();
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
  const float result[1] = {sum > 0 ? value / sum : 0.0f};
  args.out[to * kHeadDim + thread] = result[0];
  if (args.rounded != nullptr)
    store_rounded(result, args.rounded_type, args.rounded, to * kHeadDim + thread);
  if (args.lse != nullptr && thread == 0) args.lse[to] = natural_lse(most, sum);
}

}  // namespace

cudaError_t merge_partials(const MergeArgs& args, int head_dim, cudaStream_t stream) {
  if (head_dim != 64 && head_dim != 128) return cudaErrorInvalidValue;
  if (args.queries == 0) return cudaSuccess;
  return launch_kernel(head_dim == 128 ? merge_kernel<128> : merge_kernel<64>,
                       static_cast<unsigned>(args.queries), static_cast<unsigned>(head_dim), 0,
                       true, stream, args);
}

}  // namespace looseleaf::cuda
