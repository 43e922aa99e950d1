// Pages that the tensor-core kernel for many rows takes from bf16 copies of the layer at hand, each
// copied once.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "compute/cuda/gpu.h"
#include "compute/cuda/kv_kernels.h"
#include "compute/cuda/layer_scratch.h"
#include "compute/device.h"

namespace looseleaf::cuda {

class WidenedPages {
 public:
  // Takes scratch for the pages of a pass's segments that are to be widened. Without memory `gpu`
  // has failed.
  void begin(Gpu& gpu, const AttendArgs& args);
  bool holds(Gpu& gpu) const { return scratch_.holds(gpu); }

  // A page of a segment that begin() saw, as a page_number().
  int32_t number(std::byte* page) const { return scratch_.number(place_of_.at(page)); }

  // Appends what `launch` needs to a pass's description.
  void describe(Packed& packed);
  // base: of the description on the GPU
  void launch(Gpu& gpu, const AttendArgs& args, const std::byte* base) const;

 private:
  LayerScratch scratch_{Gpu::kWidened};
  std::vector<GpuPage> pages_;
  std::vector<PageView> views_;
  std::map<std::tuple<KvType, int, int>, size_t> view_of_;
  std::unordered_map<std::byte*, int32_t> place_of_;  // in `pages_`
  size_t pages_at_ = 0, views_at_ = 0;
};

}  // namespace looseleaf::cuda
