#include "compute/cuda/row_product.h"

#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"

namespace looseleaf::cuda {
namespace {

// A warp has one output at a time, or a part of its columns, and two chunks of columns on their way
// while it multiplies a third: 2 to 4 KB in flight, four blocks a multiprocessor.
constexpr int kRowWarps = 8, kRowThreads = 32 * kRowWarps, kRowBlocks = 4;
constexpr int kStep = 4;  // columns of a thread

// Loads of a chunk: 16 registers.
template <class W, int kStreams>
constexpr int kLoads = 16 / (kStreams * static_cast<int>(sizeof(W)));
template <class W, int kStreams>
constexpr int kChunk = 32 * kStep* kLoads<W, kStreams>;  // columns

// Four weights.
template <class W>
struct Four;
template <>
struct Four<__nv_bfloat16> {
  uint2 raw;
  __device__ __forceinline__ float4 floats() const {
    return {__uint_as_float(raw.x << 16), __uint_as_float(raw.x & 0xFFFF0000u),
            __uint_as_float(raw.y << 16), __uint_as_float(raw.y & 0xFFFF0000u)};
  }
};
template <>
struct Four<__half> {
  uint2 raw;
  __device__ __forceinline__ float4 floats() const {
    const float2 low = __half22float2(*reinterpret_cast<const __half2*>(&raw.x));
    const float2 high = __half22float2(*reinterpret_cast<const __half2*>(&raw.y));
    return {low.x, low.y, high.x, high.y};
  }
};
template <>
struct Four<float> {
  float4 raw;
  __device__ __forceinline__ float4 floats() const { return raw; }
};

// Weights are read once: they are not to push x out of L1.
__device__ __forceinline__ void load_once(uint2& to, const void* from) {
  asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
               : "=r"(to.x), "=r"(to.y)
               : "l"(from));
}
__device__ __forceinline__ void load_once(float4& to, const void* from) {
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to.x), "=f"(to.y), "=f"(to.z), "=f"(to.w)
               : "l"(from));
}

__device__ __forceinline__ float silu(float x) { return x / (1.0f + expf(-x)); }

template <class W, int kRows, bool kGated>
struct RowProductWarp {
  static constexpr int kStreams = kGated ? 2 : 1;  // matrices read side by side
  static constexpr int kLoads = ::looseleaf::cuda::kLoads<W, kStreams>;
  static constexpr int kChunk = ::looseleaf::cuda::kChunk<W, kStreams>;
  using Chunk = Four<W>[kStreams][kLoads];

  const RowProducts& p;
  const int lane = threadIdx.x % 32;

  // Where an output of all products is: which product's, and which of its outputs.
  __device__ __forceinline__ int product_of(int64_t& output) const {
    if (kGated) return 0;
    int which = 0;
    while (which + 1 < p.count && output >= p.each[which].outputs)
      output -= p.each[which++].outputs;
    return which;
  }

  __device__ __forceinline__ void load(Chunk& to, int64_t output, int chunk) const {
    const int which = product_of(output);
#pragma unroll
    for (int s = 0; s < kStreams; ++s) {
      const auto* row = static_cast<const W*>(p.each[which + s].w) + output * p.cols;
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        const int column = chunk * kChunk + (i * 32 + lane) * kStep;
        if (column < p.cols) load_once(to[s][i].raw, row + column);
      }
    }
  }

  __device__ __forceinline__ void multiply(const Chunk& weights, int chunk,
                                           float4 (&sum)[kStreams][kRows]) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int column = chunk * kChunk + (i * 32 + lane) * kStep;
      if (column >= p.cols) return;
      float4 w[kStreams];
#pragma unroll
      for (int s = 0; s < kStreams; ++s) w[s] = weights[s][i].floats();
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const auto x = *reinterpret_cast<const float4*>(p.x + min(r, p.rows - 1) * p.cols + column);
#pragma unroll
        for (int s = 0; s < kStreams; ++s) {
          sum[s][r].x += w[s].x * x.x;
          sum[s][r].y += w[s].y * x.y;
          sum[s][r].z += w[s].z * x.z;
          sum[s][r].w += w[s].w * x.w;
        }
      }
    }
  }

  __device__ __forceinline__ float biased(int which, int64_t output, float total) const {
    const float* bias = p.each[which].bias;
    return bias == nullptr ? total : total + bias[output];
  }
  // totals: of the streams
  __device__ __forceinline__ void write(int64_t output, int row,
                                        const float (&totals)[kStreams]) const {
    if (row >= p.rows) return;
    const int which = product_of(output);
    const RowProducts::Each& product = p.each[which];
    float& y = product.y[row * product.outputs + output];
    const float total = biased(which, output, totals[0]);
    if constexpr (kGated)
      y = silu(total) * biased(which + 1, output, totals[1]);
    else
      y = p.output == RowOutput::kAccumulate ? y + total : total;
  }
};

