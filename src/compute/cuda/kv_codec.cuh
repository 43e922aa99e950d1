// Float rows to and from the stored types of a page: the GPU's compute/cpu/kv_codec.h.
#pragma once

#include <cuda_fp8.h>

#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"
#include "compute/cuda/page_view.h"

namespace looseleaf::cuda {

// One head's K or V in a layer of a page.
struct Piece {
  std::byte* at;
  bool value;
};

// REQUIRES: layer >= view.first_layer.
__device__ __forceinline__ Piece head_piece(const PageView& view, std::byte* page, int layer,
                                            int head, bool value) {
  return {page + (layer - view.first_layer) * view.layer_stride +
              int64_t{value ? view.kv_heads + head : head} * view.head_bytes,
          value};
}

// Where a code of the token in `slot` lies in the piece.
__device__ __forceinline__ std::byte* code_at(const PageView& view, const Piece& piece, int slot,
                                              int dim) {
  switch (view.form) {
    case PieceForm::kBF16:
      return piece.at + element_offset(slot, dim, view.head_dim);
    case PieceForm::kFP8:
      return piece.at +
             (piece.value ? fp8_value_offset(slot, dim) : fp8_key_offset(slot, dim, view.head_dim));
    default:
      return piece.at + (slot * view.head_dim + dim) * view.element_bytes;
  }
}

// And its scale. REQUIRES: the type has scales.
__device__ __forceinline__ __half& scale_at(const PageView& view, const Piece& piece, int slot) {
  int at = view.scales_offset + 2 * slot;
  if (view.form == PieceForm::kFP8)
    at = piece.value ? fp8_value_scale_offset(slot, view.head_dim)
                     : fp8_key_scale_offset(slot, view.head_dim);
  return *reinterpret_cast<__half*>(piece.at + at);
}

__device__ __forceinline__ float from_fp8(__nv_fp8_storage_t code) {
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3)));
}

__device__ __forceinline__ float load_element(const PageView& view, const Piece& piece, int slot,
                                              int dim) {
  const std::byte* code = code_at(view, piece, slot, dim);
  switch (view.type) {
    case KvType::kBF16:
      return __bfloat162float(*reinterpret_cast<const __nv_bfloat16*>(code));
    case KvType::kF16:
      return __half2float(*reinterpret_cast<const __half*>(code));
    case KvType::kQ8_0:
      return static_cast<float>(*reinterpret_cast<const int8_t*>(code)) *
             __half2float(scale_at(view, piece, slot));
    case KvType::kFP8:
      return from_fp8(*reinterpret_cast<const __nv_fp8_storage_t*>(code)) *
             __half2float(scale_at(view, piece, slot));
    default:
      return *reinterpret_cast<const float*>(code);
  }
}

// Dimensions dim .. dim + 3. REQUIRES: dim and head_dim are multiples of 4.
__device__ __forceinline__ float4 load_four(const PageView& view, const Piece& piece, int slot,
                                            int dim) {
  const std::byte* code = code_at(view, piece, slot, dim);
  switch (view.type) {
    case KvType::kBF16: {
      const auto four = *reinterpret_cast<const uint2*>(code);
      return {__uint_as_float(four.x << 16), __uint_as_float(four.x & 0xFFFF0000u),
              __uint_as_float(four.y << 16), __uint_as_float(four.y & 0xFFFF0000u)};
    }
    case KvType::kF16: {
      const auto four = *reinterpret_cast<const uint2*>(code);
      const float2 low = __half22float2(*reinterpret_cast<const __half2*>(&four.x));
      const float2 high = __half22float2(*reinterpret_cast<const __half2*>(&four.y));
      return {low.x, low.y, high.x, high.y};
    }
    case KvType::kQ8_0: {
      const auto four = *reinterpret_cast<const char4*>(code);
      const float scale = __half2float(scale_at(view, piece, slot));
      return {static_cast<float>(four.x) * scale, static_cast<float>(four.y) * scale,
              static_cast<float>(four.z) * scale, static_cast<float>(four.w) * scale};
    }
    case KvType::kFP8: {
      // Of transposed values, four dimensions of a token lie in four rows of a block.
      const int apart = view.form == PieceForm::kFP8 && piece.value ? 16 : 1;
      const auto* codes = reinterpret_cast<const __nv_fp8_storage_t*>(code);
      const float scale = __half2float(scale_at(view, piece, slot));
      return {from_fp8(codes[0]) * scale, from_fp8(codes[apart]) * scale,
              from_fp8(codes[2 * apart]) * scale, from_fp8(codes[3 * apart]) * scale};
    }
    default:
      return *reinterpret_cast<const float4*>(code);
  }
}

