// What the warps of a prefill block share: the sizes, shared memory, and its barriers.
#pragma once

#include "compute/cuda/attend_prefill.h"
#include "compute/cuda/hopper.cuh"
#include "compute/cuda/page_layout.h"

namespace looseleaf::cuda {

// Two warpgroups multiply, 64 query vectors each. Of the third, one warp copies pages and three
// turn queries.
inline constexpr int kGroupThreads = 128;
inline constexpr int kMultipliers = 2 * kGroupThreads;
inline constexpr int kCopier = 32;
inline constexpr int kPrefillTurners = 96;
inline constexpr int kPrefillThreads = kMultipliers + kCopier + kPrefillTurners;
static_assert(kPrefillThreads == 3 * kGroupThreads);

// A thread starts with 168, all that three warpgroups can have; they may share them out otherwise,
// not take more.
template <bool kRotateKeys>
struct PrefillRegisters {
  static constexpr int kMultiplier = 224, kHelper = 56;
};
template <>
struct PrefillRegisters<true> {  // two keys' loads are under way beside the angles
  static constexpr int kMultiplier = 208, kHelper = 88;
};
static_assert(2 * PrefillRegisters<false>::kMultiplier + PrefillRegisters<false>::kHelper <=
              3 * 168);
static_assert(2 * PrefillRegisters<true>::kMultiplier + PrefillRegisters<true>::kHelper <= 3 * 168);

inline constexpr int kPagesPerStep = kPrefillKeys / kPageTokens;

template <int kHeadDim>
struct PrefillTile {
  // A matrix is [128 rows / 8][head_dim / 64][8][64] bf16, swizzled: four pieces of pages.
  static constexpr int kMatrixBytes = kPrefillKeys * kHeadDim * 2;
  static constexpr int kPiece = piece_bytes(kHeadDim);
  static constexpr int kStages = 2;
  // Keys and values of two steps; turned queries twice, so that one is made while one is used;
  // queries as they came.
  static constexpr int kShared = (2 * kStages + 3) * kMatrixBytes + 1024;
};

// One step, as the copier leaves it for the multipliers.
struct Step {
  int tokens;  // keys [0, tokens) of the matrix are of the span
  int flags;
  int position;       // of the first key, where they are consecutive
  int key_positions;  // or where their positions lie; -1
  int stale;          // word of the first key's bit; -1
  int limit;
  int turn;  // where keys are turned; -1: none
};
inline constexpr int kStepTurned = 1;  // the first step with these queries
inline constexpr int kStepDone = 2;    // the last step with these queries
inline constexpr int kStepMasked = 4;  // some row does not see some of the kPrefillKeys keys
inline constexpr int kStepLast = 8;    // of the item

// Views of a block's shared memory, and its range of the plan's items.
struct PrefillBlock {
  char* keys;     // [stages] matrices
  char* values;   // [stages] matrices
  char* queries;  // [2] matrices, turned
  char* raw;      // [low, high][vectors][head_dim / 16][8] bf16, as they came
  Step* steps;    // [stages] beside the keys
  // Shared addresses of barriers, 8 bytes each.
  uint32_t keys_full, keys_empty;      // [stages]
  uint32_t keys_turned;                // [stages] keys_full where nobody turns keys
  uint32_t values_full, values_empty;  // [stages]
  uint32_t query_full, query_empty;    // [2]
  int begin, end;
};

// Where the n-th use of a ring of two lies, and the parity of that round.
struct Turn2 {
  int slot, parity;
  __device__ explicit Turn2(int n) : slot(n & 1), parity(n >> 1 & 1) {}
};

}  // namespace looseleaf::cuda
