#include "engine/visible_pairs.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

namespace looseleaf {
namespace {

// How many of a segment's keys in one layer stand before a position.
class KeysBefore {
 public:
  KeysBefore(const Segment& segment, int layer) : segment_(segment), count_(segment.tokens(layer)) {
    if (!segment.positions.empty()) {
      for (int32_t i = 0; i < count_; ++i)
        if (!segment.is_stale(layer, i)) sorted_.push_back(segment.position_of(i));
      std::sort(sorted_.begin(), sorted_.end());
    } else if (!segment.stale.empty()) {
      const auto words = static_cast<size_t>(Segment::stale_words(segment.count));
      stale_ = segment.stale.subspan(static_cast<size_t>(layer) * words, words);
      stale_before_.push_back(0);
      for (const uint64_t word : stale_)
        stale_before_.push_back(stale_before_.back() + std::popcount(word));
    }
  }

  int64_t operator()(int64_t position) const {
    if (!segment_.positions.empty())
      return std::lower_bound(sorted_.begin(), sorted_.end(), position) - sorted_.begin();
    const int64_t n = std::clamp<int64_t>(position - segment_.position, 0, count_);
    if (stale_.empty()) return n;
    const auto word = static_cast<size_t>(n / 64);
    int64_t stale = stale_before_[word];
    if (n % 64 != 0) stale += std::popcount(stale_[word] << (64 - n % 64));
    return n - stale;
  }

 private:
  const Segment& segment_;
  int32_t count_;
  std::vector<int32_t> sorted_;        // positions, where the segment lists them
  std::span<const uint64_t> stale_;    // [stale_words] of the layer
  std::vector<int64_t> stale_before_;  // [stale_words + 1] stale tokens before each word
};

}  // namespace

int64_t visible_pairs(const AttendArgs& args) {
  std::vector<std::optional<KeysBefore>> segments(args.segments.size());
  int64_t pairs = 0;
  for (const RowGroup& group : args.groups) {
    const auto end = std::lower_bound(group.rows.begin(), group.rows.end(), args.active);
    if (end == group.rows.begin()) continue;
    for (const SegmentUse& use : group.uses) {
      const auto s = static_cast<size_t>(use.segment);
      if (!segments[s]) segments[s].emplace(args.segments[s], args.layer);
      const KeysBefore& before = *segments[s];
      for (auto row = group.rows.begin(); row != end; ++row) {
        const int64_t position = args.positions[static_cast<size_t>(*row)];
        const int64_t seen = before(std::min<int64_t>(position + 1, use.limit));
        const int64_t too_far = args.window > 0 ? before(position - args.window + 1) : 0;
        pairs += std::max<int64_t>(0, seen - too_far);
      }
    }
  }
  return pairs;
}

}  // namespace looseleaf
