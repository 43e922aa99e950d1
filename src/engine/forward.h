// The forward function: the one way in which rows go through a model's layers.
#pragma once

#include <span>
#include <vector>

#include "compute/device.h"
#include "engine/pass.h"
#include "model/model.h"

namespace looseleaf {

// What goes in and out of a pass beside keys and values and logits, in the device's memory unless
// it says otherwise.
struct PassIo {
  const float* hidden_in = nullptr;  // [rows, hidden] what enters layer first_layer, if that is > 0
  float* hidden_out = nullptr;       // [rows, hidden] what leaves the last layer run, or null
  // [outputs] the host's: the token of each output's largest logit, the lower one of equals; null:
  // not wanted.
  int32_t* largest = nullptr;
  // [layers, mass_places] where the mass of keys is added: see SegmentUse::mass
  float* mass = nullptr;
};

// Holds the scratch of one engine: not thread-safe.
class Forward {
 public:
  Forward(const Model& model, Device& device);

  // Runs the pass. logits: [pass.outputs, vocab]; may be empty where `io.largest` is wanted alone.
  // Errors: kUnavailable (no memory for scratch; what the rows' slots hold is to be thrown away).
  Status run(const Pass& pass, std::span<float> logits, const PassIo& io = {});

  // Operations of all passes so far: 2 m n k a product, 4 heads head_dim a visible (row, key) pair,
  // 2 heads head_dim for its mass.
  double operations() const { return operations_; }

  // cos and sin of the angles between positions `shift` apart: Segment::turn.
  static std::vector<float> turn(const RopeRegime& rope, int shift);  // [2][rotary dims / 2]

 private:
  struct Scratch;
  Expected<Scratch> scratch(const Pass& pass);
  void layer(int index, const Pass& pass, const PassIo& io, Scratch& s);
  void attend(int index, int active, const Pass& pass, const PassIo& io, Scratch& s);
  void product(const WeightMatrix& w, std::span<const float> bias, const float* x, int rows,
               bool accumulate, float* y);
  void products(std::span<const WeightProduct> products, const float* x, int rows);

  const Model& model_;
  Device& device_;
  DeviceMemory memory_;  // all scratch of a pass
  size_t memory_bytes_ = 0;
  double operations_ = 0;
};

}  // namespace looseleaf
