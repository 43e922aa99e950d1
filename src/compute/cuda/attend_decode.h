// Decode attention on Hopper, chunk-major: each work item takes one KV head of one chunk and the
// query vectors of all requests that use it, reads keys and values once, and leaves one partial
// softmax a vector. `merge_partials` adds them up. docs/kernels.md has the map of it and what was
// measured.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/attend_plan.h"
#include "compute/cuda/check.h"
#include "compute/cuda/numbers.h"

namespace looseleaf::cuda {

// Blocks that one multiprocessor runs at the same time; PlanShape::blocks is this times the
// multiprocessors.
inline constexpr int kDecodeBlocksPerSm = 2;

// All pointers are the GPU's. Nothing of a page beyond an item's tokens is used, whatever it holds.
struct DecodeArgs {
  const float* query;      // [rows, heads, head_dim] rotated to prompt positions
  const float* turns;      // [bindings][2][head_dim / 2] cos, then sin; pairs are halves
  const std::byte* layer;  // this layer of page 0, as in page_layout.h
  int64_t page_bytes;      // from a page to the next
  const int32_t* pages;    // numbers of the pages that items name
  int kv_heads;
  float scale_log2;           // softmax scale times log2(e)
  const WorkItem* items;      // of the plan
  const int32_t* first_item;  // [blocks + 1]
  const QueryVector* vectors;
  float* partial_values;    // [partials, head_dim] f32, not divided by the sum
  float2* partial_softmax;  // [partials] largest score (log2), sum
  // Keys are turned to their prompt positions instead of queries back (AttendWay::kRotateKeys): all
  // vectors of an item have one turn, which the plan sees to where it is not chunk-major.
  bool rotate_keys;
};

struct MergeArgs {
  const float* partial_values;    // [partials, head_dim]
  const float2* partial_softmax;  // [partials]
  const int32_t* first_partial;   // [queries + 1]
  const int32_t* merged;          // [queries] row * heads + head; null: query i is i
  float* out;                     // [rows, heads, head_dim] 0 for a query without partials
  void* rounded;                  // [rows, heads, head_dim] a copy of it; null: none
  Number rounded_type;            // bf16 or f16
  float* lse;  // [rows, heads] natural, -inf for a query without partials; null: not wanted
  int queries;
};

// head_dim is 64 or 128; else cudaErrorInvalidValue. Launch errors come back, none is left behind.
cudaError_t attend_decode(const DecodeArgs& args, int head_dim, int blocks, cudaStream_t stream);

// Belongs right behind `attend_decode` in the same stream: it starts while that still runs.
cudaError_t merge_partials(const MergeArgs& args, int head_dim, cudaStream_t stream);
// The same for Gpu::launch.
inline void launch_merge(const MergeArgs& args, int head_dim, cudaStream_t stream) {
  check(merge_partials(args, head_dim, stream), "merging attention");
}

}  // namespace looseleaf::cuda
