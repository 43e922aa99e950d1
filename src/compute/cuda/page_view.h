// A KvLayout as kernels see it: offsets without the host's tables.
#pragma once

#include <cstdint>

#include "compute/cuda/page_layout.h"
#include "compute/kv_layout.h"

namespace looseleaf::cuda {

struct PageView {
  int64_t layer_stride;   // from a layer to the next; 0: one place for all
  int32_t head_bytes;     // one head's K or V
  int32_t scales_offset;  // of q8_0, in a head's piece
  int32_t kv_heads;
  int32_t head_dim;
  int32_t first_layer;  // layers below have no place
  KvType type;
  bool swizzled;  // page_layout.h; else rows of head_dim values one after the other
};

// bf16 heads that the tensor-core kernels know are stored as they want them.
inline bool is_swizzled(const KvLayout& layout) {
  return layout.type == KvType::kBF16 && (layout.head_dim == 64 || layout.head_dim == 128);
}

inline PageView page_view(const KvLayout& layout) {
  return {layout.layers == 1 ? 0 : layout.layer_bytes(),
          static_cast<int32_t>(layout.head_bytes()),
          static_cast<int32_t>(layout.scales_offset()),
          layout.kv_heads,
          layout.head_dim,
          layout.first_layer,
          layout.type,
          is_swizzled(layout)};
}

// Bytes that every page's address is a multiple of, from the pool's start: kernels name pages by
// 32-bit multiples of it, enough for 512 GiB.
inline constexpr int64_t kPageUnit = 256;

// Heads up to this size have kernels.
inline constexpr int kMaxHeadDim = 256;

}  // namespace looseleaf::cuda
