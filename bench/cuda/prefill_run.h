// A prefill plan on the GPU with everything that the kernels need, ready to be launched again and
// again.
#pragma once

#include "compute/cuda/attend_decode.h"
#include "compute/cuda/attend_prefill.h"
#include "decode_run.h"
#include "gpu.h"
#include "prefill_work.h"

namespace looseleaf::bench {

class PrefillRun {
 public:
  // Views of `pages`, `query` and `out` ([rows, heads, head_dim]), which outlive it. Partials are
  // poisoned.
  PrefillRun(const Heads& heads, const PrefillWork& work, const PrefillPlan& plan,
             const Pages& pages, const __nv_bfloat16* query, __nv_bfloat16* out);

  void launch(cudaStream_t stream) const;
  int64_t partials() const { return static_cast<int64_t>(partial_softmax_.size()); }

 private:
  Heads heads_;
  int blocks_;
  GpuArray<int32_t> rows_, positions_, key_positions_;
  GpuArray<uint32_t> stale_;
  GpuArray<float> turns_;  // [bindings][2][head_dim / 2]
  GpuArray<PrefillItem> items_;
  GpuArray<int32_t> first_item_;  // [blocks + 1]
  GpuArray<PrefillSpan> spans_;
  GpuArray<int32_t> merged_, first_partial_;
  GpuArray<float> partial_values_;    // [partials, head_dim]
  GpuArray<float2> partial_softmax_;  // [partials]
  cuda::PrefillArgs prefill_;
  cuda::MergeArgs merge_;
};

}  // namespace looseleaf::bench
