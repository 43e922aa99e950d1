#include "compute/cuda/attend_rows.h"

#include "compute/cuda/kv_codec.cuh"
#include "compute/cuda/rotary.cuh"

namespace looseleaf::cuda {
namespace {

constexpr int kWarps = 4, kTileThreads = 32 * kWarps;
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

// The tile's queries, turned back for the segment. q: [kTile][kDim]
template <class S>
__device__ void load_queries(const AttendLaunch& a, const AttendTile& tile, const float* turn,
                             float* q) {
  const int share = a.heads / a.kv_heads, kv_head = blockIdx.y;
  for (int i = threadIdx.x; i < S::kTile * S::kDim; i += kTileThreads) {
    const int v = i / S::kDim, d = i % S::kDim, g = tile.first_vector + v;
    float x = 0;
    if (v < tile.vectors && d < a.head_dim) {
      const int64_t row = a.rows[tile.first_row + g / share];
      x = a.query[(row * a.heads + kv_head * share + g % share) * a.head_dim + d];
    }
    q[i] = x;
  }
  if (turn == nullptr) return;
  __syncthreads();
  const int half = a.rotary_dims / 2;
  for (int i = threadIdx.x; i < tile.vectors * half; i += kTileThreads)
    turn_pair(q + i / half * S::kDim, turn, i % half, a.rotary_dims, a.pairs, true);
}

// A page's K and V as floats. Slots without a token are 0: a weight of 0 does not silence a NaN.
template <class S>
__device__ void load_page(const PageView& view, const std::byte* k, const std::byte* v, int count,
                          float* keys, float* values) {
  const int dim = view.head_dim;
  if (dim % 4 == 0) {
    for (int i = threadIdx.x; i < kPageTokens * S::kDim / 4; i += kTileThreads) {
      const int slot = i / (S::kDim / 4), d = i % (S::kDim / 4) * 4;
      const bool there = slot < count && d < dim;
      const float4 zero{0, 0, 0, 0};
      *reinterpret_cast<float4*>(keys + slot * S::kKeyStride + d) =
          there ? load_four(view, k, slot, d) : zero;
      *reinterpret_cast<float4*>(values + slot * S::kDim + d) =
          there ? load_four(view, v, slot, d) : zero;
    }
    return;
  }
  for (int i = threadIdx.x; i < kPageTokens * S::kDim; i += kTileThreads) {
    const int slot = i / S::kDim, d = i % S::kDim;
    const bool there = slot < count && d < dim;
    keys[slot * S::kKeyStride + d] = there ? load_element(view, k, slot, d) : 0;
    values[slot * S::kDim + d] = there ? load_element(view, v, slot, d) : 0;
  }
}

// Running softmax of a warp's vectors (1805.02867). A lane has dimensions lane, lane + 32, ... of
// each, and the weights of its own keys in `sum`.
template <int kDims, int kVectors>
struct Running {
  float values[kVectors][kDims];
  float largest[kVectors];
  float sum[kVectors];
};

template <int kDims, int kVectors>
__global__ void __launch_bounds__(kTileThreads) attend_kernel(const AttendLaunch a) {
  using S = Shape<kDims, kVectors>;
  extern __shared__ float4 shared4[];
  float* q = reinterpret_cast<float*>(shared4);
  float* keys = q + S::kTile * S::kDim;
  float* values = keys + kPageTokens * S::kKeyStride;
  const AttendTile tile = a.tiles[blockIdx.x];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int share = a.heads / a.kv_heads, kv_head = blockIdx.y;

  int64_t row_head[kVectors];  // -1: no vector
  int position[kVectors];
  float slope[kVectors];
  Running<kDims, kVectors> run;
#pragma unroll
  for (int n = 0; n < kVectors; ++n) {
    const int v = warp * kVectors + n, g = tile.first_vector + v;
    row_head[n] = -1;
    position[n] = 0;
    slope[n] = 0;
    if (v < tile.vectors) {
      const int row = a.rows[tile.first_row + g / share], head = kv_head * share + g % share;
      row_head[n] = int64_t{row} * a.heads + head;
      position[n] = a.positions[row];
      if (a.alibi != nullptr) slope[n] = a.alibi[head];
    }
    run.largest[n] = -INFINITY;
    run.sum[n] = 0;
#pragma unroll
    for (int i = 0; i < kDims; ++i) run.values[n][i] = 0;
  }

  for (int u = tile.first_use; u <= tile.last_use; ++u) {
    const GpuUse use = a.uses[u];
    const GpuSegment& segment = a.segments[use.segment];
    const PageView view = segment.view;
    const int32_t* counts = part_of<int32_t>(a, segment.count_by_layer_at);
    const int tokens = counts == nullptr ? segment.count : counts[a.layer];
    const int32_t* positions = part_of<int32_t>(a, segment.positions_at);
    const int64_t stale_words = (int64_t{segment.count} + 63) / 64;
    const uint64_t* stale = part_of<uint64_t>(a, segment.stale_at);
    if (stale != nullptr) stale += a.layer * stale_words;
    std::byte* const* pages = part_of<std::byte*>(a, segment.pages_at);
    const int first = u == tile.first_use ? tile.first_page : 0;
    int end = (tokens + kPageTokens - 1) / kPageTokens;
    if (u == tile.last_use) end = min(end, tile.end_page);
    if (first >= end) continue;
    __syncthreads();  // nobody reads the last segment's queries any more
    load_queries<S>(a, tile, part_of<float>(a, segment.turn_at), q);

    for (int page = first; page < end; ++page) {
      const int token = page * kPageTokens + lane;
      if (positions == nullptr) {
        // Of consecutive positions, whole pages can be left out: the same for all threads.
        const int64_t start = int64_t{segment.position} + page * kPageTokens;
        if (start > tile.highest || start >= use.limit) break;
        if (a.window > 0 && int64_t{tile.lowest} - (start + kPageTokens - 1) >= a.window) continue;
      }
      __syncthreads();  // nobody reads the last page any more; the queries are there
      load_page<S>(view, head_piece(view, pages[page], a.layer, kv_head, false),
                   head_piece(view, pages[page], a.layer, kv_head, true),
                   min(kPageTokens, tokens - page * kPageTokens), keys, values);
      __syncthreads();

      const int64_t key_position = positions == nullptr
                                       ? int64_t{segment.position} + token
                                       : int64_t{positions[min(token, segment.count - 1)]};
      bool usable = token < tokens && key_position < use.limit;
      if (usable && stale != nullptr) usable = (stale[token / 64] >> (token % 64) & 1) == 0;

      float score[kVectors];
#pragma unroll
      for (int n = 0; n < kVectors; ++n) score[n] = 0;
      const float* key = keys + lane * S::kKeyStride;
      const float* query = q + warp * kVectors * S::kDim;
#pragma unroll 8
      for (int d = 0; d < S::kDim; d += 4) {
        const float4 k = *reinterpret_cast<const float4*>(key + d);
#pragma unroll
        for (int n = 0; n < kVectors; ++n) {
          const float4 x = *reinterpret_cast<const float4*>(query + n * S::kDim + d);
          score[n] += x.x * k.x + x.y * k.y + x.z * k.z + x.w * k.w;
        }
      }
#pragma unroll
      for (int n = 0; n < kVectors; ++n) {
        const int64_t distance = position[n] - key_position;
        const bool visible =
            usable && row_head[n] >= 0 && distance >= 0 && (a.window == 0 || distance < a.window);
        const float s =
            visible ? score[n] * a.scale - slope[n] * static_cast<float>(distance) : -INFINITY;
        const float most = fmaxf(run.largest[n], warp_max(s));
        // As long as no key was visible all weights are 0.
        const float base = most == -INFINITY ? 0.0f : most;
        const float shrink = expf(run.largest[n] - base);
        score[n] = expf(s - base);
        run.largest[n] = most;
        run.sum[n] = run.sum[n] * shrink + score[n];
#pragma unroll
        for (int i = 0; i < kDims; ++i) run.values[n][i] *= shrink;
      }
#pragma unroll 4
      for (int j = 0; j < kPageTokens; ++j) {
        float value[kDims];
#pragma unroll
        for (int i = 0; i < kDims; ++i) value[i] = values[j * S::kDim + lane + 32 * i];
#pragma unroll
        for (int n = 0; n < kVectors; ++n) {
          const float weight = __shfl_sync(~0u, score[n], j);
#pragma unroll
          for (int i = 0; i < kDims; ++i) run.values[n][i] += weight * value[i];
        }
      }
    }
  }

#pragma unroll
  for (int n = 0; n < kVectors; ++n) {
    const float sum = warp_sum(run.sum[n]);
    if (row_head[n] < 0) continue;
    float factor = sum > 0 ? 1.0f / sum : 0.0f;
    float* to = a.out + row_head[n] * a.head_dim;
    if (tile.parts > 1) {
      const int g = tile.first_vector + warp * kVectors + n;
      const int64_t partial =
          tile.first_partial +
          (int64_t{g / share} * a.heads + kv_head * share + g % share) * tile.parts + tile.part;
      factor = 1;
      to = a.partial_values + partial * a.head_dim;
      if (lane == 0) a.partial_softmax[partial] = {run.largest[n], sum};
    } else if (a.lse != nullptr && lane == 0) {
      a.lse[row_head[n]] = run.largest[n] + logf(sum);
    }
#pragma unroll
    for (int i = 0; i < kDims; ++i)
      if (lane + 32 * i < a.head_dim) to[lane + 32 * i] = run.values[n][i] * factor;
  }
}

// A warp a row and head; parts are added in prompt order.
__global__ void merge_kernel(const AttendLaunch a, const MergeRow* rows) {
  const MergeRow row = rows[blockIdx.x];
  const int head = blockIdx.y, lane = threadIdx.x;
  const int64_t first = row.first_partial + int64_t{head} * row.parts;
  const int64_t row_head = int64_t{row.row} * a.heads + head;
  float most = -INFINITY, sum = 0;
  for (int p = 0; p < row.parts; ++p) most = fmaxf(most, a.partial_softmax[first + p].x);
  const float base = most == -INFINITY ? 0.0f : most;
  for (int p = 0; p < row.parts; ++p) {
    const float2 softmax = a.partial_softmax[first + p];
    sum += softmax.y * expf(softmax.x - base);
  }
  const float inverse = sum > 0 ? 1.0f / sum : 0.0f;
  for (int d = lane; d < a.head_dim; d += 32) {
    float value = 0;
    for (int p = 0; p < row.parts; ++p)
      value += a.partial_values[(first + p) * a.head_dim + d] *
               expf(a.partial_softmax[first + p].x - base);
    a.out[row_head * a.head_dim + d] = value * inverse;
  }
  if (a.lse != nullptr && lane == 0) a.lse[row_head] = most + logf(sum);
}

template <int kDims, int kVectors>
void launch_shape(const AttendLaunch& a, cudaStream_t stream) {
  using S = Shape<kDims, kVectors>;
  if constexpr (S::kShared > 48 * 1024)
    check(cudaFuncSetAttribute(attend_kernel<kDims, kVectors>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, S::kShared),
          "preparing attention");
  const dim3 grid(static_cast<unsigned>(a.tile_count), static_cast<unsigned>(a.kv_heads));
  attend_kernel<kDims, kVectors><<<grid, kTileThreads, S::kShared, stream>>>(a);
}

template <int kVectors>
void launch_dims(const AttendLaunch& a, cudaStream_t stream) {
  const int dims = (a.head_dim + 31) / 32;
  if (dims <= 1) return launch_shape<1, kVectors>(a, stream);
  if (dims <= 2) return launch_shape<2, kVectors>(a, stream);
  if (dims <= 3) return launch_shape<3, kVectors>(a, stream);
  if (dims <= 4) return launch_shape<4, kVectors>(a, stream);
  if (dims <= 6) return launch_shape<6, kVectors>(a, stream);
  launch_shape<8, kVectors>(a, stream);
}

}  // namespace

void attend_rows(const AttendLaunch& a, cudaStream_t stream) {
  if (a.tile_count == 0) return;
  if (a.most_vectors <= kFewVectors)
    launch_dims<kFewVectors / kWarps>(a, stream);
  else
    launch_dims<kManyVectors / kWarps>(a, stream);
  launched("attending");
}

void merge_rows(const AttendLaunch& a, const MergeRow* rows, int count, cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(a.heads));
  merge_kernel<<<grid, 32, 0, stream>>>(a, rows);
  launched("merging attention");
}

}  // namespace looseleaf::cuda
