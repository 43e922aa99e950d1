// The warps of a prefill block that turn queries by their bindings: R(-s) q, once a chunk instead
// of once a key.
#pragma once

#include "compute/cuda/prefill_copier.cuh"
#include "compute/cuda/turn_keys.cuh"

namespace looseleaf::cuda {

// A thread has the same 8 pairs of dimensions, d and d + head_dim / 2, of every (turners /
// groups)-th vector.
template <int kHeadDim>
struct Turner {
  static constexpr int kHalf = kHeadDim / 2, kGroups = kHalf / 8;
  static_assert(kPrefillTurners % kGroups == 0);
  static constexpr int kApart = kPrefillTurners / kGroups;
  static constexpr int kSteps = (kPrefillVectors + kApart - 1) / kApart;
  // The piece of vector v is number v * kGroups + group, of the low dimensions and of the high
  // ones.
  static constexpr int kHighRaw = kPrefillVectors * kGroups;

  // Queries of the item, as they came but for rounding.
  static __device__ void fetch(const PrefillArgs& args, const PrefillBlock& block,
                               const PrefillItem& item, int thread) {
    const int packed = args.heads / args.kv_heads, group = thread % kGroups;
    auto* raw = reinterpret_cast<uint4*>(block.raw) + thread;
#pragma unroll 4
    for (int v = thread / kGroups; v < item.vectors; v += kApart, raw += kPrefillTurners) {
      const int n = item.first_vector + v;
      const int64_t row = __ldg(args.rows + item.first_row + n / packed);
      const float* q = args.query +
                       (row * args.heads + item.kv_head * packed + n % packed) * kHeadDim +
                       group * 8;
      raw[0] = load_rounded(q);
      raw[kHighRaw] = load_rounded(q + kHalf);
    }
  }

  // cos and sin of the thread's pairs.
  struct Angles {
    float cos[8], sin[8];
  };
  static __device__ __forceinline__ Angles angles_of(const PrefillArgs& args, int turn,
                                                     int thread) {
    Angles angles;
    const float* from = args.turns + int64_t{max(turn, 0)} * kHeadDim + thread % kGroups * 8;
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      *reinterpret_cast<float4*>(angles.cos + j) =
          turn < 0 ? float4{1, 1, 1, 1} : __ldg(reinterpret_cast<const float4*>(from + j));
      *reinterpret_cast<float4*>(angles.sin + j) =
          turn < 0 ? float4{0, 0, 0, 0} : __ldg(reinterpret_cast<const float4*>(from + kHalf + j));
    }
    return angles;
  }

  // Writes them turned to a matrix. Rows without a vector keep an older query; nobody reads their
  // results.
  static __device__ void write(const PrefillBlock& block, const PrefillItem& item, int turn,
                               const Angles& angles, char* to, int thread) {
    const int group = thread % kGroups, first = thread / kGroups;
    const auto* raw = reinterpret_cast<const uint4*>(block.raw) + thread;
    // A multiple of 8 rows on, the swizzle is the same: two places are kept, for even and odd
    // steps.
    static_assert(2 * kApart % 8 == 0);
    char* low_to[2];
    char* high_to[2];
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      low_to[odd] = to + swizzled(first + odd * kApart, group, kHeadDim);
      high_to[odd] = to + swizzled(first + odd * kApart, group + kGroups, kHeadDim);
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (first + i * kApart >= item.vectors) break;
      uint4 low = raw[i * kPrefillTurners], high = raw[i * kPrefillTurners + kHighRaw];
      if (turn >= 0) turn_eight<true>(low, high, angles.cos, angles.sin);
      *reinterpret_cast<uint4*>(low_to[i % 2] + i / 2 * (2 * kApart / 8) * rows_apart(kHeadDim)) =
          low;
      *reinterpret_cast<uint4*>(high_to[i % 2] + i / 2 * (2 * kApart / 8) * rows_apart(kHeadDim)) =
          high;
    }
  }
};

template <int kHeadDim>
__device__ void turn_prefill_queries(const PrefillArgs& args, const PrefillBlock& block,
                                     int thread) {
  using T = Turner<kHeadDim>;
  int version = 0;
  for (int i = block.begin; i < block.end; ++i) {
    const PrefillItem item = args.items[i];
    T::fetch(args, block, item, thread);
    int before = -2, next = __ldg(&args.spans[item.first_span].turn);
    for (int s = 0; s < item.spans; ++s) {
      const int turn = next;
      // Loads are asked for before they are waited for: the next span's turn here, angles before
      // the matrix is free.
      if (s + 1 < item.spans) next = __ldg(&args.spans[item.first_span + s + 1].turn);
      if (turn == before) continue;
      before = turn;
      const typename T::Angles angles = T::angles_of(args, turn, thread);
      const Turn2 here(version++);
      barrier_wait(block.query_empty + 8 * here.slot, here.parity ^ 1);
      T::write(block, item, turn, angles,
               block.queries + here.slot * PrefillTile<kHeadDim>::kMatrixBytes, thread);
      tensor_core_fence();
      barrier_arrive(block.query_full + 8 * here.slot);
    }
  }
}

// The same warps where keys are turned instead, for comparison: queries as they came once an item,
// and then the keys of each step beside the tensor cores' work, before the multipliers take them.
template <int kHeadDim>
__device__ void turn_prefill_keys(const PrefillArgs& args, const PrefillBlock& block, int thread) {
  using T = Turner<kHeadDim>;
  int visit = 0;
  for (int i = block.begin; i < block.end; ++i) {
    const PrefillItem item = args.items[i];
    T::fetch(args, block, item, thread);
    const Turn2 query(i - block.begin);
    barrier_wait(block.query_empty + 8 * query.slot, query.parity ^ 1);
    T::write(block, item, -1, {}, block.queries + query.slot * PrefillTile<kHeadDim>::kMatrixBytes,
             thread);
    tensor_core_fence();
    barrier_arrive(block.query_full + 8 * query.slot);
    KeyTurner<kHeadDim, kPrefillTurners> turner;
    int before = -1;
    for (bool more = true; more; ++visit) {
      const Turn2 here(visit);
      barrier_wait(block.keys_full + 8 * here.slot, here.parity);
      const Step& step = block.steps[here.slot];
      more = (step.flags & kStepLast) == 0;
      if (step.turn >= 0) {
        if (step.turn != before) turner.load(args.turns, step.turn, thread);
        before = step.turn;
        turner.turn(shared_address(block.keys) + here.slot * PrefillTile<kHeadDim>::kMatrixBytes,
                    step.tokens, thread);
        tensor_core_fence();
      }
      barrier_arrive(block.keys_turned + 8 * here.slot);
    }
  }
}

}  // namespace looseleaf::cuda
