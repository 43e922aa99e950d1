// Attention of a pure decode step by the tensor-core kernel: chunk-major, see docs/kernels.md.
#pragma once

#include "compute/attend_plan_by_type.h"
#include "compute/cuda/decode_types.h"
#include "compute/cuda/described.h"
#include "compute/cuda/gpu.h"
#include "compute/cuda/packed.h"
#include "compute/device.h"

namespace looseleaf::cuda {

// Whether every group is one row that sees all tokens of its segments, stored in types that have
// kernels (decode_types.h). Stale bits, overlays, limits, windows and biases are not for them.
bool is_decode_step(const AttendArgs& args);

class DecodeStep {
 public:
  // REQUIRES: is_decode_step(args), a Hopper GPU.
  // rounded: of args.active rows; see Attention::attend.
  void run(Gpu& gpu, const AttendArgs& args, Rounded rounded);

 private:
  void plan(Gpu& gpu, const AttendArgs& args);

  AttendPlannerByType planner_{decode_token_rates()};
  // What all layers of a pass share.
  Prepared prepared_;
  Packed packed_;
  // Where things are in `packed_`.
  struct Work {
    bool any;
    size_t items, first_item, vectors;
  };
  std::array<Work, kDecodeTypes.size()> work_{};  // by type of pages
  size_t first_partial_at_ = 0, pages_at_ = 0, turns_at_ = 0;
  size_t partials_ = 0;  // that there is room for
  Described described_;  // `packed_`
};

}  // namespace looseleaf::cuda
