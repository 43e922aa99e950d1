// The warp of a decode block that copies pages to the ring.
#pragma once

#include "compute/cuda/decode_tile.cuh"

namespace looseleaf::cuda {

// Lane l holds the number of the l-th page of the 32 at hand; those of the next item are asked for
// early, so that no copy waits for one.
template <int kHeadDim>
__device__ void produce(const DecodeArgs& args, const DecodeBlock& block, int lane) {
  using T = Tile<kHeadDim>;
  if (block.begin == block.end) return;
  const auto number = [&](const WorkItem& of, int page) {
    return page * kPageTokens < of.tokens ? args.pages[of.first_page + page] : 0;
  };
  WorkItem next = args.items[block.begin];
  int32_t following = number(next, lane);
  int visit = 0;
  for (int i = block.begin; i < block.end; ++i) {
    const WorkItem item = next;
    int32_t mine = following;
    if (i + 1 < block.end) next = args.items[i + 1];
    const int pages = (item.tokens + kPageTokens - 1) / kPageTokens;
    for (int p = 0; p < pages; ++p, ++visit) {
      if (p > 0 && p % 32 == 0) mine = number(item, p + lane);
      if (p == pages / 2) following = number(next, lane);
      const std::byte* page = args.layer + __shfl_sync(~0u, mine, p % 32) * args.page_bytes;
      const Visit<T::kStages> at(visit);
      const uint32_t full = block.full + 8 * at.stage;
      barrier_wait(block.empty + 8 * at.stage, at.parity ^ 1);
      if (lane == 0) barrier_expect(full, T::kStageBytes);
      __syncwarp();
      if (lane < 2)  // K, V
        bulk_copy(shared_address(block.stages + at.stage * T::kStageBytes + lane * T::kPiece),
                  page + (lane == 0 ? key_piece(item.kv_head, kHeadDim)
                                    : value_piece(item.kv_head, args.kv_heads, kHeadDim)),
                  T::kPiece, full);
    }
  }
}

}  // namespace looseleaf::cuda
