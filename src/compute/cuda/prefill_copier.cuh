// The warp of a prefill block that copies pages, and tells the multipliers what each step is.
#pragma once

#include "compute/cuda/prefill_tile.cuh"

namespace looseleaf::cuda {

__device__ __forceinline__ PrefillSpan load_span(const PrefillSpan* from) {
  const auto a = __ldg(reinterpret_cast<const int4*>(from));
  const auto b = __ldg(reinterpret_cast<const int4*>(from) + 1);
  PrefillSpan span;
  span.first_page = a.x;
  span.tokens = a.y;
  span.turn = a.z;
  span.position = a.w;
  span.key_positions = b.x;
  span.stale = b.y;
  span.limit = b.z;
  return span;
}

// Where the copier stands in an item's spans.
struct CopyCursor {
  PrefillSpan span, following;  // the span at hand, and the one after it
  int s, first, end;            // its number, and the step's keys in it

  __device__ __forceinline__ CopyCursor(const PrefillArgs& args, const PrefillItem& item)
      : s(0), first(item.first_key) {
    span = load_span(args.spans + item.first_span);
    enter(args, item);
  }
  // False behind the last step.
  __device__ __forceinline__ bool next(const PrefillArgs& args, const PrefillItem& item) {
    first += kPrefillKeys;
    if (first < end) return true;
    if (++s == item.spans) return false;
    span = following;
    first = 0;
    enter(args, item);
    return true;
  }
  __device__ __forceinline__ int pages() const {
    return min(kPagesPerStep, (end - first + kPageTokens - 1) / kPageTokens);
  }
  // Asks for the number of the step's page that belongs to the lane.
  __device__ __forceinline__ int32_t fetch(const PrefillArgs& args, int lane) const {
    return lane < pages() ? __ldg(args.pages + span.first_page + first / kPageTokens + lane) : 0;
  }

 private:
  __device__ __forceinline__ void enter(const PrefillArgs& args, const PrefillItem& item) {
    end = s + 1 == item.spans ? item.end_key : span.tokens;
    if (s + 1 < item.spans) following = load_span(args.spans + item.first_span + s + 1);
  }
};

__device__ __forceinline__ Step describe_step(const PrefillArgs& args, const PrefillItem& item,
                                              const CopyCursor& at) {
  const PrefillSpan& span = at.span;
  Step step;
  step.tokens = min(kPrefillKeys, at.end - at.first);
  step.position = span.position + at.first;
  step.key_positions = span.key_positions < 0 ? -1 : span.key_positions + at.first;
  step.stale = span.stale < 0 ? -1 : span.stale + at.first / 32;
  step.limit = span.limit;
  const int last = step.position + kPrefillKeys - 1;
  const bool masked = step.tokens < kPrefillKeys || span.key_positions >= 0 || span.stale >= 0 ||
                      last >= span.limit || last > item.lowest ||
                      (args.window > 0 && item.highest - step.position >= args.window);
  step.flags = masked ? kStepMasked : 0;
  return step;
}

// One matrix of a step: lane p copies page p. from: of the lane's page
template <int kHeadDim>
__device__ __forceinline__ void copy_matrix(uint32_t matrix, uint32_t full, const std::byte* from,
                                            int pages, int lane) {
  using T = PrefillTile<kHeadDim>;
  if (lane == 0) barrier_expect(full, pages * T::kPiece);
  __syncwarp();
  if (lane < pages) bulk_copy(matrix + lane * T::kPiece, from, T::kPiece, full);
}

// The keys of a step are asked for before the values of the step before it: in the order in which
// they are needed and become free.
template <int kHeadDim>
__device__ void copy_pages(const PrefillArgs& args, const PrefillBlock& block, int lane) {
  using T = PrefillTile<kHeadDim>;
  const int64_t values_behind_keys = value_piece(0, args.kv_heads, kHeadDim);
  const std::byte* before = nullptr;  // this lane's page of the step before
  int pages_before = 0, visit = 0;
  const auto copy_values = [&](int n) {
    const Turn2 here(n);
    barrier_wait(block.values_empty + 8 * here.slot, here.parity ^ 1);
    copy_matrix<kHeadDim>(shared_address(block.values) + here.slot * T::kMatrixBytes,
                          block.values_full + 8 * here.slot, before + values_behind_keys,
                          pages_before, lane);
  };
  for (int i = block.begin; i < block.end; ++i) {
    const PrefillItem item = args.items[i];
    CopyCursor cursor(args, item);
    int32_t number = cursor.fetch(args, lane), next_number = 0;
    int turn = -2;
    for (bool more = true; more; ++visit, number = next_number) {
      Step step = describe_step(args, item, cursor);
      if (turn != cursor.span.turn) step.flags |= kStepTurned;
      const int pages = cursor.pages();
      const std::byte* page = (number < 0 ? args.widened + ~number * args.page_bytes
                                          : args.layer + number * args.page_bytes) +
                              key_piece(item.kv_head, kHeadDim);
      turn = cursor.span.turn;
      more = cursor.next(args, item);
      if (more) next_number = cursor.fetch(args, lane);
      if (!more) step.flags |= kStepLast;
      if (!more || turn != cursor.span.turn) step.flags |= kStepDone;
      const Turn2 here(visit);
      barrier_wait(block.keys_empty + 8 * here.slot, here.parity ^ 1);
      if (lane == 0) block.steps[here.slot] = step;
      copy_matrix<kHeadDim>(shared_address(block.keys) + here.slot * T::kMatrixBytes,
                            block.keys_full + 8 * here.slot, page, pages, lane);
      if (visit > 0) copy_values(visit - 1);
      before = page;
      pages_before = pages;
    }
  }
  if (visit > 0) copy_values(visit - 1);
}

}  // namespace looseleaf::cuda
