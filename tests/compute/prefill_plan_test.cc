#include "compute/prefill_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "compute/kv_layout.h"

namespace looseleaf {
namespace {

// Rows of some sequences over spans that lie anywhere.
struct Pass {
  PrefillShape shape;
  std::vector<std::vector<PrefillSpan>> spans;  // of each group
  std::vector<PrefillGroup> groups;
  std::vector<int32_t> rows, positions;

  void add_group(std::vector<PrefillSpan> of, const std::vector<int32_t>& at) {
    const auto first = static_cast<int32_t>(rows.size());
    for (const int32_t position : at) {
      rows.push_back(static_cast<int32_t>(positions.size()));
      positions.push_back(position);
    }
    spans.push_back(std::move(of));
    groups.push_back({first, static_cast<int32_t>(at.size()), {}});
  }
  PrefillPlan plan() {
    for (size_t g = 0; g < groups.size(); ++g) groups[g].spans = spans[g];
    PrefillPlanner planner;
    return planner.plan(shape, groups, rows, positions);
  }
};

std::vector<int32_t> from(int32_t first, int count) {
  std::vector<int32_t> at(static_cast<size_t>(count));
  std::iota(at.begin(), at.end(), first);
  return at;
}

// Documents one after the other, then the rows' own keys; pages lie where no other span's do.
std::vector<PrefillSpan> prompt(const std::vector<int>& tokens, int32_t first_page) {
  std::vector<PrefillSpan> spans;
  int32_t position = 0, page = first_page;
  for (const int count : tokens) {
    PrefillSpan span;
    span.first_page = page;
    span.tokens = count;
    span.position = position;
    span.turn = static_cast<int32_t>(spans.size());
    spans.push_back(span);
    position += count;
    page += pages_for(count) + 1;
  }
  return spans;
}

using Key = std::pair<int32_t, int32_t>;  // turn, position

// The keys that an item reads, in its order.
std::vector<Key> keys_of(const PrefillPlan& plan, const PrefillItem& item) {
  std::vector<Key> keys;
  for (int32_t s = 0; s < item.spans; ++s) {
    const PrefillSpan& span = plan.spans[static_cast<size_t>(item.first_span + s)];
    const int32_t end = s + 1 == item.spans ? item.end_key : span.tokens;
    EXPECT_LE(end, span.tokens);
    for (int32_t key = s == 0 ? item.first_key : 0; key < end; ++key)
      keys.emplace_back(span.turn, span.position + key);
  }
  return keys;
}

// Every query's parts, joined in order, hold every key that it sees, once, and no key twice.
void expect_covers(Pass& pass) {
  const PrefillPlan plan = pass.plan();
  ASSERT_EQ(plan.first_item.size(), static_cast<size_t>(pass.shape.blocks) + 1);
  ASSERT_EQ(plan.first_item.back(), static_cast<int32_t>(plan.items.size()));
  const int packed = pass.shape.heads / pass.shape.kv_heads;
  std::map<int32_t, std::map<int32_t, std::vector<Key>>> read;  // query -> part -> keys
  std::map<int32_t, int32_t> parts;
  for (const PrefillItem& item : plan.items) {
    EXPECT_EQ(item.first_key % kPrefillKeys, 0);
    EXPECT_GE(item.vectors, 1);
    EXPECT_LE(item.vectors, kPrefillVectors);
    const std::vector<Key> keys = keys_of(plan, item);
    EXPECT_FALSE(keys.empty());
    for (int32_t v = 0; v < item.vectors; ++v) {
      const int32_t n = item.first_vector + v;
      const int32_t row = pass.rows[static_cast<size_t>(item.first_row + n / packed)];
      EXPECT_LE(item.lowest, pass.positions[static_cast<size_t>(row)]);
      EXPECT_GE(item.highest, pass.positions[static_cast<size_t>(row)]);
      const int32_t query = row * pass.shape.heads + item.kv_head * packed + n % packed;
      const int32_t partial = item.first_partial < 0 ? -1 : item.first_partial + v * item.parts;
      EXPECT_TRUE(read[query].emplace(partial, keys).second) << "a result written twice";
      parts[query] = item.first_partial < 0 ? 0 : item.parts;
    }
  }
  std::map<int32_t, std::pair<int32_t, int32_t>> merged;
  for (size_t i = 0; i < plan.merged.size(); ++i)
    EXPECT_TRUE(
        merged.emplace(plan.merged[i], std::pair(plan.first_partial[i], plan.first_partial[i + 1]))
            .second);
  for (size_t g = 0; g < pass.groups.size(); ++g)
    for (int32_t r = pass.groups[g].first_row; r < pass.groups[g].first_row + pass.groups[g].rows;
         ++r)
      for (int head = 0; head < pass.shape.heads; ++head) {
        const int32_t row = pass.rows[static_cast<size_t>(r)],
                      query = row * pass.shape.heads + head;
        const int32_t position = pass.positions[static_cast<size_t>(row)];
        std::vector<Key> want, got;
        for (const PrefillSpan& span : pass.spans[g])
          for (int32_t key = 0; key < span.tokens; ++key) {
            const int32_t at = span.position + key;
            if (at <= position && at < span.limit &&
                (pass.shape.window == 0 || position - at < pass.shape.window))
              want.emplace_back(span.turn, at);
          }
        for (const auto& [partial, keys] : read[query])
          got.insert(got.end(), keys.begin(), keys.end());
        EXPECT_EQ(std::set<Key>(got.begin(), got.end()).size(), got.size()) << "a key read twice";
        EXPECT_TRUE(std::includes(got.begin(), got.end(), want.begin(), want.end()));
        if (const auto it = merged.find(query); it != merged.end()) {
          std::vector<int32_t> partials;
          for (const auto& [partial, keys] : read[query]) partials.push_back(partial);
          EXPECT_EQ(partials, from(it->second.first, it->second.second - it->second.first));
        } else {
          EXPECT_EQ(read[query].size(), 1u);
          EXPECT_EQ(read[query].begin()->first, -1);
        }
      }
}

TEST(PrefillPlan, CoversEveryKeyOnce) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    Pass pass;
    const int packed = 1 + static_cast<int>(random() % 5),
              kv_heads = 1 + static_cast<int>(random() % 3);
    pass.shape = {packed * kv_heads, kv_heads, 1 + static_cast<int>(random() % 40),
                  random() % 3 == 0 ? 1 + static_cast<int>(random() % 300) : 0};
    int32_t page = 0;
    for (unsigned g = 0; g < 1 + random() % 3; ++g) {
      std::vector<int> tokens;
      for (unsigned s = 0; s < 1 + random() % 5; ++s)
        tokens.push_back(1 + static_cast<int>(random() % 500));
      const int total = std::accumulate(tokens.begin(), tokens.end(), 0);
      const int rows = std::min(total, 1 + static_cast<int>(random() % 150));
      std::vector<PrefillSpan> spans = prompt(tokens, page);
      if (random() % 3 == 0) spans.front().limit = static_cast<int32_t>(random() % 400);
      page = spans.back().first_page + 100;
      pass.add_group(std::move(spans), from(total - rows, rows));
    }
    expect_covers(pass);
  }
}

