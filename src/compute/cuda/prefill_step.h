// Attention of many rows by the tensor-core kernel for prefill: see docs/kernels.md.
#pragma once

#include <vector>

#include "compute/cuda/described.h"
#include "compute/cuda/gpu.h"
#include "compute/cuda/key_spans.h"
#include "compute/cuda/packed.h"
#include "compute/cuda/short_chunks.h"
#include "compute/device.h"
#include "compute/prefill_plan.h"

namespace looseleaf::cuda {

// Whether the kernel takes all segments that are used (KeySpans::fits). Biases are not for it.
bool is_prefill_step(const AttendArgs& args);

class PrefillStep {
 public:
  // REQUIRES: is_prefill_step(args), a Hopper GPU.
  void run(Gpu& gpu, const AttendArgs& args);

 private:
  void plan(Gpu& gpu, const AttendArgs& args);
  PrefillSpan short_span(const AttendArgs& args, std::span<const SegmentUse> run, int32_t position);

  PrefillPlanner planner_;
  // What layers of a pass share, where no segment differs from layer to layer.
  Prepared prepared_;
  int active_ = 0;
  ShortChunks short_chunks_;
  KeySpans spans_;
  Packed packed_;
  struct Offsets {
    size_t items, first_item, spans, merged, first_partial;
  } at_{};               // in `packed_`
  size_t partials_ = 0;  // that there is room for
  int merged_ = 0;       // queries
  Described described_;  // `packed_`
};

}  // namespace looseleaf::cuda
