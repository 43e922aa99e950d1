// How the general attention kernel's rows are cut into tiles and their keys into parts.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "compute/cuda/describe_pass.h"

namespace looseleaf::cuda {
namespace {

struct RandomPass {
  explicit RandomPass(std::mt19937& random) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    layout = {KvType::kF16, 2, 1 + below(3), 64};
    args.heads = layout.kv_heads * (1 + below(9));
    args.kv_heads = layout.kv_heads;
    args.head_dim = 64;
    const int count = 1 + below(6);
    segments.resize(static_cast<size_t>(count));
    for (Segment& s : segments) {
      s.layout = &layout;
      s.count = below(3) == 0 ? below(3) : below(3000);
    }
    int row = 0;
    for (int g = 0; g < 3; ++g) {
      rows.emplace_back(static_cast<size_t>(below(2) == 0 ? 1 : below(80)));
      std::iota(rows.back().begin(), rows.back().end(), row);
      row += static_cast<int>(rows.back().size());
      uses.emplace_back();
      for (int u = below(5); u > 0; --u) uses.back().push_back({below(count)});
    }
    for (size_t g = 0; g < 3; ++g) groups.push_back({rows[g], uses[g]});
    for (int r = 0; r < row; ++r) positions.push_back(below(10000));
    args.segments = segments;
    args.groups = groups;
    args.positions = positions;
    args.active = 1 + below(row + 1);
  }
  KvLayout layout;
  std::vector<Segment> segments;
  std::vector<std::vector<int32_t>> rows;
  std::vector<std::vector<SegmentUse>> uses;
  std::vector<RowGroup> groups;
  std::vector<int32_t> positions;
  AttendArgs args;
};

TEST(TilePlan, EveryPageOfEveryVectorOnceInPromptOrder) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 300; ++round) {
    const RandomPass pass(random);
    const TilePlan plan = plan_tiles(pass.args, 132);
    const int share = pass.args.heads / pass.args.kv_heads;
    // Pages (use, page) of each vector (row in the list of rows, head of the KV head), part by
    // part.
    std::map<std::pair<int, int>, std::vector<std::pair<int, int>>> seen;
    std::map<std::pair<int, int>, int> parts;
    std::vector<int> pages;
    for (const RowGroup& group : pass.groups)
      for (const SegmentUse& use : group.uses)
        pages.push_back(pages_for(pass.segments[static_cast<size_t>(use.segment)].count));
    for (const AttendTile& tile : plan.tiles) {
      ASSERT_GT(tile.vectors, 0);
      ASSERT_LE(tile.vectors, kManyVectors);
      ASSERT_LE(tile.vectors, plan.most_vectors);
      for (int g = tile.first_vector; g < tile.first_vector + tile.vectors; ++g) {
        const std::pair vector{tile.first_row + g / share, g % share};
        ASSERT_EQ(parts[vector]++, tile.part) << "parts come in order";
        const int32_t position = pass.positions[static_cast<size_t>(vector.first)];
        ASSERT_GE(position, tile.lowest);
        ASSERT_LE(position, tile.highest);
        for (int u = tile.first_use; u <= tile.last_use; ++u) {
          const int end = u == tile.last_use ? tile.end_page : pages[static_cast<size_t>(u)];
          for (int p = u == tile.first_use ? tile.first_page : 0; p < end; ++p)
            seen[vector].push_back({u, p});
        }
      }
    }
    int first_use = 0;
    for (const RowGroup& group : pass.groups) {
      std::vector<std::pair<int, int>> expected;
      for (size_t u = 0; u < group.uses.size(); ++u)
        for (int p = 0; p < pages[static_cast<size_t>(first_use) + u]; ++p)
          expected.push_back({first_use + static_cast<int>(u), p});
      first_use += static_cast<int>(group.uses.size());
      for (const int32_t row : group.rows)
        for (int head = 0; head < share; ++head) {
          const auto found = seen.find({row, head});
          const bool active = row < pass.args.active;
          ASSERT_EQ(parts.contains({row, head}), active);
          if (active && !expected.empty()) {
            ASSERT_TRUE(found != seen.end());
            ASSERT_EQ(found->second, expected);
          }
        }
    }
    for (const MergeRow& merge : plan.merges) {
      ASSERT_GT(merge.parts, 1);
      ASSERT_LE(merge.first_partial + merge.parts * pass.args.heads, plan.partials);
    }
  }
}

// A request's parts do not depend on who shares its pass.
TEST(TilePlan, PartsDependOnTheirGroupOnly) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 100; ++round) {
    RandomPass pass(random);
    const TilePlan together = plan_tiles(pass.args, 132);
    std::map<int32_t, int32_t> parts;
    for (const AttendTile& tile : together.tiles) parts[tile.first_row] = tile.parts;
    int32_t first_row = 0;
    for (size_t g = 0; g < pass.groups.size(); ++g) {
      AttendArgs alone = pass.args;
      alone.groups = std::span<const RowGroup>(pass.groups).subspan(g, 1);
      const TilePlan plan = plan_tiles(alone, 132);
      for (const AttendTile& tile : plan.tiles) ASSERT_EQ(tile.parts, parts.at(first_row));
      first_row += static_cast<int32_t>(pass.groups[g].rows.size());
    }
  }
}

}  // namespace
}  // namespace looseleaf::cuda
