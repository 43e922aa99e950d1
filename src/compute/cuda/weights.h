// Weights in the GPU's memory, found by where the host has them.
#pragma once

#include <map>
#include <string>

#include "base/thread_pool.h"
#include "compute/cuda/gpu.h"
#include "compute/cuda/numbers.h"
#include "model/weight_type.h"

namespace looseleaf::cuda {

class Weights {
 public:
  // `exact`: everything is held in f32.
  Weights(Gpu& gpu, int threads, bool exact) : gpu_(gpu), pool_(threads), exact_(exact) {}

  // Formats without a fast product are widened to bf16 on the way. Errors: kUnavailable.
  Status load(const WeightMatrix& matrix);
  Status load(std::span<const float> vector);

  // REQUIRES: loaded.
  const GpuMatrix& find(const WeightMatrix& matrix) const;
  const float* find(std::span<const float> vector) const;

  // "209 bf16 (from q4_1), 1 f32"
  std::string describe() const;

 private:
  struct Held {
    GpuMatrix matrix;
    Memory memory;
  };
  Number held_as(const WeightType& type) const;
  Status widen(const WeightMatrix& matrix, Number type, void* to);

  Gpu& gpu_;
  ThreadPool pool_;
  bool exact_;
  std::map<std::pair<const void*, int64_t>, Held> matrices_;   // by data and rows
  std::map<std::pair<const void*, size_t>, Memory> vectors_;   // by data and size
  std::map<std::pair<std::string, std::string>, int> counts_;  // held as, stored as
};

}  // namespace looseleaf::cuda
