// What attention gives each key, in a second sweep: a block takes one page through all vectors of a
// group, so that each key's sum has one owner and one order.
#include "compute/cuda/attend_tile.cuh"

namespace looseleaf::cuda {
namespace {

constexpr int kVectors = kManyVectors / kWarps;

template <int kDims>
__global__ void __launch_bounds__(kTileThreads)
    mass_kernel(const AttendLaunch a, const MassTask* tasks) {
  using S = Shape<kDims, kVectors>;
  extern __shared__ float4 shared4[];
  float* q = reinterpret_cast<float*>(shared4);
  float* keys = q + S::kTile * S::kDim;
  __shared__ float sums[kWarps][kPageTokens];
  const MassTask task = tasks[blockIdx.x];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int share = a.heads / a.kv_heads;
  const GpuUse use = a.uses[task.use];
  const GpuSegment& segment = a.segments[use.segment];
  const Keys source(a, segment, use.limit);
  const int token = task.page * kPageTokens + lane;
  const int64_t key_position = source.position_of(token);
  const bool usable = source.usable(token, key_position);
  const int32_t* rows = a.rows + task.first_row;

  float mass = 0;
  for (int kv_head = 0; kv_head < a.kv_heads; ++kv_head) {
    __syncthreads();
    load_page<S>(segment.view,
                 head_piece(segment.view, source.pages[task.page], a.layer, kv_head, false),
                 min(kPageTokens, source.tokens - task.page * kPageTokens), S::kKeyStride, keys);
    for (int first = 0; first < task.vectors; first += S::kTile) {
      __syncthreads();
      load_queries<S>(a, rows, first, min(S::kTile, task.vectors - first), kv_head, source.turn, q);
      __syncthreads();
      float score[kVectors];
      multiply_keys<S>(q + warp * kVectors * S::kDim, keys + lane * S::kKeyStride, score);
      for (int n = 0; n < kVectors; ++n) {
        const int g = first + warp * kVectors + n;
        if (g >= task.vectors) break;
        const int row = rows[g / share], head = kv_head * share + g % share;
        const int64_t distance = a.positions[row] - key_position;
        if (!usable || distance < 0 || (a.window > 0 && distance >= a.window)) continue;
        const float slope = a.alibi == nullptr ? 0.0f : a.alibi[head];
        mass += expf(score[n] * a.scale - slope * static_cast<float>(distance) -
                     a.lse[int64_t{row} * a.heads + head]);
      }
    }
  }
  sums[warp][lane] = mass;
  __syncthreads();
  if (warp > 0 || token >= source.tokens) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) total += sums[w][lane];
  a.mass[task.mass + token] += total;
}

template <int kDims>
void launch_mass(const AttendLaunch& a, const MassTask* tasks, int count, cudaStream_t stream) {
  using S = Shape<kDims, kVectors>;
  constexpr int kShared = (S::kTile * S::kDim + kPageTokens * S::kKeyStride) * 4;
  if constexpr (kShared > 48 * 1024)
    check(cudaFuncSetAttribute(mass_kernel<kDims>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kShared),
          "preparing scores");
  mass_kernel<kDims><<<static_cast<unsigned>(count), kTileThreads, kShared, stream>>>(a, tasks);
}

}  // namespace

void attend_mass(const AttendLaunch& a, const MassTask* tasks, int count, cudaStream_t stream) {
  if (count == 0) return;
  with_dims(a.head_dim, [&]<int kDims>() { launch_mass<kDims>(a, tasks, count, stream); });
  launched("scoring");
}

}  // namespace looseleaf::cuda
