#include "compute/cuda/attend_decode_fp8.h"

#include "compute/cuda/decode_fp8_consumer.cuh"
#include "compute/cuda/decode_fp8_producer.cuh"
#include "compute/cuda/decode_fp8_turner.cuh"
#include "compute/cuda/launch.cuh"

namespace looseleaf::cuda {
namespace {

template <int kHeadDim>
__global__ void __launch_bounds__(kDecodeThreads, kDecodeBlocksPerSm)
    decode_fp8_kernel(const DecodeArgs args) {
  using T = Fp8Tile<kHeadDim>;
  extern __shared__ __align__(128) char shared[];
  __shared__ Fp8ItemState states[2];
  __shared__ uint64_t barriers[2 * T::kStages + 4];
  Fp8DecodeBlock block;
  block.stages = shared;
  block.queries = block.stages + T::kStages * T::kStageBytes;
  block.states = states;
  begin_block<T::kStages>(args, block, barriers);
  const int thread = threadIdx.x;
  if (thread < kConsumers)
    consume_fp8<kHeadDim>(args, block);
  else if (thread < kConsumers + kProducers)
    produce_fp8<kHeadDim>(args, block, thread - kConsumers);
  else
    turn_queries_fp8<kHeadDim>(args, block, thread - kConsumers - kProducers);
  // Who waits for this kernel counts on the one before it, too.
  wait_for_predecessor();
}

template <int kHeadDim>
cudaError_t launch(const DecodeArgs& args, int blocks, bool overlapping, cudaStream_t stream) {
  constexpr int kShared = Fp8Tile<kHeadDim>::kShared;
  if (const cudaError_t error = cudaFuncSetAttribute(
          decode_fp8_kernel<kHeadDim>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
      error != cudaSuccess)
    return error;
  return launch_kernel(decode_fp8_kernel<kHeadDim>, static_cast<unsigned>(blocks), kDecodeThreads,
                       kShared, overlapping, stream, args);
}

}  // namespace

cudaError_t attend_decode_fp8(const DecodeArgs& args, int head_dim, int blocks, bool overlapping,
                              cudaStream_t stream) {
  if (head_dim == 128) return launch<128>(args, blocks, overlapping, stream);
  if (head_dim == 64) return launch<64>(args, blocks, overlapping, stream);
  return cudaErrorInvalidValue;
}

}  // namespace looseleaf::cuda
