// What the warps of a mass block share: the sizes, shared memory, its barriers, and the tile of
// query vectors, which the multipliers themselves make.
#pragma once

#include "compute/cuda/attend_mass_hopper.h"
#include "compute/cuda/prefill_copier.cuh"
#include "compute/cuda/turn_keys.cuh"

namespace looseleaf::cuda {

// Two warpgroups multiply, 64 keys of a step each; one warp copies keys. Two blocks share a
// multiprocessor, so that one's queries are turned beside the other's products: at most 96
// registers a thread.
inline constexpr int kMassMultipliers = 2 * kGroupThreads;
inline constexpr int kMassThreads = kMassMultipliers + 32;
inline constexpr int kMassVectors = 128;  // of a tile
static_assert(kMassKeys == kPrefillKeys, "spans have room for reading so many keys behind them");
static_assert(kMassSteps * kPagesPerStep <= 32, "a lane has the number of one page of a piece");

template <int kHeadDim>
struct MassTile {
  static constexpr int kMatrixBytes = PrefillTile<kHeadDim>::kMatrixBytes;  // 128 rows
  // 64 KB in flight a block, as in decode.
  static constexpr int kStages = 64 * 1024 / kMatrixBytes;
  static constexpr int kShared = (kStages + 1) * kMatrixBytes + 1024;
};

// Of the tile's vectors; positions ascend.
struct alignas(16) MassVectors {
  float lse[kMassVectors];  // log2; inf where there is no vector, or it sees no key
  int position[kMassVectors];
};

// Views of a block's shared memory.
struct MassBlock {
  char* keys;     // [stages] matrices
  char* queries;  // a matrix, turned
  MassVectors* vectors;
  float* sums;           // [kMassSteps][kMassKeys] of earlier tiles
  uint32_t full, empty;  // shared addresses of barriers: [stages] of 8 bytes
};

// Where the n-th step of a block's life lies in the ring, and the parity of that round.
template <int kHeadDim>
struct MassVisit {
  int slot, parity;
  __device__ explicit MassVisit(int n)
      : slot(n % MassTile<kHeadDim>::kStages), parity(n / MassTile<kHeadDim>::kStages & 1) {}
};

// Where the query of vector n of the piece's group begins, in heads. row: its number
__device__ __forceinline__ int64_t query_of(const MassArgs& args, const MassPiece& piece,
                                            int kv_head, int n, int& row) {
  const int packed = args.heads / args.kv_heads;
  row = __ldg(args.rows + piece.first_row + n / packed);
  return int64_t{row} * args.heads + kv_head * packed + n % packed;
}

// Vectors [first, first + kMassVectors) of the piece's group, turned back for its span. Where there
// is none, the query is 0, for products without NaNs. For all multipliers.
template <int kHeadDim>
__device__ __forceinline__ void load_vectors(const MassArgs& args, const MassBlock& block,
                                             const MassPiece& piece, int turn, int kv_head,
                                             int first, int thread) {
  using Angles = KeyTurner<kHeadDim, kMassMultipliers>;
  constexpr int kBatch = 2;  // vectors of a thread whose loads are under way together
  static_assert(kMassVectors % (kBatch * Angles::kApart) == 0);
  const int count = min(kMassVectors, piece.vectors - first), group = thread % Angles::kGroups;
  Angles angles;
  if (turn >= 0) angles.load(args.turns, turn, thread);
#pragma unroll 1
  for (int begin = thread / Angles::kGroups; begin < kMassVectors;
       begin += kBatch * Angles::kApart) {
    uint4 low[kBatch], high[kBatch];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const int v = begin + b * Angles::kApart;
      low[b] = high[b] = uint4{};
      if (v >= count) continue;
      int row;
      const float* q =
          args.query + query_of(args, piece, kv_head, first + v, row) * kHeadDim + group * 8;
      low[b] = load_rounded(q);
      high[b] = load_rounded(q + Angles::kHalf);
    }
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const int v = begin + b * Angles::kApart;
      if (turn >= 0) turn_eight<true>(low[b], high[b], angles.cos, angles.sin);
      *reinterpret_cast<uint4*>(block.queries + swizzled(v, group, kHeadDim)) = low[b];
      *reinterpret_cast<uint4*>(block.queries + swizzled(v, group + Angles::kGroups, kHeadDim)) =
          high[b];
    }
  }
  if (thread >= kMassVectors) return;
  float lse = INFINITY;
  int row = 0;
  if (thread < count) {
    const float natural = __ldg(args.lse + query_of(args, piece, kv_head, first + thread, row));
    if (natural != -INFINITY) lse = natural * 1.44269504f;
    block.vectors->position[thread] = __ldg(args.positions + row);
  }
  block.vectors->lse[thread] = lse;
}

}  // namespace looseleaf::cuda
