// Turning keys to their prompt positions in shared memory, once a key and reader: what attention
// without deferred positions does (AttendWay::kRotateKeys). It is here to be compared with.
#pragma once

#include "compute/cuda/hopper.cuh"

namespace looseleaf::cuda {

// Eight pairs (d, d + head_dim / 2), turned by their angles or, with `kBack`, back by them.
template <bool kBack>
__device__ __forceinline__ void turn_eight(uint4& low, uint4& high, const float (&cos)[8],
                                           const float (&sin)[8]) {
  auto* a = reinterpret_cast<__nv_bfloat162*>(&low);
  auto* b = reinterpret_cast<__nv_bfloat162*>(&high);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 x = __bfloat1622float2(a[j]), y = __bfloat1622float2(b[j]);
    const float c0 = cos[2 * j], c1 = cos[2 * j + 1];
    const float s0 = kBack ? -sin[2 * j] : sin[2 * j];
    const float s1 = kBack ? -sin[2 * j + 1] : sin[2 * j + 1];
    a[j] = __floats2bfloat162_rn(x.x * c0 - y.x * s0, x.y * c1 - y.y * s1);
    b[j] = __floats2bfloat162_rn(y.x * c0 + x.x * s0, y.y * c1 + x.y * s1);
  }
}

// Of `kThreads` threads each has the same 8 pairs of dimensions, d and d + head_dim / 2, of every
// (threads / groups)-th key, and keeps the angles of these from key to key.
template <int kHeadDim, int kThreads>
struct KeyTurner {
  static constexpr int kHalf = kHeadDim / 2, kGroups = kHalf / 8, kApart = kThreads / kGroups;
  static_assert(kThreads % kGroups == 0);

  float cos[8], sin[8];

  // turns: [bindings][2][head_dim / 2]; turn: 0 or more
  __device__ __forceinline__ void load(const float* turns, int turn, int thread) {
    const float* from = turns + int64_t{turn} * kHeadDim + thread % kGroups * 8;
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      *reinterpret_cast<float4*>(cos + j) = __ldg(reinterpret_cast<const float4*>(from + j));
      *reinterpret_cast<float4*>(sin + j) =
          __ldg(reinterpret_cast<const float4*>(from + kHalf + j));
    }
  }

  // Rows [0, count) of a matrix of page_layout.h at a shared address. Two keys' loads are under way
  // together.
  __device__ __forceinline__ void turn(uint32_t keys, int count, int thread) const {
    constexpr int kBatch = 2;
    const int group = thread % kGroups;
    for (int first = thread / kGroups; first < count; first += kBatch * kApart) {
      uint4 low[kBatch], high[kBatch];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        const int row = first + b * kApart;
        if (row >= count) continue;
        low[b] = load_shared(keys + swizzled(row, group, kHeadDim));
        high[b] = load_shared(keys + swizzled(row, group + kGroups, kHeadDim));
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        const int row = first + b * kApart;
        if (row >= count) continue;
        turn_eight<false>(low[b], high[b], cos, sin);
        store_shared(keys + swizzled(row, group, kHeadDim), low[b]);
        store_shared(keys + swizzled(row, group + kGroups, kHeadDim), high[b]);
      }
    }
  }
};

}  // namespace looseleaf::cuda
