// Pages of several sizes in one stretch of memory whose size never changes.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>

namespace looseleaf {

// Hands out offsets; the memory itself is elsewhere. The best fit, of equals the first; neighbours
// that come back grow together.
class PageRegion {
 public:
  explicit PageRegion(size_t bytes = 0) {
    if (bytes > 0) add_gap(0, bytes);
  }

  // Nothing where no gap is large enough. REQUIRES: bytes > 0.
  std::optional<size_t> take(size_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0});
    if (found == by_size_.end()) return std::nullopt;
    const auto [size, at] = *found;
    remove_gap(gaps_.find(at));
    if (size > bytes) add_gap(at + bytes, size - bytes);
    taken_.emplace(at, bytes);
    return at;
  }

  // REQUIRES: `at` was taken and not given back.
  void give_back(size_t at) {
    const auto taken = taken_.find(at);
    size_t bytes = taken->second;
    taken_.erase(taken);
    auto next = gaps_.lower_bound(at);
    if (next != gaps_.end() && next->first == at + bytes) {
      bytes += next->second;
      next = remove_gap(next);
    }
    if (next != gaps_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == at) {
        at = before->first;
        bytes += before->second;
        remove_gap(before);
      }
    }
    add_gap(at, bytes);
  }

 private:
  using Gaps = std::map<size_t, size_t>;  // offset, bytes
  void add_gap(size_t at, size_t bytes) {
    gaps_.emplace(at, bytes);
    by_size_.emplace(bytes, at);
  }
  Gaps::iterator remove_gap(Gaps::iterator gap) {
    by_size_.erase({gap->second, gap->first});
    return gaps_.erase(gap);
  }

  Gaps gaps_;
  std::set<std::pair<size_t, size_t>> by_size_;  // bytes, offset
  Gaps taken_;
};

}  // namespace looseleaf
