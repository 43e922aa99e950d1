#include "cache/kv_run.h"

namespace looseleaf {

Status KvRun::extend(KvPool& pool, int tokens) {
  const size_t before = pages_.size();
  while (static_cast<int>(pages_.size()) < pages_for(count_ + tokens)) {
    auto page = pool.allocate(*layout_);
    if (!page) {
      pages_.resize(before);
      data_.resize(before);
      return tl::unexpected(std::move(page).error());
    }
    data_.push_back((*page)->data());
    pages_.push_back(std::move(*page));
  }
  count_ += tokens;
  return {};
}

void KvRun::share(KvPageRef page, int tokens) {
  data_.push_back(page->data());
  pages_.push_back(std::move(page));
  count_ += tokens;
}

void KvRun::truncate(int tokens) {
  const auto pages = static_cast<size_t>(pages_for(tokens));
  pages_.resize(pages);
  data_.resize(pages);
  count_ = tokens;
}

Segment KvRun::segment(int position) const {
  Segment segment;
  segment.layout = layout_;
  segment.pages = data_;
  segment.count = count_;
  segment.position = position;
  return segment;
}

}  // namespace looseleaf
