// Prefill attention on Hopper: many rows of a sequence over its chunks, each bound at an offset,
// and over the sequence's own keys. Queries are turned once a chunk beside the tensor cores' work;
// keys and values enter them as stored. docs/kernels.md has the map of it and what was measured.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/prefill_plan.h"

namespace looseleaf::cuda {

// One block a multiprocessor: PrefillShape::blocks is the number of multiprocessors.
// All pointers are the GPU's. Nothing of a page beyond a span's tokens is used, whatever it holds.
struct PrefillArgs {
  const __nv_bfloat16* query;    // [rows, heads, head_dim] rotated to prompt positions
  const int32_t* rows;           // row numbers, by group
  const int32_t* positions;      // [rows] of the pass, prompt positions
  const float* turns;            // [bindings][2][head_dim / 2] cos, then sin; pairs are halves
  const std::byte* layer;        // this layer of page 0, as in page_layout.h
  int64_t page_bytes;            // from a page to the next
  const std::byte* widened;      // page 0 of copies of this layer alone, laid out in the same way
  const int32_t* pages;          // numbers of the pages that spans name; ~number: of a copy
  const int32_t* key_positions;  // of spans that name them
  const uint32_t* stale;         // of spans that name them
  int heads, kv_heads;
  int window;                 // 0: none
  float scale_log2;           // softmax scale times log2(e)
  const PrefillItem* items;   // of the plan
  const int32_t* first_item;  // [blocks + 1]
  const PrefillSpan* spans;
  float* partial_values;    // [partials, head_dim] f32, not divided by the sum
  float2* partial_softmax;  // [partials] largest score (log2), sum
  __nv_bfloat16* out;       // [rows, heads, head_dim] results of tiles that were not cut
};

// head_dim is 64 or 128; else cudaErrorInvalidValue. Launch errors come back, none is left behind.
// Where the plan has merged queries, `merge_partials` belongs right behind it.
cudaError_t attend_prefill(const PrefillArgs& args, int head_dim, int blocks, cudaStream_t stream);

}  // namespace looseleaf::cuda
