#include "compute/prefill_plan.h"

#include <algorithm>

#include "compute/kv_layout.h"

namespace looseleaf {
namespace {

int32_t steps_for(int32_t tokens) { return (tokens + kPrefillKeys - 1) / kPrefillKeys; }

// Two units a step; see kPrefillItemCost.
int64_t cost(int64_t steps) { return 2 * steps + kPrefillItemCost; }

}  // namespace

const PrefillPlan& PrefillPlanner::plan(const PrefillShape& shape,
                                        std::span<const PrefillGroup> groups,
                                        std::span<const int32_t> rows,
                                        std::span<const int32_t> positions) {
  plan_.spans.clear();
  plan_.merged.clear();
  plan_.first_partial.assign(1, 0);
  make_tiles(shape, groups, rows, positions);
  deal(shape, rows);
  return plan_;
}

void PrefillPlanner::make_tiles(const PrefillShape& shape, std::span<const PrefillGroup> groups,
                                std::span<const int32_t> rows, std::span<const int32_t> positions) {
  const int32_t packed = shape.heads / shape.kv_heads;
  tiles_.clear();
  for (size_t g = 0; g < groups.size(); ++g) {
    const PrefillGroup& group = groups[g];
    const int32_t vectors = group.rows * packed;
    for (int32_t first = 0; first < vectors; first += kPrefillVectors) {
      Tile tile{};
      tile.group = static_cast<int32_t>(g);
      tile.first_row = group.first_row;
      tile.first_vector = first;
      tile.vectors = std::min(kPrefillVectors, vectors - first);
      const auto position = [&](int32_t vector) {
        return positions[static_cast<size_t>(
            rows[static_cast<size_t>(group.first_row + vector / packed)])];
      };
      tile.lowest = position(first);
      tile.highest = position(first + tile.vectors - 1);
      tile.first_span = static_cast<int32_t>(plan_.spans.size());
      for (const PrefillSpan& span : group.spans) add_visible(shape, span, tile);
      tiles_.push_back(tile);
    }
  }
}

// Keys after the tile's last row, and whole steps before its first row's window, are left out.
void PrefillPlanner::add_visible(const PrefillShape& shape, PrefillSpan span, Tile& tile) {
  if (span.key_positions < 0) {
    const int64_t end = std::min<int64_t>(int64_t{tile.highest} + 1, span.limit) - span.position;
    span.tokens = static_cast<int32_t>(std::clamp<int64_t>(end, 0, span.tokens));
    if (shape.window > 0) {
      const int64_t hidden = int64_t{tile.lowest} - shape.window + 1 - span.position;
      const auto skipped = static_cast<int32_t>(std::clamp<int64_t>(hidden, 0, span.tokens) /
                                                kPrefillKeys * kPrefillKeys);
      span.first_page += skipped / kPageTokens;
      span.tokens -= skipped;
      span.position += skipped;
      if (span.stale >= 0) span.stale += skipped / 32;
    }
  }
  if (span.tokens <= 0) return;
  plan_.spans.push_back(span);
  ++tile.spans;
  tile.steps += steps_for(span.tokens);
}

// Each tile goes to the block that would be free first. The tiles of a KV head follow each other,
// so blocks that run at the same time read the same keys.
void PrefillPlanner::deal(const PrefillShape& shape, std::span<const int32_t> rows) {
  int64_t total = 0;
  for (const Tile& tile : tiles_)
    if (tile.steps > 0) total += cost(tile.steps);
  // About as many items are cut as there are blocks: each has room for one more beginning.
  share_ = (total * shape.kv_heads + shape.blocks - 1) / shape.blocks + kPrefillItemCost;
  blocks_.reset(shape.blocks);
  dealt_.clear();
  block_of_.clear();
  for (int32_t head = 0; head < shape.kv_heads; ++head)
    for (const Tile& tile : tiles_) number_parts(shape, rows, tile, head, cut(tile, head));

  plan_.first_item.assign(static_cast<size_t>(shape.blocks) + 1, 0);
  for (const int32_t block : block_of_) ++plan_.first_item[static_cast<size_t>(block) + 1];
  for (size_t b = 1; b < plan_.first_item.size(); ++b)
    plan_.first_item[b] += plan_.first_item[b - 1];
  std::vector<int32_t> next(plan_.first_item.begin(), plan_.first_item.end() - 1);
  plan_.items.resize(dealt_.size());
  for (size_t i = 0; i < dealt_.size(); ++i)
    plan_.items[static_cast<size_t>(next[static_cast<size_t>(block_of_[i])]++)] = dealt_[i];
}

// Whole, until the blocks are nearly full; then in parts, so that they end together. Returns the
// parts.
int PrefillPlanner::cut(const Tile& tile, int32_t kv_head) {
  int parts = 0;
  int32_t span = tile.first_span, key = 0;
  for (int32_t left = tile.steps; left > 0; ++parts) {
    const int64_t room = (share_ - blocks_.load() - kPrefillItemCost) / 2;
    int32_t steps = std::min(left, static_cast<int32_t>(std::max<int64_t>(room, kPrefillMinSteps)));
    // A rest that is worth less than another beginning is taken along.
    if (2 * (left - steps) <= 2 * kPrefillItemCost) steps = left;
    left -= steps;
    PrefillItem item{};
    item.kv_head = kv_head;
    item.first_row = tile.first_row;
    item.first_vector = tile.first_vector;
    item.vectors = tile.vectors;
    item.lowest = tile.lowest;
    item.highest = tile.highest;
    item.first_span = span;
    item.first_key = key;
    block_of_.push_back(blocks_.block());
    blocks_.add(cost(steps));
    for (;;) {
      const int32_t tokens = plan_.spans[static_cast<size_t>(span)].tokens;
      const int32_t here = std::min(steps, steps_for(tokens - key));
      item.end_key = std::min(tokens, key + here * kPrefillKeys);
      item.spans = span - item.first_span + 1;
      steps -= here;
      key = item.end_key;
      if (key == tokens) {
        ++span;
        key = 0;
      }
      if (steps == 0) break;
    }
    dealt_.push_back(item);
  }
  return parts;
}

void PrefillPlanner::number_parts(const PrefillShape& shape, std::span<const int32_t> rows,
                                  const Tile& tile, int32_t kv_head, int parts) {
  const int32_t packed = shape.heads / shape.kv_heads, first = plan_.first_partial.back();
  for (int p = 0; p < parts; ++p) {
    PrefillItem& item = dealt_[dealt_.size() - static_cast<size_t>(parts - p)];
    item.first_partial = parts == 1 ? -1 : first + p;
    item.parts = parts;
  }
  if (parts == 1) return;
  for (int32_t v = tile.first_vector; v < tile.first_vector + tile.vectors; ++v) {
    const int32_t row = rows[static_cast<size_t>(tile.first_row + v / packed)];
    const int32_t query = row * shape.heads + kv_head * packed + v % packed;
    plan_.merged.push_back(query);
    plan_.first_partial.push_back(plan_.first_partial.back() + parts);
  }
}

}  // namespace looseleaf
