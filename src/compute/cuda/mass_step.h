// Attention given to each key by the tensor-core kernel: see docs/kernels.md.
#pragma once

#include <vector>

#include "compute/cuda/described.h"
#include "compute/cuda/gpu.h"
#include "compute/cuda/key_spans.h"
#include "compute/cuda/packed.h"
#include "compute/device.h"
#include "compute/mass_pieces.h"

namespace looseleaf::cuda {

// Whether the kernel takes all segments (KeySpans::fits): those without mass too, so that rows
// whose log-sum-exps were computed in float32 get their mass in float32. Biases are not for it.
bool is_mass_step(const AttendArgs& args);

class MassStep {
 public:
  // REQUIRES: is_mass_step(args), a Hopper GPU.
  void run(Gpu& gpu, const AttendArgs& args);

 private:
  void plan(Gpu& gpu, const AttendArgs& args);

  // What layers of a pass share, where no segment differs from layer to layer.
  Prepared prepared_;
  int active_ = 0;
  KeySpans spans_;
  Packed packed_;
  size_t pieces_at_ = 0, spans_at_ = 0;  // in `packed_`
  std::vector<int32_t> first_ = {0};     // pieces of each group
  size_t keys_ = 0;                      // that there is room for
  Described described_;                  // `packed_`
};

}  // namespace looseleaf::cuda
