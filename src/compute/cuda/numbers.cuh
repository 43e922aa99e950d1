// Reading and rounding the number formats on the GPU.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "compute/cuda/numbers.h"

namespace looseleaf::cuda {

__device__ __forceinline__ float load_number(const void* from, Number type, int64_t at) {
  switch (type) {
    case Number::kBF16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(from)[at]);
    case Number::kF16:
      return __half2float(static_cast<const __half*>(from)[at]);
    default:
      return static_cast<const float*>(from)[at];
  }
}

// 1 or 4 floats; 4 are 16-byte aligned.
__device__ __forceinline__ void load_floats(const float* from, float (&to)[1]) { to[0] = *from; }
__device__ __forceinline__ void load_floats(const float* from, float (&to)[4]) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}
__device__ __forceinline__ void store_floats(const float (&from)[1], float* to) { *to = from[0]; }
__device__ __forceinline__ void store_floats(const float (&from)[4], float* to) {
  *reinterpret_cast<float4*>(to) = {from[0], from[1], from[2], from[3]};
}

// Comparisons, not fmin: a NaN stays one.
__device__ __forceinline__ __half to_half(float x) {
  return __float2half_rn(x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x);
}

// Rounded to nearest, from element `at` on. REQUIRES: `type` is bf16 or f16.
template <int kCount>
__device__ __forceinline__ void store_rounded(const float (&from)[kCount], Number type, void* to,
                                              int64_t at) {
  uint16_t bits[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    bits[i] = type == Number::kBF16 ? __bfloat16_as_ushort(__float2bfloat16_rn(from[i]))
                                    : __half_as_ushort(to_half(from[i]));
  auto* place = static_cast<uint16_t*>(to) + at;
  if constexpr (kCount == 4)
    *reinterpret_cast<uint2*>(place) = {bits[0] | uint32_t{bits[1]} << 16,
                                        bits[2] | uint32_t{bits[3]} << 16};
  else
    *place = bits[0];
}

}  // namespace looseleaf::cuda
