// A plan on the GPU with everything that the two kernels need, ready to be launched again and
// again.
#pragma once

#include <cuda_bf16.h>

#include "compute/cuda/attend_decode.h"
#include "gpu.h"
#include "workload.h"

namespace looseleaf::bench {

// One layer of the pages of a pool of chunks.
class Pages {
 public:
  // As many pages, contents not set.
  Pages(const Heads& heads, int pages);
  void fill_random(uint64_t seed);

  const GpuArray<std::byte>& memory() const { return memory_; }
  const int32_t* numbers() const { return numbers_.data(); }

 private:
  KvType type_;
  GpuArray<std::byte> memory_;  // [pages] of page_layout.h or page_layout_fp8.h
  GpuArray<int32_t> numbers_;   // [pages]
};

// Roughly normal values of deviation 1.
void fill_random(__nv_bfloat16* to, int64_t count, uint64_t seed);

class DecodeRun {
 public:
  // Views of `pages`, `query` and `out` ([requests, heads, head_dim]), which outlive it. Partials
  // are poisoned.
  DecodeRun(const Heads& heads, const Workload& load, const AttendPlan& plan, const Pages& pages,
            const __nv_bfloat16* query, __nv_bfloat16* out);

  void launch(cudaStream_t stream) const;
  void launch_decode(cudaStream_t stream) const;  // without the merge
  int64_t partials() const { return static_cast<int64_t>(partial_softmax_.size()); }

 private:
  Heads heads_;
  int blocks_;
  GpuArray<float> turns_;  // [bindings][2][head_dim / 2]
  GpuArray<WorkItem> items_;
  GpuArray<int32_t> first_item_;  // [blocks + 1]
  GpuArray<QueryVector> vectors_;
  GpuArray<int32_t> first_partial_;   // [queries + 1]
  GpuArray<float> partial_values_;    // [partials, head_dim]
  GpuArray<float2> partial_softmax_;  // [partials]
  cuda::DecodeArgs decode_;
  cuda::MergeArgs merge_;
};

}  // namespace looseleaf::bench
