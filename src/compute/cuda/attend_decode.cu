#include "compute/cuda/attend_decode.h"

#include "compute/cuda/decode_consumer.cuh"
#include "compute/cuda/decode_producer.cuh"
#include "compute/cuda/decode_turner.cuh"

namespace looseleaf::cuda {
namespace {

template <int kHeadDim, bool kRotateKeys>
__global__ void __launch_bounds__(kDecodeThreads, kDecodeBlocksPerSm)
    decode_kernel(const DecodeArgs args) {
  using T = Tile<kHeadDim>;
  extern __shared__ char raw[];
  __shared__ ItemState states[2];
  __shared__ uint64_t barriers[2 * T::kStages + 4];
  DecodeBlock block;
  block.stages =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t{1023});
  block.queries = block.stages + T::kStages * T::kStageBytes;
  block.states = states;
  begin_block<T::kStages>(args, block, barriers);
  const int thread = threadIdx.x;
  if (thread < kConsumers)
    consume<kHeadDim, kRotateKeys>(args, block);
  else if (thread < kConsumers + kProducers)
    produce<kHeadDim>(args, block, thread - kConsumers);
  else
    turn_queries<kHeadDim, kRotateKeys>(args, block, thread - kConsumers - kProducers);
}

template <int kHeadDim, bool kRotateKeys>
cudaError_t launch(const DecodeArgs& args, int blocks, cudaStream_t stream) {
  constexpr int kShared = Tile<kHeadDim>::kShared;
  constexpr auto kernel = decode_kernel<kHeadDim, kRotateKeys>;
  if (const cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
      error != cudaSuccess)
    return error;
  kernel<<<blocks, kDecodeThreads, kShared, stream>>>(args);
  return cudaGetLastError();
}

template <int kHeadDim>
cudaError_t launch(const DecodeArgs& args, int blocks, cudaStream_t stream) {
  return args.rotate_keys ? launch<kHeadDim, true>(args, blocks, stream)
                          : launch<kHeadDim, false>(args, blocks, stream);
}

}  // namespace

cudaError_t attend_decode(const DecodeArgs& args, int head_dim, int blocks, cudaStream_t stream) {
  if (head_dim == 128) return launch<128>(args, blocks, stream);
  if (head_dim == 64) return launch<64>(args, blocks, stream);
  return cudaErrorInvalidValue;
}

}  // namespace looseleaf::cuda
