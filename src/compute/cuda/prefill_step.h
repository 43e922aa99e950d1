// Attention of many rows by the tensor-core kernel for prefill: see docs/kernels.md.
#pragma once

#include <vector>

#include "compute/cuda/gpu.h"
#include "compute/device.h"
#include "compute/prefill_plan.h"

namespace looseleaf::cuda {

// Whether all keys and values are stored in bf16 as the kernel wants them, or in types that bf16
// copies are made of (is_widened), and scattered keys stand in the order of their positions. Biases
// and log-sum-exps are not for it.
bool is_prefill_step(const AttendArgs& args);

class PrefillStep {
 public:
  // REQUIRES: is_prefill_step(args), a Hopper GPU.
  void run(Gpu& gpu, const AttendArgs& args);

 private:
  PrefillPlanner planner_;
  Staged staged_;
};

}  // namespace looseleaf::cuda