TEST(PrefillPlan, SkippedPagesKeepTheirPositions) {
  Pass pass;
  pass.shape = {2, 1, 1, 200};
  pass.add_group(prompt({1000}, 7), from(990, 10));
  const PrefillPlan plan = pass.plan();
  ASSERT_EQ(plan.spans.size(), 1u);
  // Row 990 sees 791..990: six whole steps lie before.
  EXPECT_EQ(plan.spans[0].position, 768);
  EXPECT_EQ(plan.spans[0].first_page, 7 + 768 / kPageTokens);
  EXPECT_EQ(plan.spans[0].tokens, 1000 - 768);
}

TEST(PrefillPlan, ARowThatSeesNothingIsMergedFromNothing) {
  Pass pass;
  pass.shape = {4, 2, 3, 0};
  std::vector<PrefillSpan> spans = prompt({50}, 0);
  spans[0].position = 100;
  pass.add_group(std::move(spans), {10});
  const PrefillPlan plan = pass.plan();
  EXPECT_TRUE(plan.items.empty());
  ASSERT_EQ(plan.merged.size(), 4u);
  EXPECT_EQ(plan.first_partial, (std::vector<int32_t>{0, 0, 0, 0, 0}));
}

// No block has much more than its share, though tiles are few and long.
TEST(PrefillPlan, BlocksEndTogether) {
  for (const int rows : {64, 2048}) {
    Pass pass;
    pass.shape = {32, 8, 132, 0};
    std::vector<int> tokens(32, 512);
    tokens.push_back(rows);
    pass.add_group(prompt(tokens, 0), from(32 * 512, rows));
    const PrefillPlan plan = pass.plan();
    int64_t total = 0, most = 0;
    for (int b = 0; b < 132; ++b) {
      int64_t steps = 0;
      for (int32_t i = plan.first_item[static_cast<size_t>(b)];
           i < plan.first_item[static_cast<size_t>(b) + 1]; ++i) {
        const std::vector<Key> keys = keys_of(plan, plan.items[static_cast<size_t>(i)]);
        steps += static_cast<int64_t>(keys.size() + kPrefillKeys - 1) / kPrefillKeys;
      }
      total += steps;
      most = std::max(most, steps);
    }
    EXPECT_LE(most * 132, total * 112 / 100 + 3 * 132) << rows << " rows";
  }
}

TEST(PrefillPlan, TheSameArgumentsGiveTheSamePlan) {
  Pass pass;
  pass.shape = {8, 2, 17, 0};
  pass.add_group(prompt({300, 700, 40}, 0), from(1000, 40));
  const PrefillPlan a = pass.plan(), b = pass.plan();
  ASSERT_EQ(a.items.size(), b.items.size());
  for (size_t i = 0; i < a.items.size(); ++i) {
    EXPECT_EQ(a.items[i].first_span, b.items[i].first_span);
    EXPECT_EQ(a.items[i].first_key, b.items[i].first_key);
    EXPECT_EQ(a.items[i].end_key, b.items[i].end_key);
    EXPECT_EQ(a.items[i].first_partial, b.items[i].first_partial);
  }
}

}  // namespace
}  // namespace looseleaf
