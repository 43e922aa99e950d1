// What the warps of a decode block share: the sizes, shared memory, and its barriers.
#pragma once

#include "compute/cuda/attend_decode.h"
#include "compute/cuda/hopper.cuh"
#include "compute/cuda/page_layout.h"

namespace looseleaf::cuda {

// One warpgroup multiplies, one warp copies pages, one warp turns the next item's queries. Two
// blocks share a multiprocessor, so that one's latencies hide behind the other's work: at most 168
// registers a thread.
inline constexpr int kConsumers = 128;  // threads
inline constexpr int kProducers = 32;
inline constexpr int kTurners = 32;
inline constexpr int kDecodeThreads = kConsumers + kProducers + kTurners;

template <int kHeadDim>
struct Tile {
  static_assert(kHeadDim == 64 || kHeadDim == 128, "wgmma_values has these widths");
  static constexpr int kPiece = piece_bytes(kHeadDim);
  static constexpr int kStageBytes = 2 * kPiece;  // a stage is one page's K and V
  // 64 KB in flight a block, 128 KB a multiprocessor: what its share of 4.8 TB/s needs at 1 us,
  // three times.
  static constexpr int kStages = 64 * 1024 / kStageBytes;
  static constexpr int kQueryBytes = kItemVectors * kHeadDim * 2;
  // Swizzled matrices begin at multiples of 1024, dynamic shared memory need not.
  static constexpr int kShared = kStages * kStageBytes + 2 * kQueryBytes + 1024;
};

// An item as the turners leave it for the consumers.
struct ItemState {
  WorkItem item;
  int turn;  // of all vectors, where keys are turned; -1: none
  // Keys [0, end) are visible to the vector. Where there is none: 0, over fp8 pages all tokens.
  int end[kItemVectors];
  int partial[kItemVectors];  // -1 where there is no vector
};

// Views of a block's shared memory, and its range of the plan's items.
struct DecodeBlock {
  char* stages;   // [stages][K, V] pieces
  char* queries;  // [2][kItemVectors / 8][head_dim / 64][8][64] bf16: one is made while one is used
  ItemState* states;  // [2]
  // Shared addresses of barriers, 8 bytes each.
  uint32_t full, empty;              // [stages] the page is there; all consumers are done with it
  uint32_t query_full, query_empty;  // [2] likewise
  int begin, end;
};

// The barriers and the range of items of a block whose views of shared memory are set. For all
// threads. barriers: [2 * kStages + 4] in shared memory
template <int kStages, class Block>
__device__ __forceinline__ void begin_block(const DecodeArgs& args, Block& block,
                                            uint64_t* barriers) {
  block.full = shared_address(barriers);
  block.empty = block.full + 8 * kStages;
  block.query_full = block.empty + 8 * kStages;
  block.query_empty = block.query_full + 16;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrier_init(block.full + 8 * s, 1);
      barrier_init(block.empty + 8 * s, kConsumers / 32 * kWarpArrivals);
    }
    for (int b = 0; b < 2; ++b) {
      barrier_init(block.query_full + 8 * b, kTurners);
      barrier_init(block.query_empty + 8 * b, kConsumers / 32 * kWarpArrivals);
    }
    barrier_init_fence();
  }
  __syncthreads();
  launch_dependents();
  block.begin = args.first_item[blockIdx.x];
  block.end = args.first_item[blockIdx.x + 1];
}

// Where the `visit`-th page of a block's life lies in the ring, and the parity of that round.
template <int kStages>
struct Visit {
  int stage, parity;
  __device__ explicit Visit(int visit) : stage(visit % kStages), parity(visit / kStages & 1) {}
};

}  // namespace looseleaf::cuda
