// What the host says of a pass, on the GPU, and whether it still holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/cuda/gpu.h"

namespace looseleaf::cuda {

// Whether something that was worked out for AttendArgs::pass is still that of the call at hand.
class Prepared {
 public:
  // False: it is to be worked out again, and is this pass's then.
  bool renew(uint64_t pass) {
    const bool same = pass != 0 && pass == pass_;
    pass_ = pass;
    return same;
  }

 private:
  uint64_t pass_ = 0;
};

// Host bytes on the GPU that are often the same from one call to the next: those of one pass.
class Staged {
 public:
  // Null where they could not be staged.
  const std::byte* get(Gpu& gpu, const std::vector<std::byte>& bytes);

 private:
  std::vector<std::byte> bytes_;
  const std::byte* there_ = nullptr;
  int64_t epoch_ = -1;
};

// The description of a plan on the GPU, in memory of its own: it stays until the next one, through
// all passes that have this plan.
class Described {
 public:
  void set(Gpu& gpu, const std::vector<std::byte>& bytes);
  const std::byte* get() const { return static_cast<const std::byte*>(memory_.get()); }

 private:
  Memory memory_;
  size_t room_ = 0;
};

}  // namespace looseleaf::cuda
