#include "cache/kv_pool.h"

namespace looseleaf {

KvPage::~KvPage() { pool_.used_ -= bytes_; }

bool KvPool::evict_one() {
  Evictable* victim = nullptr;
  double lowest = 0;
  for (Evictable* e : evictables_) {
    const auto priority = e->lowest_priority();
    if (priority && (victim == nullptr || *priority < lowest)) {
      victim = e;
      lowest = *priority;
    }
  }
  if (victim == nullptr) return false;
  victim->evict_lowest();
  clock_ = std::max(clock_, lowest);
  ++evictions_;
  return true;
}

Expected<KvPageRef> KvPool::allocate(int64_t bytes) {
  while (used_ + bytes > limit_) {
    if (!evict_one())
      return error(
          ErrorCode::kUnavailable,
          "keys and values: {} bytes are in use of a limit of {}, and a page of {} more is "
          "needed; raise --cache-bytes or shorten the prompt",
          used_, limit_, bytes);
  }
  auto memory = device_.allocate_page(static_cast<size_t>(bytes));
  // Pages of several sizes can leave gaps that are too small.
  while (!memory && evict_one()) memory = device_.allocate_page(static_cast<size_t>(bytes));
  if (!memory) return tl::unexpected(std::move(memory).error());
  used_ += bytes;
  return std::make_shared<KvPage>(*this, std::move(*memory), bytes);
}

}  // namespace looseleaf
