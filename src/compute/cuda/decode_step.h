// Attention of a pure decode step by the tensor-core kernel: chunk-major, see docs/kernels.md.
#pragma once

#include "compute/attend_plan.h"
#include "compute/cuda/gpu.h"
#include "compute/cuda/packed.h"
#include "compute/device.h"

namespace looseleaf::cuda {

// Whether every group is one row that sees all tokens of its segments, stored in bf16 as the kernel
// wants them. Stale bits, overlays, limits, windows and biases are not for it.
bool is_decode_step(const AttendArgs& args);

class DecodeStep {
 public:
  // REQUIRES: is_decode_step(args), a Hopper GPU.
  void run(Gpu& gpu, const AttendArgs& args);

 private:
  void plan(const Gpu& gpu, const AttendArgs& args);

  AttendPlanner planner_;
  // What all layers of a pass share.
  Prepared prepared_;
  Packed packed_;
  struct Offsets {
    size_t items, first_item, vectors, first_partial, pages, turns;
  } at_{};               // in `packed_`
  size_t partials_ = 0;  // that there is room for
  Staged staged_;
};

}  // namespace looseleaf::cuda
