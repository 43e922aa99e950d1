// What the warps of a decode block over fp8 pages share: the sizes and shared memory. The warps are
// those of decode_tile.cuh, with the same barriers.
#pragma once

#include "compute/cuda/decode_tile.cuh"
#include "compute/cuda/hopper_fp8.cuh"

namespace looseleaf::cuda {

template <int kHeadDim>
struct Fp8Tile {
  static_assert(kHeadDim == 64 || kHeadDim == 128, "wgmma_fp8_values has these widths");
  static constexpr int kPiece = fp8_piece_bytes(kHeadDim);
  // A stage is what a step takes: two pages of K, then the same pages of V.
  static constexpr int kStepTokens = 2 * kPageTokens;
  static constexpr int kValues = 2 * kPiece;  // where V begins
  static constexpr int kStageBytes = 4 * kPiece;
  static constexpr int kStages = 512 / kHeadDim;  // 64 KB in flight, as in Tile
  // Queries are two matrices of codes, whose sum they are.
  static constexpr int kTermBytes = kItemVectors * kHeadDim;
  static constexpr int kQueryBytes = 2 * kTermBytes;
  static constexpr int kQueryApart = 8 * kHeadDim;  // from eight vectors to the next
  static constexpr int kShared = kStages * kStageBytes + 2 * kQueryBytes;
};

struct Fp8ItemState {
  ItemState item;
  float query_scale[kItemVectors];  // of the vector's codes; 1 where there is none
};

struct Fp8DecodeBlock {
  char* stages;          // [stages][2 pages of K, 2 of V] pieces
  char* queries;         // [2][high, low][kItemVectors / 8][head_dim / 16][8][16] e4m3
  Fp8ItemState* states;  // [2]
  // Shared addresses of barriers, as in DecodeBlock.
  uint32_t full, empty;              // [stages]
  uint32_t query_full, query_empty;  // [2]
  int begin, end;
};

}  // namespace looseleaf::cuda
