// Attention of a pure decode step by the tensor-core kernel: chunk-major, see docs/kernels.md.
#pragma once

#include "compute/attend_plan_by_type.h"
#include "compute/cuda/decode_types.h"
#include "compute/cuda/gpu.h"
#include "compute/device.h"

namespace looseleaf::cuda {

// Whether every group is one row that sees all tokens of its segments, stored in types that have
// kernels (decode_types.h). Stale bits, overlays, limits, windows and biases are not for them.
bool is_decode_step(const AttendArgs& args);

class DecodeStep {
 public:
  // REQUIRES: is_decode_step(args), a Hopper GPU.
  void run(Gpu& gpu, const AttendArgs& args);

 private:
  AttendPlannerByType planner_{decode_token_rates()};
  Staged staged_;
};

}  // namespace looseleaf::cuda
