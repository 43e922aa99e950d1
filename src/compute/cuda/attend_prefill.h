// Prefill attention on Hopper: many rows of a sequence over its chunks, each bound at an offset,
// and over the sequence's own keys. Queries are turned once a chunk beside the tensor cores' work;
// keys and values enter them as stored. docs/kernels.md has the map of it and what was measured.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/span_args.h"

namespace looseleaf::cuda {

// One block a multiprocessor: PrefillShape::blocks is the number of multiprocessors.
struct PrefillArgs : SpanArgs {
  const PrefillItem* items;   // of the plan
  const int32_t* first_item;  // [blocks + 1]
  float* partial_values;      // [partials, head_dim] f32, not divided by the sum
  float2* partial_softmax;    // [partials] largest score (log2), sum
  float* out;                 // [rows, heads, head_dim] results of tiles that were not cut
  float* lse;                 // [rows, heads] of these, natural; null: not wanted
  // Keys are turned to their prompt positions instead of queries back (AttendWay::kRotateKeys).
  bool rotate_keys;
};

// head_dim is 64 or 128; else cudaErrorInvalidValue. Launch errors come back, none is left behind.
// Where the plan has merged queries, `merge_partials` belongs right behind it.
cudaError_t attend_prefill(const PrefillArgs& args, int head_dim, int blocks, cudaStream_t stream);

}  // namespace looseleaf::cuda
