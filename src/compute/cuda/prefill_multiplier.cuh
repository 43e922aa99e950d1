// The warpgroups of a prefill block that multiply, 64 of the item's query vectors each.
//
// Two overlaps keep the tensor cores busy: a warpgroup issues the scores of a step before the
// values of the step before it, so that its softmax runs beside the latter; and the two warpgroups
// issue in turn, so that one's softmax runs beside the other's products (FlashAttention-3,
// 2407.08608, section 3.1 and 3.2).
#pragma once

#include "compute/cuda/prefill_softmax.cuh"

namespace looseleaf::cuda {

// Named barriers: 0 is __syncthreads'. It is warpgroup w's turn to issue; warpgroup w's own threads
// meet.
__device__ __forceinline__ int issue_barrier(int w) { return 1 + w; }
__device__ __forceinline__ int meet_barrier(int w) { return 3 + w; }

template <int kHeadDim>
struct Multiplier {
  using T = PrefillTile<kHeadDim>;

  const PrefillArgs& args;
  const PrefillBlock& block;
  // The same in all threads of a warp, which the compiler cannot know.
  const int warpgroup = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kGroupThreads, 0);
  const int lane = threadIdx.x % 32;
  // Descriptors of the first slots; the queries are this warpgroup's.
  const uint64_t keys = matrix<kHeadDim>(shared_address(block.keys));
  const uint64_t values = matrix<kHeadDim>(shared_address(block.values));
  const uint64_t queries =
      matrix<kHeadDim>(shared_address(block.queries) + warpgroup * 8 * rows_apart(kHeadDim));
  int visit = 0;     // steps so far: keys and values of step n lie in slot n % 2
  int versions = 0;  // of turned queries so far: version v lies in slot v % 2

  static __device__ __forceinline__ uint64_t in_slot(uint64_t first, int n) {
    return moved(first, (n & 1) * T::kMatrixBytes);
  }

  // o += p v of a step, under way when it returns. v: a descriptor
  static __device__ __forceinline__ void issue_values(float (&o)[kHeadDim / 2],
                                                      const uint32_t (&p)[8][4], uint64_t v) {
    wgmma_begin();
#pragma unroll
    for (int part = 0; part < 8; ++part)
      wgmma_values(o, p[part], moved(v, part * 2 * rows_apart(kHeadDim)));
    wgmma_commit();
  }

  // Waits for the values of step n. A weight of 0 does not silence a NaN: rows that no token fills
  // are cleared.
  __device__ __forceinline__ void take_values(int n, int tokens) {
    const Turn2 here(n);
    barrier_wait(block.values_full + 8 * here.slot, here.parity);
    if (tokens == kPrefillKeys) return;
    constexpr int kGroups = kHeadDim / 8;
    char* to = block.values + here.slot * T::kMatrixBytes;
    for (int i = threadIdx.x % kGroupThreads; i < (kPrefillKeys - tokens) * kGroups;
         i += kGroupThreads)
      *reinterpret_cast<uint4*>(to + swizzled(tokens + i / kGroups, i % kGroups, kHeadDim)) =
          uint4{};
    tensor_core_fence();
    group_wait(meet_barrier(warpgroup), kGroupThreads);
  }

  // Waits for a step's keys, and for its queries. Returns the queries' descriptor.
  __device__ __forceinline__ uint64_t take_keys(int& tokens, int& flags) {
    const Turn2 here(visit);
    barrier_wait(block.keys_turned + 8 * here.slot, here.parity);
    tokens = block.steps[here.slot].tokens;
    flags = block.steps[here.slot].flags;
    if (flags & kStepTurned) {
      const Turn2 query(versions++);
      barrier_wait(block.query_full + 8 * query.slot, query.parity);
    }
    return in_slot(queries, versions - 1);
  }

  __device__ __forceinline__ void release(uint32_t barriers, int n) {
    barrier_arrive_warp(barriers + 8 * (n & 1));
  }

  // Scores of the step at hand become weights; its keys, what the copier said of it, and perhaps
  // its queries are done with.
  __device__ __forceinline__ void finish_scores(float (&s)[64], int flags, const int (&position)[2],
                                                PrefillSoftmax<kHeadDim>& softmax) {
    if (flags & kStepDone) release(block.query_empty, versions - 1);
    if (flags & kStepMasked) mask_scores(s, args, block.steps[visit & 1], position, lane);
    release(block.keys_empty, visit);
    softmax.weigh(s, args.scale_log2);
  }

