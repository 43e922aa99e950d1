// The attention operation: which kernels a pass takes, and what they need.
#pragma once

#include "compute/cuda/attend_rows.h"
#include "compute/cuda/decode_step.h"
#include "compute/cuda/describe_pass.h"
#include "compute/cuda/described.h"
#include "compute/cuda/gpu.h"
#include "compute/cuda/mass_step.h"
#include "compute/cuda/prefill_step.h"
#include "compute/device.h"

namespace looseleaf::cuda {

class Attention {
 public:
  // `deterministic`: the kernel whose results do not depend on other requests of the pass.
  Attention(Gpu& gpu, bool deterministic) : gpu_(gpu), deterministic_(deterministic) {}

  // rounded: a copy of the results that may be made on the way, of AttendArgs::active rows. Whether
  // the last launch has made it.
  bool attend(const AttendArgs& args, Rounded rounded);
  void attend_mass(const AttendArgs& args);

 private:
  void attend_general(const AttendArgs& args);
  // What both share: the pass's description and the arguments.
  AttendLaunch describe(const AttendArgs& args);

  Gpu& gpu_;
  bool deterministic_;
  PassDescription pass_;
  Prepared described_;  // `pass_`
  Staged description_, tiles_, merges_, mass_tasks_;
  DecodeStep decode_step_;
  PrefillStep prefill_step_;
  MassStep mass_step_;
};

}  // namespace looseleaf::cuda
