// The warp of a decode block that copies fp8 pages to the ring, two a stage: decode_producer.cuh's
// for stages of two pages.
#pragma once

#include "compute/cuda/decode_fp8_tile.cuh"

namespace looseleaf::cuda {

template <int kHeadDim>
__device__ void produce_fp8(const DecodeArgs& args, const Fp8DecodeBlock& block, int lane) {
  using T = Fp8Tile<kHeadDim>;
  if (block.begin == block.end) return;
  const auto number = [&](const WorkItem& of, int page) {
    return page * kPageTokens < of.tokens ? args.pages[of.first_page + page] : 0;
  };
  // Lane l of the first four has page l % 2 of a stage, of K or of V.
  const int second = lane & 1, value = lane >> 1;
  WorkItem next = args.items[block.begin];
  int32_t following = number(next, lane);
  int visit = 0;
  for (int i = block.begin; i < block.end; ++i) {
    const WorkItem item = next;
    int32_t mine = following;
    if (i + 1 < block.end) next = args.items[i + 1];
    const int pages = (item.tokens + kPageTokens - 1) / kPageTokens;
    const int64_t piece =
        int64_t{value == 0 ? item.kv_head : args.kv_heads + item.kv_head} * T::kPiece;
    for (int p = 0; p < pages; p += 2, ++visit) {
      if (p > 0 && p % 32 == 0) mine = number(item, p + lane);
      if (p == pages / 4 * 2) following = number(next, lane);
      const int copied = min(2, pages - p);
      const std::byte* page =
          args.layer + __shfl_sync(~0u, mine, (p + second) % 32) * args.page_bytes;
      const Visit<T::kStages> at(visit);
      const uint32_t full = block.full + 8 * at.stage;
      barrier_wait(block.empty + 8 * at.stage, at.parity ^ 1);
      if (lane == 0) barrier_expect(full, 2 * copied * T::kPiece);
      __syncwarp();
      if (lane < 4 && second < copied)
        bulk_copy(shared_address(block.stages + at.stage * T::kStageBytes + lane * T::kPiece),
                  page + piece, T::kPiece, full);
    }
  }
}

}  // namespace looseleaf::cuda
