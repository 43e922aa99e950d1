#include "engine/overlay.h"

#include <algorithm>

namespace looseleaf {

Overlay::Overlay(const KvLayout& layout, const PromptShape& shape, const RepairPlan& plan,
                 const std::vector<int32_t>& chunk_tokens)
    : layout_(layout) {
  layout_.first_layer = 1;
  const auto depth_of = [&](int32_t token) { return plan.depths[static_cast<size_t>(token)]; };
  for (int32_t token = 0; token < shape.tokens(); ++token)
    if (depth_of(token) > 0) tokens_.push_back(token);
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [&](int32_t a, int32_t b) { return depth_of(a) > depth_of(b); });
  const auto layers = static_cast<size_t>(shape.layers);
  for (const int32_t tokens : chunk_tokens)
    stale_.emplace_back(layers * static_cast<size_t>(Segment::stale_words(tokens)));
  counts_.assign(layers, 0);
  for (const int32_t token : tokens_) {
    const auto at = static_cast<size_t>(token);
    depths_.push_back(plan.depths[at]);
    positions_.push_back(shape.positions[at]);
    auto& stale = stale_[static_cast<size_t>(shape.chunks[at])];
    const size_t words = stale.size() / layers;
    const auto place = static_cast<size_t>(shape.places[at]);
    for (size_t layer = 1; layer <= static_cast<size_t>(plan.depths[at]); ++layer) {
      ++counts_[layer];
      stale[layer * words + place / 64] |= uint64_t{1} << (place % 64);
    }
  }
  data_.assign(static_cast<size_t>(pages_for(count())), nullptr);
}

Status Overlay::allocate(KvPool& pool) {
  for (size_t page = 0; page < data_.size(); ++page) {
    auto memory = pool.allocate(depths_[page * kPageTokens] * layout_.layer_bytes());
    if (!memory) {
      pages_.clear();
      std::fill(data_.begin(), data_.end(), nullptr);
      return error(
          memory.error().code,
          "repair: {} tokens need {} bytes beside the prompt's keys and values ({}); use a "
          "smaller ratio",
          count(), bytes(), memory.error().message);
    }
    data_[page] = (*memory)->data();
    pages_.push_back(std::move(*memory));
  }
  return {};
}

Segment Overlay::segment() const {
  Segment segment;
  segment.layout = &layout_;
  segment.pages = data_;
  segment.count = count();
  segment.count_by_layer = counts_;
  segment.positions = positions_;
  return segment;
}

int64_t Overlay::bytes() const {
  int64_t layers = 0;
  for (const int32_t depth : depths_) layers += depth;
  return layers * layout_.token_bytes();
}

}  // namespace looseleaf
