// Float rows to and from the stored types of a page: the GPU's compute/cpu/kv_codec.h.
#pragma once

#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"
#include "compute/cuda/page_view.h"

namespace looseleaf::cuda {

// One head's K (or V) in a layer of a page. REQUIRES: layer >= view.first_layer.
__device__ __forceinline__ std::byte* head_piece(const PageView& view, std::byte* page, int layer,
                                                 int head, bool value) {
  return page + (layer - view.first_layer) * view.layer_stride +
         int64_t{value ? view.kv_heads + head : head} * view.head_bytes;
}

__device__ __forceinline__ float load_scale(const PageView& view, const std::byte* piece,
                                            int slot) {
  return __half2float(reinterpret_cast<const __half*>(piece + view.scales_offset)[slot]);
}

__device__ __forceinline__ float load_element(const PageView& view, const std::byte* piece,
                                              int slot, int dim) {
  const int at = slot * view.head_dim + dim;
  switch (view.type) {
    case KvType::kBF16:
      return __bfloat162float(*reinterpret_cast<const __nv_bfloat16*>(
          piece + (view.swizzled ? element_offset(slot, dim, view.head_dim) : 2 * at)));
    case KvType::kF16:
      return __half2float(reinterpret_cast<const __half*>(piece)[at]);
    case KvType::kQ8_0:
      return static_cast<float>(reinterpret_cast<const int8_t*>(piece)[at]) *
             load_scale(view, piece, slot);
    default:
      return reinterpret_cast<const float*>(piece)[at];
  }
}

// Dimensions dim .. dim + 3. REQUIRES: dim and head_dim are multiples of 4.
__device__ __forceinline__ float4 load_four(const PageView& view, const std::byte* piece, int slot,
                                            int dim) {
  const int at = slot * view.head_dim + dim;
  switch (view.type) {
    case KvType::kBF16: {
      const auto four = *reinterpret_cast<const uint2*>(
          piece + (view.swizzled ? element_offset(slot, dim, view.head_dim) : 2 * at));
      return {__uint_as_float(four.x << 16), __uint_as_float(four.x & 0xFFFF0000u),
              __uint_as_float(four.y << 16), __uint_as_float(four.y & 0xFFFF0000u)};
    }
    case KvType::kF16: {
      const auto four = *reinterpret_cast<const uint2*>(piece + 2 * at);
      const float2 low = __half22float2(*reinterpret_cast<const __half2*>(&four.x));
      const float2 high = __half22float2(*reinterpret_cast<const __half2*>(&four.y));
      return {low.x, low.y, high.x, high.y};
    }
    case KvType::kQ8_0: {
      const auto four = *reinterpret_cast<const char4*>(piece + at);
      const float scale = load_scale(view, piece, slot);
      return {static_cast<float>(four.x) * scale, static_cast<float>(four.y) * scale,
              static_cast<float>(four.z) * scale, static_cast<float>(four.w) * scale};
    }
    default:
      return *reinterpret_cast<const float4*>(piece + 4 * at);
  }
}

// The scale is rounded up to f16, so that no code is cut off: as kv_codec.cc does.
__device__ __forceinline__ __half round_scale_up(float wanted) {
  __half scale = to_half(wanted);
  if (__half2float(scale) < wanted && __half_as_ushort(scale) < 0x7BFF)
    scale = __ushort_as_half(__half_as_ushort(scale) + 1);
  return scale;
}

// One token, by a whole warp. row: [head_dim]
__device__ __forceinline__ void store_row(const PageView& view, std::byte* piece, int slot,
                                          const float* row, int lane) {
  float inverse = 0;
  if (view.type == KvType::kQ8_0) {
    float largest = 0;
    for (int d = lane; d < view.head_dim; d += 32) largest = fmaxf(largest, fabsf(row[d]));
    const __half scale = round_scale_up(warp_max(largest) / 127.0f);
    if (lane == 0) reinterpret_cast<__half*>(piece + view.scales_offset)[slot] = scale;
    if (__half2float(scale) > 0) inverse = 1.0f / __half2float(scale);
  }
  for (int d = lane; d < view.head_dim; d += 32) {
    const int at = slot * view.head_dim + d;
    switch (view.type) {
      case KvType::kBF16:
        *reinterpret_cast<__nv_bfloat16*>(
            piece + (view.swizzled ? element_offset(slot, d, view.head_dim) : 2 * at)) =
            __float2bfloat16_rn(row[d]);
        break;
      case KvType::kF16:
        reinterpret_cast<__half*>(piece)[at] = to_half(row[d]);
        break;
      case KvType::kQ8_0:
        reinterpret_cast<int8_t*>(piece)[at] =
            static_cast<int8_t>(fminf(fmaxf(rintf(row[d] * inverse), -127.0f), 127.0f));
        break;
      default:
        reinterpret_cast<float*>(piece)[at] = row[d];
    }
  }
}

}  // namespace looseleaf::cuda
