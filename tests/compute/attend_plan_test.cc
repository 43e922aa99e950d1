#include "compute/attend_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "compute/kv_layout.h"

namespace looseleaf {
namespace {

struct Case {
  PlanShape shape;
  std::vector<PlanChunk> chunks;
  std::vector<PlanUse> uses;
  std::vector<int32_t> first_use = {0};

  void add_chunk(int tokens) {
    const int32_t page =
        chunks.empty() ? 3 : chunks.back().first_page + pages_for(chunks.back().tokens);
    chunks.push_back({page, tokens});
  }
  void add_request(const std::vector<int32_t>& of) {
    for (const int32_t chunk : of) uses.push_back({chunk, static_cast<int32_t>(uses.size()) - 1});
    first_use.push_back(static_cast<int32_t>(uses.size()));
  }
  AttendPlan plan() const {
    AttendPlanner planner;
    return planner.plan(shape, chunks, uses, first_use);
  }
};

// What a partial was made from, as the kernel would find it in the plan.
struct Read {
  WorkItem item;
  QueryVector vector;
};

std::map<int32_t, Read> reads_by_partial(const AttendPlan& plan) {
  std::map<int32_t, Read> reads;
  for (const WorkItem& item : plan.items)
    for (int32_t v = 0; v < item.vectors; ++v) {
      const QueryVector& vector = plan.vectors[static_cast<size_t>(item.first_vector + v)];
      EXPECT_TRUE(reads.emplace(vector.partial, Read{item, vector}).second)
          << "partial written twice";
    }
  return reads;
}

// The partials of each query, in order, are its request's uses in prompt order, each chunk's keys
// in order and once.
void expect_covers(const Case& c, const AttendPlan& plan) {
  const std::map<int32_t, Read> reads = reads_by_partial(plan);
  const int group_size = c.shape.heads / c.shape.kv_heads;
  int32_t partial = 0;
  for (size_t row = 0; row + 1 < c.first_use.size(); ++row)
    for (int head = 0; head < c.shape.heads; ++head) {
      const auto query = static_cast<int32_t>(row) * c.shape.heads + head;
      ASSERT_EQ(plan.first_partial[static_cast<size_t>(query)], partial);
      for (int32_t u = c.first_use[row]; u < c.first_use[row + 1]; ++u) {
        const PlanUse& use = c.uses[static_cast<size_t>(u)];
        const PlanChunk& chunk = c.chunks[static_cast<size_t>(use.chunk)];
        for (int32_t at = 0; at < chunk.tokens; ++partial) {
          ASSERT_TRUE(reads.contains(partial));
          const auto& [item, vector] = reads.at(partial);
          ASSERT_EQ(vector.query, query);
          ASSERT_EQ(vector.turn, use.turn);
          ASSERT_EQ(vector.end, item.tokens);
          ASSERT_EQ(item.kv_head, head / group_size);
          ASSERT_EQ(item.first_page, chunk.first_page + at / kPageTokens);
          ASSERT_EQ(at % kCutTokens, 0);
          at += item.tokens;
          ASSERT_LE(at, chunk.tokens);
        }
      }
    }
  EXPECT_EQ(plan.first_partial.back(), partial);
  EXPECT_EQ(reads.size(), static_cast<size_t>(partial));
  EXPECT_EQ(plan.vectors.size(), reads.size());
}

// Greedy dealing keeps any two blocks within one item of each other.
void expect_balanced(const Case& c, const AttendPlan& plan) {
  ASSERT_EQ(plan.first_item.size(), static_cast<size_t>(c.shape.blocks) + 1);
  EXPECT_EQ(plan.first_item.front(), 0);
  EXPECT_EQ(plan.first_item.back(), static_cast<int32_t>(plan.items.size()));
  int64_t least = INT64_MAX, most = 0, largest = 0;
  for (size_t b = 0; b + 1 < plan.first_item.size(); ++b) {
    int64_t load = 0;
    for (int32_t i = plan.first_item[b]; i < plan.first_item[b + 1]; ++i) {
      const WorkItem& item = plan.items[static_cast<size_t>(i)];
      ASSERT_GE(item.vectors, 1);
      ASSERT_LE(item.vectors, kItemVectors);
      const int64_t cost = item_cost(item.tokens, item.vectors, c.shape.token_rate);
      largest = std::max(largest, cost);
      load += cost;
    }
    least = std::min(least, load);
    most = std::max(most, load);
  }
  EXPECT_LE(most - least, largest);
}

void expect_good(Case c) {
  for (const bool chunk_major : {true, false}) {
    c.shape.chunk_major = chunk_major;
    const AttendPlan plan = c.plan();
    expect_covers(c, plan);
    expect_balanced(c, plan);
  }
}

Case random_case(uint32_t seed) {
  std::mt19937 random(seed);
  const auto up_to = [&](int n) {
    return static_cast<int>(random() % static_cast<uint32_t>(n + 1));
  };
  constexpr std::pair<int, int> kHeads[] = {{1, 1}, {8, 2}, {9, 3}, {32, 8}, {64, 1}};
  const auto [heads, kv_heads] = kHeads[random() % 5];
  Case c;
  c.shape = {.heads = heads, .kv_heads = kv_heads, .blocks = 1 + up_to(300)};
  c.shape.token_rate = 1 + up_to(1);
  for (int n = 1 + up_to(20); n > 0; --n) c.add_chunk(up_to(5) == 0 ? up_to(5000) : up_to(600));
  for (int n = up_to(70); n > 0; --n) {
    std::vector<int32_t> of(static_cast<size_t>(up_to(6)));
    for (int32_t& chunk : of) chunk = up_to(static_cast<int>(c.chunks.size()) - 1);
    c.add_request(of);
  }
  return c;
}

TEST(AttendPlan, RandomRequestsAreCoveredOnceAndBalanced) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_good(random_case(seed));
    if (HasFatalFailure()) return;
  }
}

