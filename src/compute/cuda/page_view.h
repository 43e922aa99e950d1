// A KvLayout as kernels see it: offsets without the host's tables.
#pragma once

#include <cstdint>

#include "compute/cuda/page_layout.h"
#include "compute/cuda/page_layout_fp8.h"
#include "compute/kv_layout.h"

namespace looseleaf::cuda {

// How a head's K or V lies in its piece of a page.
enum class PieceForm : uint8_t {
  kRows,  // rows of head_dim codes one after the other, scales behind them
  kBF16,  // operands of the tensor cores: page_layout.h
  kFP8,   // page_layout_fp8.h
};

struct PageView {
  int64_t layer_stride;   // from a layer to the next; 0: one place for all
  int32_t head_bytes;     // one head's K or V
  int32_t scales_offset;  // in a head's piece of rows
  int32_t kv_heads;
  int32_t head_dim;
  int32_t first_layer;  // layers below have no place
  int16_t element_bytes;
  KvType type;
  PieceForm form;
};

// Heads that the tensor-core kernels know are stored as they want them.
inline PieceForm piece_form(const KvLayout& layout) {
  if (layout.head_dim != 64 && layout.head_dim != 128) return PieceForm::kRows;
  if (layout.type == KvType::kBF16) return PieceForm::kBF16;
  if (layout.type == KvType::kFP8) return PieceForm::kFP8;
  return PieceForm::kRows;
}
inline bool is_swizzled(const KvLayout& layout) { return piece_form(layout) == PieceForm::kBF16; }

// Heads that the tensor-core kernel for many rows takes from bf16 copies: bf16 holds their numbers
// with less than a code's error.
inline bool is_widened(const KvLayout& layout) {
  return (layout.head_dim == 64 || layout.head_dim == 128) &&
         (layout.type == KvType::kFP8 || layout.type == KvType::kQ8_0);
}

inline PageView page_view(const KvLayout& layout) {
  return {layout.layers == 1 ? 0 : layout.layer_bytes(),
          static_cast<int32_t>(layout.head_bytes()),
          static_cast<int32_t>(layout.scales_offset()),
          layout.kv_heads,
          layout.head_dim,
          layout.first_layer,
          static_cast<int16_t>(layout.element_bytes()),
          layout.type,
          piece_form(layout)};
}

// Bytes that every page's address is a multiple of, from the pool's start: kernels name pages by
// 32-bit multiples of it, enough for 512 GiB.
inline constexpr int64_t kPageUnit = 256;

// Heads up to this size have kernels.
inline constexpr int kMaxHeadDim = 256;

}  // namespace looseleaf::cuda
