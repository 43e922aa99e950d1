#include "compute/cuda/row_product.h"

#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"

namespace looseleaf::cuda {
namespace {

// A block has 8 outputs, its threads share out the columns: all weights of a step are asked for
// together, 16 bytes each.
constexpr int kOutputs = 8, kMostThreads = 256;

template <class W>
constexpr int kStep = 16 / static_cast<int>(sizeof(W));  // columns

__device__ __forceinline__ void unpack(const uint4& from, float (&to)[8], __nv_bfloat16) {
  const uint32_t words[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[2 * i] = __uint_as_float(words[i] << 16);
    to[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000u);
  }
}
__device__ __forceinline__ void unpack(const uint4& from, float (&to)[8], __half) {
  const auto* halves = reinterpret_cast<const __half2*>(&from);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 two = __half22float2(halves[i]);
    to[2 * i] = two.x;
    to[2 * i + 1] = two.y;
  }
}
__device__ __forceinline__ void unpack(const uint4& from, float (&to)[4], float) {
  to[0] = __uint_as_float(from.x);
  to[1] = __uint_as_float(from.y);
  to[2] = __uint_as_float(from.z);
  to[3] = __uint_as_float(from.w);
}

// Read once: not to be kept in L1.
__device__ __forceinline__ uint4 load_once(const void* from) {
  uint4 x;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(from));
  return x;
}

template <class W, int kRows>
__global__ void __launch_bounds__(kMostThreads) row_product_kernel(const RowProducts p) {
  __shared__ float sums[kMostThreads / 32][kOutputs][kRows];
  int64_t first = int64_t{blockIdx.x} * kOutputs;
  int which = 0;
  while (which + 1 < p.count && first >= p.each[which].outputs) {
    first -= (p.each[which].outputs + kOutputs - 1) / kOutputs * kOutputs;
    ++which;
  }
  const RowProducts::Each product = p.each[which];
  const auto* w = static_cast<const W*>(product.w);
  const int stride = static_cast<int>(blockDim.x) * kStep<W>;
  int64_t column = threadIdx.x * kStep<W>;

  // Outputs beyond the last read the last one's weights, and are not written.
  const auto load = [&](uint4(&to)[kOutputs], int64_t at) {
#pragma unroll
    for (int o = 0; o < kOutputs; ++o)
      to[o] = load_once(w + min(first + o, product.outputs - 1) * p.cols + at);
  };
  uint4 weights[kOutputs];
  // Weights are nobody's result: they are on their way while the kernel before ends.
  if (column < p.cols) load(weights, column);
  begin_overlapped();

  float sum[kOutputs][kRows] = {};
  while (column < p.cols) {
    float x[kRows][kStep<W>];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int i = 0; i < kStep<W>; i += 4)
        *reinterpret_cast<float4*>(x[r] + i) = *reinterpret_cast<const float4*>(
            p.x + int64_t{min(r, p.rows - 1)} * p.cols + column + i);
    uint4 now[kOutputs];
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) now[o] = weights[o];
    column += stride;
    if (column < p.cols) load(weights, column);
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      float values[kStep<W>];
      unpack(now[o], values, W{});
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int i = 0; i < kStep<W>; ++i) sum[o][r] += values[i] * x[r][i];
    }
  }

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int o = 0; o < kOutputs; ++o)
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float of_warp = warp_sum(sum[o][r]);
      if (lane == 0) sums[warp][o][r] = of_warp;
    }
  __syncthreads();
  for (int i = threadIdx.x; i < kOutputs * kRows; i += blockDim.x) {
    const int o = i / kRows, r = i % kRows;
    if (first + o >= product.outputs || r >= p.rows) continue;
    float total = product.bias == nullptr ? 0.0f : product.bias[first + o];
    for (int n = 0; n < static_cast<int>(blockDim.x) / 32; ++n) total += sums[n][o][r];
    float& to = product.y[r * product.outputs + first + o];
    to = p.accumulate ? to + total : total;
  }
}

template <class W>
void launch_type(const RowProducts& p, cudaStream_t stream) {
  int64_t blocks = 0;
  for (int i = 0; i < p.count; ++i) blocks += (p.each[i].outputs + kOutputs - 1) / kOutputs;
  const int64_t steps = (p.cols / kStep<W> + 31) / 32 * 32;
  const auto threads = static_cast<unsigned>(std::min<int64_t>(steps, kMostThreads));
  const auto kernel = p.rows == 1   ? row_product_kernel<W, 1>
                      : p.rows == 2 ? row_product_kernel<W, 2>
                      : p.rows <= 4 ? row_product_kernel<W, 4>
                                    : row_product_kernel<W, kFewRows>;
  launch_overlapped(kernel, static_cast<unsigned>(blocks), threads, stream, p);
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
