// The warpgroup of a decode block that multiplies: each warp has 16 of the item's 64 query vectors.
#pragma once

#include "compute/cuda/decode_softmax.cuh"
#include "compute/cuda/turn_keys.cuh"

namespace looseleaf::cuda {

__device__ __forceinline__ void consumers_sync() { asm volatile("bar.sync 1, 128;" ::: "memory"); }

// A weight of 0 does not silence a NaN: values of slots that no token fills are cleared.
template <int kHeadDim>
__device__ __forceinline__ void clear_unfilled(char* values, int filled) {
  constexpr int kGroups = kHeadDim / 8;
  for (int n = threadIdx.x; n < (kPageTokens - filled) * kGroups; n += kConsumers)
    *reinterpret_cast<uint4*>(values + swizzled(filled + n / kGroups, n % kGroups, kHeadDim)) =
        uint4{};
  tensor_core_fence();
  consumers_sync();
}

// Waits for a page; tokens: those that the item has left. Returns its shared address.
template <int kHeadDim>
__device__ __forceinline__ uint32_t take_page(const DecodeBlock& block, int visit, int tokens) {
  using T = Tile<kHeadDim>;
  const Visit<T::kStages> at(visit);
  char* stage = block.stages + at.stage * T::kStageBytes;
  barrier_wait(block.full + 8 * at.stage, at.parity);
  if (tokens < kPageTokens) clear_unfilled<kHeadDim>(stage + T::kPiece, tokens);
  return shared_address(stage);
}

// s = q k^T for two pages. q, keys: shared addresses
template <int kHeadDim>
__device__ __forceinline__ void multiply_keys(float (&s)[2][16], uint32_t q,
                                              const uint32_t (&keys)[2]) {
  wgmma_begin();
#pragma unroll
  for (int g = 0; g < 2; ++g)
#pragma unroll
    for (int k = 0; k < kHeadDim / 16; ++k)
      wgmma_scores(s[g], matrix<kHeadDim>(q + (k / 4) * kAtomBytes + (k % 4) * 32),
                   matrix<kHeadDim>(keys[g] + (k / 4) * kAtomBytes + (k % 4) * 32), k > 0);
  wgmma_end();
}

// o += p v for two pages.
template <int kHeadDim>
__device__ __forceinline__ void multiply_values(float (&o)[kHeadDim / 2], const uint32_t (&p)[4][4],
                                                const uint32_t (&keys)[2]) {
  wgmma_begin();
#pragma unroll
  for (int k = 0; k < 4; ++k)
    wgmma_values(o, p[k],
                 matrix<kHeadDim>(keys[k / 2] + Tile<kHeadDim>::kPiece +
                                  (k % 2) * 2 * rows_apart(kHeadDim)));
  wgmma_end();
}

// kRotateKeys: all warps turn the keys of a step before they multiply them.
template <int kHeadDim, bool kRotateKeys>
__device__ void consume(const DecodeArgs& args, const DecodeBlock& block) {
  using T = Tile<kHeadDim>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp * 16 + lane / 4;  // and row + 8
  int visit = 0;
  for (int i = block.begin; i < block.end; ++i) {
    const int buffer = (i - block.begin) & 1;
    barrier_wait(block.query_full + 8 * buffer, (i - block.begin) >> 1 & 1);
    const ItemState& state = block.states[buffer];
    const int tokens = state.item.tokens;
    const int visible[2] = {state.end[row], state.end[row + 8]};
    const int partials[2] = {state.partial[row], state.partial[row + 8]};
    const uint32_t q = shared_address(block.queries + buffer * T::kQueryBytes);
    Softmax<kHeadDim> softmax;
    softmax.reset();
    KeyTurner<kHeadDim, kConsumers> turner;
    const bool turned = kRotateKeys && state.turn >= 0;
    if (turned) turner.load(args.turns, state.turn, threadIdx.x);
    for (int first = 0; first < tokens; first += 2 * kPageTokens) {
      // A step of one page takes it twice: no key of the second time is visible, its weights are 0.
      const int pages = tokens - first > kPageTokens ? 2 : 1;
      const uint32_t page = take_page<kHeadDim>(block, visit, tokens - first);
      const uint32_t keys[2] = {
          page,
          pages == 1 ? page : take_page<kHeadDim>(block, visit + 1, tokens - first - kPageTokens)};
      if (turned) {
#pragma unroll
        for (int g = 0; g < 2; ++g)
          if (g < pages) turner.turn(keys[g], kPageTokens, threadIdx.x);
        tensor_core_fence();
        consumers_sync();
      }
      float s[2][16];
      multiply_keys<kHeadDim>(s, q, keys);
      softmax.raise(s, args.scale_log2, first + lane % 4 * 2, visible);
      uint32_t p[4][4];
      softmax.weigh(s, p);
      multiply_values<kHeadDim>(softmax.o, p, keys);
      for (int g = 0; g < pages; ++g)
        barrier_arrive_warp(block.empty + 8 * Visit<T::kStages>(visit + g).stage);
      visit += pages;
    }
    barrier_arrive_warp(block.query_empty + 8 * buffer);
    softmax.write(args, partials, lane);
  }
}

}  // namespace looseleaf::cuda