TEST(AttendPlan, NothingToDo) {
  Case c;
  c.shape = {.heads = 4, .kv_heads = 2, .blocks = 3};
  expect_good(c);
  c.add_chunk(0);
  c.add_request({});
  c.add_request({0});
  expect_good(c);
  EXPECT_EQ(c.plan().first_partial, std::vector<int32_t>(9, 0));
}

TEST(AttendPlan, AChunkUsedTwiceByOneRequestIsReadOnce) {
  Case c;
  c.shape = {.heads = 8, .kv_heads = 2, .blocks = 1};
  c.add_chunk(100);
  c.add_request({0, 0});
  expect_good(c);
  const AttendPlan plan = c.plan();
  EXPECT_EQ(plan.items.size(), 2u);  // one a KV head
  EXPECT_EQ(plan.items[0].vectors, 2 * 4);
}

TEST(AttendPlan, UsersBeyondOneTileGetAnother) {
  Case c;
  c.shape = {.heads = 9, .kv_heads = 3, .blocks = 1};
  c.add_chunk(33);
  for (int r = 0; r < 22; ++r) c.add_request({0});  // 21 users of three heads fit in 64 vectors
  expect_good(c);
  const AttendPlan plan = c.plan();
  ASSERT_EQ(plan.items.size(), 6u);
  EXPECT_EQ(plan.items[0].vectors, 63);
  EXPECT_EQ(plan.items[1].vectors, 3);
}

// One long document and one user: all blocks take part, and end together.
TEST(AttendPlan, ALongChunkIsSpreadOverAllBlocks) {
  Case c;
  c.shape = {.heads = 32, .kv_heads = 8, .blocks = 264};
  c.add_chunk(100'001);
  c.add_request({0});
  expect_good(c);
  const AttendPlan plan = c.plan();
  EXPECT_LE(plan.items.size(), 264u + 8);
  int64_t most = 0, total = 0;
  for (const WorkItem& item : plan.items) {
    most = std::max(most, item_cost(item.tokens, item.vectors));
    total += item_cost(item.tokens, item.vectors);
  }
  EXPECT_LE(most * 264, total * 21 / 20);
}

// Blocks that run at the same time take the heads of one chunk.
TEST(AttendPlan, NeighbouringBlocksReadTheSameChunk) {
  Case c;
  c.shape = {.heads = 32, .kv_heads = 8, .blocks = 16};
  for (int n = 0; n < 40; ++n) c.add_chunk(512);
  std::vector<int32_t> all(40);
  for (int32_t n = 0; n < 40; ++n) all[static_cast<size_t>(n)] = n;
  c.add_request(all);
  const AttendPlan plan = c.plan();
  for (size_t b = 0; b < 16; ++b) {
    const WorkItem& first = plan.items[static_cast<size_t>(plan.first_item[b])];
    EXPECT_EQ(first.first_page, c.chunks[b / 8].first_page);
    EXPECT_EQ(first.kv_head, static_cast<int32_t>(b % 8));
  }
}

TEST(AttendPlan, APlannerForgetsEarlierPlans) {
  const auto key = [](const AttendPlan& plan) {
    std::vector<std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>> items;
    for (const WorkItem& i : plan.items)
      items.emplace_back(i.first_page, i.tokens, i.kv_head, i.first_vector, i.vectors);
    std::vector<std::tuple<int32_t, int32_t, int32_t, int32_t>> vectors;
    for (const QueryVector& v : plan.vectors)
      vectors.emplace_back(v.query, v.turn, v.end, v.partial);
    return std::make_tuple(items, vectors, plan.first_item, plan.first_partial);
  };
  AttendPlanner planner;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Case c = random_case(seed);
    EXPECT_EQ(key(planner.plan(c.shape, c.chunks, c.uses, c.first_use)), key(c.plan())) << seed;
  }
}

}  // namespace
}  // namespace looseleaf
