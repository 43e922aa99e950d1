// Chunks shorter than the tile of the tensor cores. Where many rows attend over a run of them, they
// are brought to their prompt positions in scratch first, layer by layer: there they fill tiles,
// and no query is turned for them.
#pragma once

#include <span>
#include <vector>

#include "compute/cuda/gpu.h"
#include "compute/cuda/kv_kernels.h"
#include "compute/cuda/layer_scratch.h"
#include "compute/device.h"

namespace looseleaf::cuda {

class ShortChunks {
 public:
  // Takes scratch for the runs of a pass. Without memory none is gathered and `gpu` has failed.
  void begin(Gpu& gpu, const AttendArgs& args);
  bool holds(Gpu& gpu) const { return scratch_.holds(gpu); }

  // How many of these uses, from the first on, are a run that is to be gathered for the group; 0:
  // none.
  size_t run_length(const AttendArgs& args, const RowGroup& group,
                    std::span<const SegmentUse> uses) const;

  // Adds a run. pages: those that its tokens will fill, as page_number(). Returns the tokens.
  int32_t add(const AttendArgs& args, std::span<const SegmentUse> run, std::vector<int32_t>& pages);

  // Appends what `launch` needs to a pass's description.
  void describe(Packed& packed);

  // base: of the description on the GPU
  void launch(Gpu& gpu, const AttendArgs& args, const std::byte* base) const;

 private:
  const KvLayout* layout_ = nullptr;  // null: nothing is gathered
  LayerScratch scratch_{Gpu::kGathered};
  int32_t pages_ = 0;  // in use
  std::vector<GpuMove> moves_;
  std::vector<float> turns_;  // [turns][2][rotary_dims / 2]
  size_t moves_at_ = 0, turns_at_ = 0, views_at_ = 0;
};

}  // namespace looseleaf::cuda