  // The query of vector v of an item; -1: none. row: its number
  __device__ __forceinline__ int64_t query_of(const PrefillItem& item, int v, int& row) {
    if (v >= item.vectors) return -1;
    const int packed = args.heads / args.kv_heads, n = item.first_vector + v;
    row = __ldg(args.rows + item.first_row + n / packed);
    return int64_t{row} * args.heads + item.kv_head * packed + n % packed;
  }

  __device__ void run(const PrefillItem& item) {
    const int first =
        warpgroup * 64 + (threadIdx.x % kGroupThreads) / 32 * 16 + lane / 4;  // and + 8
    int position[2];  // in the prompt; where there is no row, before all keys
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int row = 0;
      position[h] = query_of(item, first + 8 * h, row) < 0 ? -1 : __ldg(args.positions + row);
    }

    PrefillSoftmax<kHeadDim> softmax;
    softmax.reset();
    float s[64];
    uint32_t p[8][4];
    int tokens, flags;
    uint64_t q = take_keys(tokens, flags);
    group_wait(issue_barrier(warpgroup), kMultipliers);
    issue_scores<kHeadDim>(s, q, in_slot(keys, visit));
    group_arrive(issue_barrier(1 - warpgroup), kMultipliers);
    wgmma_wait<0>(s);
    finish_scores(s, flags, position, softmax);
    pack_weights(s, p);
    while ((flags & kStepLast) == 0) {
      const int before = visit++, tokens_before = tokens;
      q = take_keys(tokens, flags);
      group_wait(issue_barrier(warpgroup), kMultipliers);
      issue_scores<kHeadDim>(s, q, in_slot(keys, visit));
      take_values(before, tokens_before);
      issue_values(softmax.o, p, in_slot(values, before));
      group_arrive(issue_barrier(1 - warpgroup), kMultipliers);
      wgmma_wait<1>(s);
      finish_scores(s, flags, position, softmax);
      wgmma_wait<0>(softmax.o);
      release(block.values_empty, before);
      softmax.shrink_sums();
      pack_weights(s, p);
    }
    take_values(visit, tokens);
    issue_values(softmax.o, p, in_slot(values, visit));
    wgmma_wait<0>(softmax.o);
    release(block.values_empty, visit++);
    softmax.finish();
    write(item, softmax, first);
  }

  __device__ __forceinline__ void write(const PrefillItem& item,
                                        const PrefillSoftmax<kHeadDim>& softmax, int first) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int row;
      const int64_t query = query_of(item, first + 8 * h, row);
      if (query < 0) continue;
      if (item.first_partial < 0) {
        const float inverse = softmax.sum[h] > 0 ? 1 / softmax.sum[h] : 0.0f;
        float* to = args.out + query * kHeadDim + lane % 4 * 2;
#pragma unroll
        for (int n = 0; n < kHeadDim / 8; ++n)
          *reinterpret_cast<float2*>(to + n * 8) = {softmax.o[4 * n + 2 * h] * inverse,
                                                    softmax.o[4 * n + 2 * h + 1] * inverse};
        if (args.lse != nullptr && lane % 4 == 0)
          args.lse[query] = natural_lse(softmax.largest[h] * args.scale_log2, softmax.sum[h]);
        continue;
      }
      const int64_t partial = item.first_partial + int64_t{first + 8 * h} * item.parts;
      if (lane % 4 == 0)
        args.partial_softmax[partial] = {softmax.largest[h] * args.scale_log2, softmax.sum[h]};
      float* to = args.partial_values + partial * kHeadDim + lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < kHeadDim / 8; ++n)
        *reinterpret_cast<float2*>(to + n * 8) = {softmax.o[4 * n + 2 * h],
                                                  softmax.o[4 * n + 2 * h + 1]};
    }
  }
};

template <int kHeadDim>
__device__ void multiply(const PrefillArgs& args, const PrefillBlock& block) {
  Multiplier<kHeadDim> multiplier{args, block};
  if (multiplier.warpgroup == 1) group_arrive(issue_barrier(0), kMultipliers);
  for (int i = block.begin; i < block.end; ++i) multiplier.run(args.items[i]);
}

}  // namespace looseleaf::cuda
