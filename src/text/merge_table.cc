#include "text/merge_table.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace looseleaf {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

std::optional<uint32_t> MergeTable::add(int32_t left, int32_t right, int32_t result,
                                        uint32_t rank) {
  const auto [merge, is_new] = merges_.emplace(pair_key(left, right), Merge{rank, result});
  if (is_new) return std::nullopt;
  return merge->second.rank;
}

const MergeTable::Merge* MergeTable::find(int32_t left, int32_t right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void MergeTable::apply(MergeScratch& scratch) const {
  auto& [ids, symbols, queue] = scratch;
  const auto size = static_cast<uint32_t>(ids.size());
  symbols.resize(size);
  queue.clear();
  for (uint32_t i = 0; i < size; ++i)
    symbols[i] = {ids[i], i == 0 ? kNone : i - 1, i + 1 == size ? kNone : i + 1};

  // What the symbol at `position` and the one after it merge by, or nullptr.
  const auto merge_at = [&](uint32_t position) -> const Merge* {
    const uint32_t next = symbols[position].next;
    return next == kNone ? nullptr : find(symbols[position].id, symbols[next].id);
  };
  const auto entry = [](const Merge& merge, uint32_t position) {
    return static_cast<uint64_t>(merge.rank) << 32 | position;
  };
  for (uint32_t i = 0; i + 1 < size; ++i) {
    if (const Merge* merge = merge_at(i)) queue.push_back(entry(*merge, i));
  }
  std::make_heap(queue.begin(), queue.end(), std::greater<>());

  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const uint64_t top = queue.back();
    queue.pop_back();
    const auto position = static_cast<uint32_t>(top);
    auto& left = symbols[position];
    // An earlier merge may have taken either side; entries are not removed then, but skipped here.
    // Another pair of the same rank that stands here now is due at this very moment too.
    if (left.id < 0) continue;
    const Merge* const merge = merge_at(position);
    if (merge == nullptr || merge->rank != top >> 32) continue;
    auto& right = symbols[left.next];
    left.id = merge->result;
    left.next = right.next;
    right.id = -1;
    if (left.next != kNone) symbols[left.next].previous = position;
    for (const uint32_t at : {left.previous, position}) {
      if (at == kNone) continue;
      if (const Merge* next = merge_at(at)) {
        queue.push_back(entry(*next, at));
        std::push_heap(queue.begin(), queue.end(), std::greater<>());
      }
    }
  }

  ids.clear();
  if (size == 0) return;
  for (uint32_t i = 0; i != kNone; i = symbols[i].next) ids.push_back(symbols[i].id);
}

}  // namespace looseleaf
