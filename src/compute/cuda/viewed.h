// Slots and moves name the layout of their pages by number: the views of these layouts and what
// refers to them, in one block on the GPU.
#pragma once

#include <vector>

#include "compute/cuda/described.h"
#include "compute/cuda/packed.h"

namespace looseleaf::cuda {

class PageViews {
 public:
  // The layout's number, from 0 in the order in which they come.
  int32_t number_of(const KvLayout& layout) {
    for (size_t i = 0; i < layouts_.size(); ++i)
      if (*layouts_[i] == layout) return static_cast<int32_t>(i);
    layouts_.push_back(&layout);
    views_.push_back(page_view(layout));
    return static_cast<int32_t>(views_.size()) - 1;
  }
  const std::vector<PageView>& views() const { return views_; }

 private:
  std::vector<const KvLayout*> layouts_;
  std::vector<PageView> views_;
};

// Both on the GPU, good until `synchronize`; null where they could not be staged.
template <class T>
struct Viewed {
  const PageView* views = nullptr;
  const T* values = nullptr;
};

template <class T>
Viewed<T> stage_viewed(Gpu& gpu, Staged& staged, const PageViews& views,
                       const std::vector<T>& values) {
  Packed packed;
  const size_t views_at = packed.append(views.views()), values_at = packed.append(values);
  const std::byte* base = staged.get(gpu, packed.bytes);
  if (gpu.failed()) return {};
  return {reinterpret_cast<const PageView*>(base + views_at),
          reinterpret_cast<const T*>(base + values_at)};
}

}  // namespace looseleaf::cuda
