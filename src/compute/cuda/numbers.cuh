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

// Comparisons, not fmin: a NaN stays one.
__device__ __forceinline__ __half to_half(float x) {
  return __float2half_rn(x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x);
}

}  // namespace looseleaf::cuda
