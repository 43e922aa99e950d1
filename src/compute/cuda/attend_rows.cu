#include "compute/cuda/attend_tile.cuh"

namespace looseleaf::cuda {
namespace {

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
    const Keys source(a, segment, use.limit);
    const int first = u == tile.first_use ? tile.first_page : 0;
    int end = (source.tokens + kPageTokens - 1) / kPageTokens;
    if (u == tile.last_use) end = min(end, tile.end_page);
    if (first >= end) continue;
    __syncthreads();  // nobody reads the last segment's queries any more
    load_queries<S>(a, a.rows + tile.first_row, tile.first_vector, tile.vectors, kv_head,
                    source.turn, q);

    for (int page = first; page < end; ++page) {
      const int token = page * kPageTokens + lane;
      if (source.positions == nullptr) {
        // Of consecutive positions, whole pages can be left out: the same for all threads.
        const int64_t start = source.position_of(page * kPageTokens);
        if (start > tile.highest || start >= use.limit) break;
        if (a.window > 0 && int64_t{tile.lowest} - (start + kPageTokens - 1) >= a.window) continue;
      }
      __syncthreads();  // nobody reads the last page any more; the queries are there
      const int filled = min(kPageTokens, source.tokens - page * kPageTokens);
      std::byte* const there = source.pages[page];
      load_page<S>(view, head_piece(view, there, a.layer, kv_head, false), filled, S::kKeyStride,
                   keys);
      load_page<S>(view, head_piece(view, there, a.layer, kv_head, true), filled, S::kDim, values);
      __syncthreads();

      const int64_t key_position = source.position_of(token);
      const bool usable = source.usable(token, key_position);
      float score[kVectors];
      multiply_keys<S>(q + warp * kVectors * S::kDim, keys + lane * S::kKeyStride, score);
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

}  // namespace

void attend_rows(const AttendLaunch& a, cudaStream_t stream) {
  if (a.tile_count == 0) return;
  with_dims(a.head_dim, [&]<int kDims>() {
    if (a.most_vectors <= kFewVectors)
      launch_shape<kDims, kFewVectors / kWarps>(a, stream);
    else
      launch_shape<kDims, kManyVectors / kWarps>(a, stream);
  });
  launched("attending");
}

void merge_rows(const AttendLaunch& a, const MergeRow* rows, int count, cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(a.heads));
  merge_kernel<<<grid, 32, 0, stream>>>(a, rows);
  launched("merging attention");
}

}  // namespace looseleaf::cuda
