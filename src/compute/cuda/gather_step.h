// Tokens brought from several segments to where they are read together.
#pragma once

#include "compute/cuda/described.h"
#include "compute/device.h"

namespace looseleaf::cuda {

class GatherStep {
 public:
  // As Device::gather.
  void run(Gpu& gpu, std::span<const GatherArgs> parts);

 private:
  Staged moves_;
};

}  // namespace looseleaf::cuda
