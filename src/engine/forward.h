// The forward function: the one way in which rows go through a model's layers.
#pragma once

#include <span>
#include <vector>

#include "compute/device.h"
#include "engine/pass.h"
#include "model/model.h"

namespace looseleaf {

// Holds the scratch of one engine: not thread-safe.
class Forward {
 public:
  Forward(const Model& model, Device& device);

  // Runs the pass. logits: [pass.outputs, vocab].
  // Errors: kUnavailable (no memory for scratch; what the rows' slots hold is to be thrown away).
  Status run(const Pass& pass, std::span<float> logits);

  // cos and sin of the angles between positions `shift` apart: Segment::turn.
  static std::vector<float> turn(const RopeRegime& rope, int shift);  // [2][rotary dims / 2]

 private:
  struct Scratch;
  Expected<Scratch> scratch(size_t rows, size_t outputs);
  void layer(int index, const Pass& pass, Scratch& s);

  const Model& model_;
  Device& device_;
  DeviceMemory memory_;  // all scratch of a pass
  size_t memory_bytes_ = 0;
};

}  // namespace looseleaf
