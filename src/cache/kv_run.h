// A run of tokens' keys and values over pages: what a chunk, a stretch of text or a copy consists
// of.
#pragma once

#include <span>
#include <vector>

#include "cache/kv_pool.h"
#include "compute/segment.h"

namespace looseleaf {

// Pages may be shared with other runs; only pages that a run allocated itself are written.
class KvRun {
 public:
  explicit KvRun(const KvLayout& layout) : layout_(&layout) {}  // REQUIRES: layout outlives the run

  // Appends `tokens` places, allocating pages as needed. On an error the run is as before.
  Status extend(KvPool& pool, int tokens);
  // Appends a page that is read only, holding `tokens` of this run.
  // REQUIRES: count() is a multiple of kPageTokens.
  void share(KvPageRef page, int tokens);

  // Gives up all but the first `tokens` places. REQUIRES: tokens <= count().
  void truncate(int tokens);

  int count() const { return count_; }
  const KvLayout& layout() const { return *layout_; }
  const std::vector<KvPageRef>& pages() const { return pages_; }
  int64_t bytes() const { return static_cast<int64_t>(pages_.size()) * layout_->page_bytes(); }

  KvSlot slot(int token) const {
    return {layout_, data_[static_cast<size_t>(token / kPageTokens)], token % kPageTokens};
  }
  // All tokens, the first one standing at prompt position `position`. The view holds until the run
  // is extended or destroyed.
  Segment segment(int position) const;

 private:
  const KvLayout* layout_;
  std::vector<KvPageRef> pages_;
  std::vector<std::byte*> data_;  // [pages] pages_[i]->data()
  int count_ = 0;
};

}  // namespace looseleaf
