// Pages in scratch that are filled anew for each layer, and read by kernels that know pages by
// page_number(): layer l of the pages begins l layers in, as in pages of all layers, so that one
// number serves every layer.
#pragma once

#include <limits>

#include "compute/cuda/gpu.h"
#include "compute/cuda/packed.h"

namespace looseleaf::cuda {

class LayerScratch {
 public:
  explicit LayerScratch(Gpu::Shelf shelf) : shelf_(shelf) {}

  // Room for so many pages in each of `layers` layers, one at a time. False: there is none (and
  // `gpu` has failed), or it lies too far from the pool for page numbers.
  bool take(Gpu& gpu, int64_t pages, int64_t layer_bytes, int layers) {
    layer_bytes_ = layer_bytes;
    bytes_ = static_cast<size_t>((pages + layers) * layer_bytes);
    first_ = gpu.scratch<std::byte>(shelf_, bytes_);
    if (first_ == nullptr) return false;
    constexpr int64_t kFar = std::numeric_limits<int32_t>::max() / 2;
    const int64_t number = (first_ - gpu.pages()) / kPageUnit;
    number_ = static_cast<int32_t>(number);
    return std::abs(number) < kFar && static_cast<int64_t>(bytes_) / kPageUnit < kFar;
  }
  // Whether it is still where it was taken.
  bool holds(Gpu& gpu) const {
    return bytes_ == 0 || gpu.scratch<std::byte>(shelf_, bytes_) == first_;
  }
  void clear() { bytes_ = 0; }

  // Layer 0 of a page.
  std::byte* page(int32_t index) const { return first_ + index * layer_bytes_; }
  int32_t number(int32_t index) const {
    return number_ + index * static_cast<int32_t>(layer_bytes_ / kPageUnit);
  }
  int64_t layer_bytes() const { return layer_bytes_; }

 private:
  Gpu::Shelf shelf_;
  std::byte* first_ = nullptr;
  size_t bytes_ = 0;  // 0: nothing is taken
  int64_t layer_bytes_ = 0;
  int32_t number_ = 0;
};

}  // namespace looseleaf::cuda
