#include "compute/attend_plan_by_type.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "compute/kv_layout.h"

namespace looseleaf {
namespace {

// Every query's partials are its range of first_partial, each written once, by a plan of the
// chunk's type, and together they read all keys of its uses.
TEST(AttendPlanByType, PartialsOfAQueryAreNeighbours) {
  std::mt19937 random(std::random_device{}());
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  AttendPlannerByType planner({1, 2, 1});
  for (int round = 0; round < 60; ++round) {
    const int kv_heads = 1 + below(3), heads = kv_heads * (1 + below(5));
    const int chunk_count = 1 + below(7), requests = below(40), kinds = 1 + below(3);
    std::vector<PlanChunk> chunks;
    std::vector<int> types;
    int32_t page = 0;
    for (int c = 0; c < chunk_count; ++c) {
      chunks.push_back({page, below(4) == 0 ? 0 : below(700)});
      page += pages_for(chunks.back().tokens);
      types.push_back(below(kinds));
    }
    std::vector<PlanUse> uses;
    std::vector<int32_t> first_use = {0};
    for (int r = 0; r < requests; ++r) {
      for (int n = below(6); n > 0; --n)
        uses.push_back({below(chunk_count), static_cast<int32_t>(uses.size())});
      first_use.push_back(static_cast<int32_t>(uses.size()));
    }
    const PlanShape shape{heads, kv_heads, 1 + below(20)};
    const AttendPlansByType plans = planner.plan(shape, chunks, types, uses, first_use);
    ASSERT_EQ(plans.first_partial.size(), static_cast<size_t>(requests * heads + 1));

    std::map<int32_t, int> query_of;                 // by partial
    std::map<std::pair<int, int32_t>, int> keys_of;  // by query and use
    for (size_t t = 0; t < plans.of_type.size(); ++t) {
      if (plans.of_type[t] == nullptr) continue;
      for (const WorkItem& item : plans.of_type[t]->items)
        for (int v = 0; v < item.vectors; ++v) {
          const QueryVector& vector =
              plans.of_type[t]->vectors[static_cast<size_t>(item.first_vector + v)];
          ASSERT_TRUE(query_of.emplace(vector.partial, vector.query).second) << "written twice";
          const PlanUse& use = uses[static_cast<size_t>(vector.turn)];
          EXPECT_EQ(types[static_cast<size_t>(use.chunk)], static_cast<int>(t));
          keys_of[{vector.query, vector.turn}] += vector.end;
        }
    }
    ASSERT_EQ(query_of.size(), static_cast<size_t>(plans.first_partial.back()));
    for (int q = 0; q < requests * heads; ++q) {
      for (auto p = plans.first_partial[static_cast<size_t>(q)];
           p < plans.first_partial[static_cast<size_t>(q) + 1]; ++p)
        ASSERT_EQ(query_of.at(p), q);
      const auto row = static_cast<size_t>(q / heads);
      for (int32_t u = first_use[row]; u < first_use[row + 1]; ++u) {
        const auto chunk = static_cast<size_t>(uses[static_cast<size_t>(u)].chunk);
        const auto read = keys_of.find({q, u});
        EXPECT_EQ(read == keys_of.end() ? 0 : read->second, chunks[chunk].tokens);
      }
    }
  }
}

}  // namespace
}  // namespace looseleaf
