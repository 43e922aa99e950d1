#include "compute/cuda/attend_prefill.h"

#include "compute/cuda/prefill_copier.cuh"
#include "compute/cuda/prefill_multiplier.cuh"
#include "compute/cuda/prefill_turner.cuh"

namespace looseleaf::cuda {
namespace {

template <int kHeadDim, bool kRotateKeys>
__global__ void __launch_bounds__(kPrefillThreads, 1) prefill_kernel(const PrefillArgs args) {
  using T = PrefillTile<kHeadDim>;
  extern __shared__ char raw[];
  __shared__ uint64_t barriers[14];
  __shared__ Step steps[T::kStages];
  PrefillBlock block;
  block.keys =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t{1023});
  block.values = block.keys + T::kStages * T::kMatrixBytes;
  block.queries = block.values + T::kStages * T::kMatrixBytes;
  block.raw = block.queries + 2 * T::kMatrixBytes;
  block.steps = steps;
  block.keys_full = shared_address(barriers);
  block.keys_empty = block.keys_full + 16;
  block.values_full = block.keys_full + 32;
  block.values_empty = block.keys_full + 48;
  block.query_full = block.keys_full + 64;
  block.query_empty = block.keys_full + 80;
  block.keys_turned = kRotateKeys ? block.keys_full + 96 : block.keys_full;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      barrier_init(block.keys_full + 8 * s, 1);
      barrier_init(block.keys_empty + 8 * s, kMultipliers / 32 * kWarpArrivals);
      barrier_init(block.values_full + 8 * s, 1);
      barrier_init(block.values_empty + 8 * s, kMultipliers / 32 * kWarpArrivals);
      barrier_init(block.query_full + 8 * s, kPrefillTurners);
      barrier_init(block.query_empty + 8 * s, kMultipliers / 32 * kWarpArrivals);
      if (kRotateKeys) barrier_init(block.keys_turned + 8 * s, kPrefillTurners);
    }
    barrier_init_fence();
  }
  __syncthreads();
  launch_dependents();
  block.begin = args.first_item[blockIdx.x];
  block.end = args.first_item[blockIdx.x + 1];
  if (threadIdx.x < kMultipliers) {
    take_registers<PrefillRegisters<kRotateKeys>::kMultiplier>();
    multiply<kHeadDim>(args, block);
  } else {
    give_registers<PrefillRegisters<kRotateKeys>::kHelper>();
    const int helper = threadIdx.x - kMultipliers;
    if (helper < kCopier)
      copy_pages<kHeadDim, kRotateKeys>(args, block, helper);
    else if constexpr (kRotateKeys)
      turn_prefill_keys<kHeadDim>(args, block, helper - kCopier);
    else
      turn_prefill_queries<kHeadDim>(args, block, helper - kCopier);
  }
}

template <int kHeadDim, bool kRotateKeys>
cudaError_t launch(const PrefillArgs& args, int blocks, cudaStream_t stream) {
  constexpr int kShared = PrefillTile<kHeadDim>::kShared;
  constexpr auto kernel = prefill_kernel<kHeadDim, kRotateKeys>;
  if (const cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
      error != cudaSuccess)
    return error;
  kernel<<<blocks, kPrefillThreads, kShared, stream>>>(args);
  return cudaGetLastError();
}

template <int kHeadDim>
cudaError_t launch(const PrefillArgs& args, int blocks, cudaStream_t stream) {
  return args.rotate_keys ? launch<kHeadDim, true>(args, blocks, stream)
                          : launch<kHeadDim, false>(args, blocks, stream);
}

}  // namespace

cudaError_t attend_prefill(const PrefillArgs& args, int head_dim, int blocks, cudaStream_t stream) {
  if (head_dim == 128) return launch<128>(args, blocks, stream);
  if (head_dim == 64) return launch<64>(args, blocks, stream);
  return cudaErrorInvalidValue;
}

}  // namespace looseleaf::cuda
