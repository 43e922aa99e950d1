// What kernels that go through the pages of segments share: shapes, queries and pages as floats in
// shared memory.
#pragma once

#include "compute/cuda/attend_rows.h"
#include "compute/cuda/kv_codec.cuh"
#include "compute/cuda/rotary.cuh"

namespace looseleaf::cuda {

inline constexpr int kWarps = 4, kTileThreads = 32 * kWarps;
static_assert(kPageTokens == 32, "a lane has one key of a page");

// Shapes of a tile: kDims * 32 dimensions, kVectors of the tile's vectors a warp.
template <int kDims, int kVectors>
struct Shape {
  static constexpr int kDim = 32 * kDims;          // the head's, rounded up; the rest is 0
  static constexpr int kTile = kWarps * kVectors;  // vectors
  static constexpr int kKeyStride = kDim + 4;      // lanes of a quarter warp read different banks
  static constexpr int kShared = (kTile * kDim + kPageTokens * kKeyStride + kPageTokens * kDim) *
                                 static_cast<int>(sizeof(float));
};

template <class T>
__device__ __forceinline__ const T* part_of(const AttendLaunch& a, int64_t at) {
  return at < 0 ? nullptr : reinterpret_cast<const T*>(a.description + at);
}

// Vectors [first, first + count) of a group, turned back for a segment. rows: the group's;
// q: [kTile][kDim]
template <class S>
__device__ void load_queries(const AttendLaunch& a, const int32_t* rows, int first, int count,
                             int kv_head, const float* turn, float* q) {
  const int share = a.heads / a.kv_heads;
  for (int i = threadIdx.x; i < S::kTile * S::kDim; i += kTileThreads) {
    const int v = i / S::kDim, d = i % S::kDim, g = first + v;
    float x = 0;
    if (v < count && d < a.head_dim) {
      const int64_t row = rows[g / share];
      x = a.query[(row * a.heads + kv_head * share + g % share) * a.head_dim + d];
    }
    q[i] = x;
  }
  if (turn == nullptr) return;
  __syncthreads();
  const int half = a.rotary_dims / 2;
  for (int i = threadIdx.x; i < count * half; i += kTileThreads)
    turn_pair(q + i / half * S::kDim, turn, i % half, a.rotary_dims, a.pairs, true);
}

// A page's K or V as floats. Slots without a token are 0: a weight of 0 does not silence a NaN.
// to: [kPageTokens][stride]
template <class S>
__device__ void load_page(const PageView& view, const Piece& piece, int count, int stride,
                          float* to) {
  const int dim = view.head_dim;
  if (dim % 4 == 0) {
    for (int i = threadIdx.x; i < kPageTokens * S::kDim / 4; i += kTileThreads) {
      const int slot = i / (S::kDim / 4), d = i % (S::kDim / 4) * 4;
      *reinterpret_cast<float4*>(to + slot * stride + d) =
          slot < count && d < dim ? load_four(view, piece, slot, d) : float4{0, 0, 0, 0};
    }
    return;
  }
  for (int i = threadIdx.x; i < kPageTokens * S::kDim; i += kTileThreads) {
    const int slot = i / S::kDim, d = i % S::kDim;
    to[slot * stride + d] = slot < count && d < dim ? load_element(view, piece, slot, d) : 0;
  }
}

// Scores of kVectors vectors with a lane's key, not scaled. query: [kVectors][kDim]
template <class S, int kVectors>
__device__ __forceinline__ void multiply_keys(const float* query, const float* key,
                                              float (&score)[kVectors]) {
#pragma unroll
  for (int n = 0; n < kVectors; ++n) score[n] = 0;
#pragma unroll 8
  for (int d = 0; d < S::kDim; d += 4) {
    const float4 k = *reinterpret_cast<const float4*>(key + d);
#pragma unroll
    for (int n = 0; n < kVectors; ++n) {
      const float4 x = *reinterpret_cast<const float4*>(query + n * S::kDim + d);
      score[n] += x.x * k.x + x.y * k.y + x.z * k.z + x.w * k.w;
    }
  }
}

// A segment as one use of a layer sees it.
struct Keys {
  const int32_t* positions;  // or null
  const uint64_t* stale;     // of the layer, or null
  std::byte* const* pages;
  const float* turn;  // or null
  int position, tokens, count, limit;

  __device__ Keys(const AttendLaunch& a, const GpuSegment& s, int limit_in)
      : positions(part_of<int32_t>(a, s.positions_at)),
        stale(part_of<uint64_t>(a, s.stale_at)),
        pages(part_of<std::byte*>(a, s.pages_at)),
        turn(part_of<float>(a, s.turn_at)),
        position(s.position),
        count(s.count),
        limit(limit_in) {
    const int32_t* counts = part_of<int32_t>(a, s.count_by_layer_at);
    tokens = counts == nullptr ? count : counts[a.layer];
    if (stale != nullptr) stale += a.layer * ((int64_t{count} + 63) / 64);
  }
  __device__ int64_t position_of(int token) const {
    return positions == nullptr ? int64_t{position} + token : positions[min(token, count - 1)];
  }
  // Whether any row may see it, but for the rows' own positions.
  __device__ bool usable(int token, int64_t key_position) const {
    if (token >= tokens || key_position >= limit) return false;
    return stale == nullptr || (stale[token / 64] >> (token % 64) & 1) == 0;
  }
};

// Calls launch.template operator()<kDims>() for heads of up to 32 * kDims dimensions.
template <class Launch>
void with_dims(int head_dim, const Launch& launch) {
  const int dims = (head_dim + 31) / 32;
  if (dims <= 1) return launch.template operator()<1>();
  if (dims <= 2) return launch.template operator()<2>();
  if (dims <= 3) return launch.template operator()<3>();
  if (dims <= 4) return launch.template operator()<4>();
  if (dims <= 6) return launch.template operator()<6>();
  launch.template operator()<8>();
}

}  // namespace looseleaf::cuda
