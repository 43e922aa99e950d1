// Writing and moving keys and values. Pointers are the GPU's; all run in the given stream.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/page_view.h"
#include "model/rope.h"

namespace looseleaf::cuda {

// A KvSlot; views are those of the call.
struct GpuSlot {
  std::byte* page;  // null: nowhere
  int32_t slot;
  int32_t view;
};

// k, v: [count, kv_heads, head_dim]
void store(const PageView* views, const GpuSlot* slots, int count, int kv_heads, int layer,
           const float* k, const float* v, cudaStream_t stream);

// Rows of a layer, before rotation.
struct Placing {
  const PageView* views;
  const GpuSlot* slots;  // [key_rows]
  const float* angles;   // [rows][2][rotary_dims / 2]
  float* query;          // [query_rows, heads, head_dim] turned in place
  const float* key;      // [key_rows, kv_heads, head_dim] turned on their way
  const float* value;    // [key_rows, kv_heads, head_dim]
  int32_t query_rows, key_rows;
  int32_t layer, heads, kv_heads, head_dim, rotary_dims;
  RopePairs pairs;
};
void place(const Placing& placing, cudaStream_t stream);

// One token and where it goes.
struct GpuMove {
  std::byte* from_page;
  std::byte* to_page;
  int32_t from_slot, to_slot;
  int32_t from_view, to_view;
  int64_t turn;  // by which its key is turned; -1: none
};

// turns: [turns][2][rotary_dims / 2]
// REQUIRES: all views have `kv_heads`.
void gather(const PageView* views, const GpuMove* moves, int count, int kv_heads, int layer,
            const float* turns, int rotary_dims, RopePairs pairs, cudaStream_t stream);

// A page and the view in which it is stored, of the call's.
struct GpuPage {
  std::byte* at;
  int64_t view;
};

// One layer of pages as bf16, as page_layout.h has it, page after page. Slots that no token fills
// get anything. REQUIRES: heads of 64 or 128, the same in all views.
void widen_pages(const PageView* views, const GpuPage* pages, int count, int kv_heads, int layer,
                 std::byte* to, cudaStream_t stream);

// Token i is in pages[i / kPageTokens].
struct StoredTokens {
  PageView view;
  std::byte* const* pages;
};

// out[i] = squared distance of the values of token first + i of `fresh` and token i of `stored`.
void value_deviation(const StoredTokens& fresh, const StoredTokens& stored, int32_t first,
                     int count, int layer, float* out, cudaStream_t stream);

}  // namespace looseleaf::cuda