// The scale is rounded up to f16, so that no code is cut off: as kv_codec.cc does.
__device__ __forceinline__ __half round_scale_up(float wanted) {
  __half scale = to_half(wanted);
  if (__half2float(scale) < wanted && __half_as_ushort(scale) < 0x7BFF)
    scale = __ushort_as_half(__half_as_ushort(scale) + 1);
  return scale;
}

// What the largest magnitude of a row is brought to by its scale; 0: the type has no scales.
__device__ __forceinline__ float largest_code(KvType type) {
  return type == KvType::kQ8_0 ? 127.0f : type == KvType::kFP8 ? 448.0f : 0.0f;
}

// One token, by a whole warp. row: [head_dim]
__device__ __forceinline__ void store_row(const PageView& view, const Piece& piece, int slot,
                                          const float* row, int lane) {
  float inverse = 0;
  if (const float most = largest_code(view.type); most > 0) {
    float largest = 0;
    for (int d = lane; d < view.head_dim; d += 32) largest = fmaxf(largest, fabsf(row[d]));
    const __half scale = round_scale_up(warp_max(largest) / most);
    if (lane == 0) scale_at(view, piece, slot) = scale;
    if (__half2float(scale) > 0) inverse = 1.0f / __half2float(scale);
  }
  for (int d = lane; d < view.head_dim; d += 32) {
    std::byte* code = code_at(view, piece, slot, d);
    switch (view.type) {
      case KvType::kBF16:
        *reinterpret_cast<__nv_bfloat16*>(code) = __float2bfloat16_rn(row[d]);
        break;
      case KvType::kF16:
        *reinterpret_cast<__half*>(code) = to_half(row[d]);
        break;
      case KvType::kQ8_0:
        *reinterpret_cast<int8_t*>(code) =
            static_cast<int8_t>(fminf(fmaxf(rintf(row[d] * inverse), -127.0f), 127.0f));
        break;
      case KvType::kFP8:
        *reinterpret_cast<__nv_fp8_storage_t*>(code) =
            __nv_cvt_float_to_fp8(row[d] * inverse, __NV_SATFINITE, __NV_E4M3);
        break;
      default:
        *reinterpret_cast<float*>(code) = row[d];
    }
  }
}

// One token as it is stored, by a whole warp. REQUIRES: the same type and head_dim.
__device__ __forceinline__ void copy_row(const PageView& from_view, const Piece& from,
                                         int from_slot, const PageView& to_view, const Piece& to,
                                         int to_slot, int lane) {
  for (int d = lane; d < from_view.head_dim; d += 32) {
    const std::byte* code = code_at(from_view, from, from_slot, d);
    std::byte* target = code_at(to_view, to, to_slot, d);
    switch (from_view.element_bytes) {
      case 1:
        *target = *code;
        break;
      case 2:
        *reinterpret_cast<uint16_t*>(target) = *reinterpret_cast<const uint16_t*>(code);
        break;
      default:
        *reinterpret_cast<uint32_t*>(target) = *reinterpret_cast<const uint32_t*>(code);
    }
  }
  if (lane == 0 && largest_code(from_view.type) > 0)
    scale_at(to_view, to, to_slot) = scale_at(from_view, from, from_slot);
}

}  // namespace looseleaf::cuda