// parts: warps that share out the columns of an output, a power of two up to kRowWarps
template <class W, int kRows, bool kGated>
__global__ void __launch_bounds__(kRowThreads, kRowBlocks)
    row_product_kernel(const RowProducts p, int64_t outputs, int parts) {
  using Warp = RowProductWarp<W, kRows, kGated>;
  __shared__ float sums[kRowWarps][Warp::kStreams][kRows];
  const Warp warp{p};
  const int number = threadIdx.x / 32, part = number % parts;
  const int chunks = static_cast<int>((p.cols + Warp::kChunk - 1) / Warp::kChunk);
  const int first_chunk = chunks * part / parts, end_chunk = chunks * (part + 1) / parts;
  const int64_t step = int64_t{gridDim.x} * (kRowWarps / parts);
  int64_t output = int64_t{blockIdx.x} * (kRowWarps / parts) + number / parts;

  // What is asked for next: two chunks ahead of what is multiplied, through all of the warp's
  // outputs.
  int64_t next_output = output;
  int next_chunk = first_chunk;
  const auto load_next = [&](typename Warp::Chunk& to) {
    if (next_output >= outputs) return;
    warp.load(to, next_output, next_chunk);
    if (++next_chunk < end_chunk) return;
    next_chunk = first_chunk;
    next_output += step;
  };
  typename Warp::Chunk even, odd;
  bool at_odd = false;
  // Weights are nobody's result: the first are on their way while the kernel before ends.
  load_next(even);
  load_next(odd);
  begin_overlapped();

  // All warps of a block go round as often: they meet where outputs are shared.
  for (int64_t block_first = int64_t{blockIdx.x} * (kRowWarps / parts); block_first < outputs;
       block_first += step, output += step) {
    float4 sum[Warp::kStreams][kRows] = {};
    for (int chunk = first_chunk; chunk < end_chunk && output < outputs; ++chunk) {
      if (at_odd) {
        warp.multiply(odd, chunk, sum);
        load_next(odd);
      } else {
        warp.multiply(even, chunk, sum);
        load_next(even);
      }
      at_odd = !at_odd;
    }
    float totals[Warp::kStreams][kRows];
#pragma unroll
    for (int s = 0; s < Warp::kStreams; ++s)
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float4 four = sum[s][r];
        totals[s][r] = warp_sum((four.x + four.y) + (four.z + four.w));
      }
    if (parts > 1) {
      if (warp.lane == 0)
        for (int s = 0; s < Warp::kStreams; ++s)
          for (int r = 0; r < kRows; ++r) sums[number][s][r] = totals[s][r];
      __syncthreads();
      if (part == 0)
        for (int s = 0; s < Warp::kStreams; ++s)
          for (int r = 0; r < kRows; ++r)
            for (int n = 1; n < parts; ++n) totals[s][r] += sums[number + n][s][r];
      __syncthreads();
    }
    if (part != 0 || warp.lane != 0 || output >= outputs) continue;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float of_row[Warp::kStreams];
#pragma unroll
      for (int s = 0; s < Warp::kStreams; ++s) of_row[s] = totals[s][r];
      warp.write(output, r, of_row);
    }
  }
}

// Into how many parts columns are cut, so that warps end together: the last round of outputs may
// leave most of them idle.
int parts_for(int64_t outputs, int64_t chunks) {
  const int64_t warps = int64_t{multiprocessors()} * kRowBlocks * kRowWarps;
  int best = 1;
  double most = 0;
  for (int parts = 1; parts <= 4 && parts <= chunks; parts *= 2) {
    const int64_t rounds = (outputs * parts + warps - 1) / warps;
    const double busy = static_cast<double>(outputs * parts) / static_cast<double>(rounds * warps);
    if (busy > most + 0.05) {
      most = busy;
      best = parts;
    }
  }
  return best;
}

template <class W>
void launch_type(const RowProducts& p, cudaStream_t stream) {
  const bool gated = p.output == RowOutput::kGate;
  int64_t outputs = p.each[0].outputs;
  for (int i = 1; i < p.count && !gated; ++i) outputs += p.each[i].outputs;
  const int64_t chunk = gated ? kChunk<W, 2> : kChunk<W, 1>;
  const int parts = parts_for(outputs, (p.cols + chunk - 1) / chunk);
  const int64_t blocks = std::min<int64_t>((outputs * parts + kRowWarps - 1) / kRowWarps,
                                           int64_t{multiprocessors()} * kRowBlocks);
  const auto kernel =
      p.rows == 1 ? (gated ? row_product_kernel<W, 1, true> : row_product_kernel<W, 1, false>)
                  : (gated ? row_product_kernel<W, kFewRows, true>
                           : row_product_kernel<W, kFewRows, false>);
  launch_overlapped(kernel, static_cast<unsigned>(blocks), kRowThreads, stream, p, outputs, parts);
}

}  // namespace

void row_products(const RowProducts& p, cudaStream_t stream) {
  if (p.type == Number::kBF16)
    launch_type<__nv_bfloat16>(p, stream);
  else if (p.type == Number::kF16)
    launch_type<__half>(p, stream);
  else
    launch_type<float>(p, stream);
  launched("multiplying few rows");
}

}  // namespace looseleaf::cuda
