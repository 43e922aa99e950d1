#include "compute/cuda/gather_step.h"

#include "compute/cuda/kv_kernels.h"
#include "compute/cuda/viewed.h"

namespace looseleaf::cuda {

void GatherStep::run(Gpu& gpu, std::span<const GatherArgs> parts) {
  PageViews views;
  std::vector<GpuMove> moves;
  std::vector<float> turns;
  for (const GatherArgs& part : parts) {
    const Segment& source = *part.source;
    const int32_t from_view = views.number_of(*source.layout);
    const int64_t turn =
        source.turn.empty() ? -1 : static_cast<int64_t>(turns.size()) / part.rotary_dims;
    turns.insert(turns.end(), source.turn.begin(), source.turn.end());
    for (size_t i = 0; i < part.tokens.size(); ++i) {
      const int32_t token = part.tokens[i];
      const KvSlot& slot = part.slots[i];
      moves.push_back({source.pages[static_cast<size_t>(token / kPageTokens)], slot.page,
                       token % kPageTokens, slot.slot, from_view, views.number_of(*slot.layout),
                       turn});
    }
  }
  if (moves.empty()) return;
  const Viewed<GpuMove> there = stage_viewed(gpu, moves_, views, moves);
  const float* turns_there = turns.empty() ? nullptr : gpu.stage(std::span<const float>(turns));
  if (gpu.failed()) return;
  gpu.launch(&gather, there.views, there.values, static_cast<int>(moves.size()),
             parts[0].source->layout->kv_heads, parts[0].layer, turns_there, parts[0].rotary_dims,
             parts[0].pairs);
}

}  // namespace looseleaf::cuda
