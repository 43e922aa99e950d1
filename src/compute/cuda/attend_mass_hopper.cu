#include "compute/cuda/attend_mass_hopper.h"

#include "compute/cuda/launch.cuh"
#include "compute/cuda/mass_multiplier.cuh"

namespace looseleaf::cuda {
namespace {

// The warp that copies keys: the steps of a piece once for each tile of vectors, in the order in
// which they are multiplied. Lane l has the number of the l-th page of the piece.
template <int kHeadDim>
__device__ void copy_keys(const MassArgs& args, const MassBlock& block, int lane) {
  using T = MassTile<kHeadDim>;
  int visit = 0;
  for (int i = blockIdx.x; i < args.piece_count * args.kv_heads; i += gridDim.x) {
    const MassPiece piece = args.pieces[i / args.kv_heads];
    const int pages = (piece.keys + kPageTokens - 1) / kPageTokens;
    const int first_page =
        __ldg(&args.spans[piece.span].first_page) + piece.first_key / kPageTokens;
    const int number = lane < pages ? __ldg(args.pages + first_page + lane) : 0;
    const std::byte* head = args.layer + key_piece(i % args.kv_heads, kHeadDim);
    for (int first = 0; first < piece.vectors; first += kMassVectors) {
      for (int page = 0; page < pages; page += kPagesPerStep, ++visit) {
        const MassVisit<kHeadDim> here(visit);
        const std::byte* from = head + __shfl_sync(~0u, number, page + lane) * args.page_bytes;
        barrier_wait(block.empty + 8 * here.slot, here.parity ^ 1);
        copy_matrix<kHeadDim>(shared_address(block.keys) + here.slot * T::kMatrixBytes,
                              block.full + 8 * here.slot, from, min(kPagesPerStep, pages - page),
                              lane);
      }
    }
  }
}

template <int kHeadDim>
__global__ void __launch_bounds__(kMassThreads, kMassBlocksPerSm) mass_kernel(const MassArgs args) {
  using T = MassTile<kHeadDim>;
  extern __shared__ char raw[];
  __shared__ uint64_t barriers[2 * T::kStages];
  __shared__ MassVectors vectors;
  __shared__ float sums[kMassSteps * kMassKeys];
  MassBlock block;
  block.keys =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t{1023});
  block.queries = block.keys + T::kStages * T::kMatrixBytes;
  block.vectors = &vectors;
  block.sums = sums;
  block.full = shared_address(barriers);
  block.empty = block.full + 8 * T::kStages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < T::kStages; ++s) {
      barrier_init(block.full + 8 * s, 1);
      barrier_init(block.empty + 8 * s, kMassMultipliers / 32 * kWarpArrivals);
    }
    barrier_init_fence();
  }
  __syncthreads();
  launch_dependents();
  if (threadIdx.x < kMassMultipliers)
    weigh_keys<kHeadDim>(args, block);
  else
    copy_keys<kHeadDim>(args, block, threadIdx.x - kMassMultipliers);
}

// A block a piece, a thread a key at a time; heads are added in their order.
__global__ void add_kernel(const AddMassArgs args) {
  const MassPiece piece = args.pieces[blockIdx.x];
  wait_for_predecessor();
  for (int key = threadIdx.x; key < piece.keys; key += blockDim.x) {
    const float* partial = args.partials + piece.partial + key;
    float sum = 0;
    for (int head = 0; head < args.kv_heads; ++head) sum += partial[head * args.partial_stride];
    args.mass[piece.mass + key] += sum;
  }
}

template <int kHeadDim>
cudaError_t launch(const MassArgs& args, int blocks, cudaStream_t stream) {
  constexpr int kShared = MassTile<kHeadDim>::kShared;
  constexpr auto kernel = mass_kernel<kHeadDim>;
  if (const cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
      error != cudaSuccess)
    return error;
  kernel<<<std::min(blocks, args.piece_count * args.kv_heads), kMassThreads, kShared, stream>>>(
      args);
  return cudaGetLastError();
}

}  // namespace

cudaError_t attend_mass_hopper(const MassArgs& args, int head_dim, int blocks,
                               cudaStream_t stream) {
  if (head_dim == 128) return launch<128>(args, blocks, stream);
  if (head_dim == 64) return launch<64>(args, blocks, stream);
  return cudaErrorInvalidValue;
}

cudaError_t add_mass(const AddMassArgs& args, cudaStream_t stream) {
  if (args.piece_count == 0) return cudaSuccess;
  return launch_kernel(add_kernel, static_cast<unsigned>(args.piece_count), 128, 0, true, stream,
                       args);
}

}  // namespace looseleaf::cuda
