#include "compute/cuda/widened_pages.h"

namespace looseleaf::cuda {

void WidenedPages::begin(Gpu& gpu, const AttendArgs& args) {
  scratch_.clear();
  pages_.clear();
  views_.clear();
  view_of_.clear();
  place_of_.clear();
  int layers = 0;
  for (const Segment& s : args.segments) {
    const KvLayout& layout = *s.layout;
    if (!is_widened(layout)) continue;
    const auto [view, is_new] =
        view_of_.try_emplace({layout.type, layout.first_layer, layout.layers}, views_.size());
    if (is_new) views_.push_back(page_view(layout));
    layers = std::max({layers, layout.first_layer + layout.layers, args.layer + 1});
    for (std::byte* page : s.pages.first(static_cast<size_t>(pages_for(s.tokens(args.layer)))))
      if (place_of_.try_emplace(page, static_cast<int32_t>(pages_.size())).second)
        pages_.push_back({page, static_cast<int64_t>(view->second)});
  }
  if (pages_.empty()) return;
  if (!scratch_.take(gpu, static_cast<int64_t>(pages_.size()),
                     page_layer_bytes(args.kv_heads, args.head_dim), layers) &&
      !gpu.failed())
    gpu.fail("--device cuda: scratch for keys and values lies too far from their pool");
}

void WidenedPages::describe(Packed& packed) {
  pages_at_ = packed.append(pages_);
  views_at_ = packed.append(views_);
}

void WidenedPages::launch(Gpu& gpu, const AttendArgs& args, const std::byte* base) const {
  if (pages_.empty()) return;
  gpu.launch(&widen_pages, reinterpret_cast<const PageView*>(base + views_at_),
             reinterpret_cast<const GpuPage*>(base + pages_at_), static_cast<int>(pages_.size()),
             args.kv_heads, args.layer, scratch_.page(0) + args.layer * scratch_.layer_bytes());
}

}  // namespace looseleaf::cuda
