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

// One token and where it goes.
struct GpuMove {
  std::byte* from_page;
  std::byte* to_page;
  int32_t from_slot, to_slot;
  int32_t to_view;
};

// turn: [2][rotary_dims / 2] or null
void gather(const PageView& from, const PageView* views, const GpuMove* moves, int count, int layer,
            const float* turn, int rotary_dims, RopePairs pairs, cudaStream_t stream);

}  // namespace looseleaf::cuda
