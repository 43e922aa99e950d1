// What the tensor-core kernels for many rows read besides their plans: queries, the spans
// (compute/prefill_plan.h) that these attend over, and the pages, turns and masks of spans.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/prefill_plan.h"

namespace looseleaf::cuda {

// All pointers are the GPU's. Nothing of a page beyond a span's tokens is used, whatever it holds.
struct SpanArgs {
  const float* query;            // [rows, heads, head_dim] rotated to prompt positions
  const int32_t* rows;           // row numbers, by group, of a group ascending in position
  const int32_t* positions;      // [rows] of the pass, prompt positions
  const PrefillSpan* spans;      // of the plan
  const float* turns;            // [bindings][2][head_dim / 2] cos, then sin; pairs are halves
  const std::byte* layer;        // this layer of page 0, as in page_layout.h
  int64_t page_bytes;            // from a page to the next
  const int32_t* pages;          // numbers of the pages that spans name
  const int32_t* key_positions;  // of spans that name them
  const uint32_t* stale;         // of spans that name them
  int heads, kv_heads;
  int window;        // 0: none
  float scale_log2;  // softmax scale times log2(e)
};

}  // namespace looseleaf::cuda
