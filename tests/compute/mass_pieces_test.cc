#include "compute/mass_pieces.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace looseleaf {
namespace {

TEST(MassPieces, EveryKeyOfEveryUseOnce) {
  std::mt19937 random(std::random_device{}());
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    const int kv_heads = 1 + below(8), share = 1 + below(5), blocks = 1 + below(300);
    std::vector<std::vector<MassUse>> uses(3);
    std::vector<MassGroup> groups;
    int32_t spans = 0, mass = 0, row = 0;
    for (auto& of_group : uses) {
      for (int u = below(20); u > 0; --u) {
        const int tokens = below(3) == 0 ? below(3) : below(9000);
        of_group.push_back({spans++, tokens, mass});
        mass += tokens;
      }
      const int rows = below(4) == 0 ? 0 : 1 + below(70);
      groups.push_back({row, rows, of_group});
      row += rows;
    }
    const MassPieces cut = cut_mass_pieces(share * kv_heads, kv_heads, blocks, groups);
    ASSERT_EQ(cut.first.size(), groups.size() + 1);
    ASSERT_EQ(cut.first[0], 0);
    ASSERT_EQ(cut.first.back(), static_cast<int32_t>(cut.pieces.size()));
    int32_t partial = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
      std::map<int32_t, int32_t> reached;  // keys of each span
      for (int32_t i = cut.first[g]; i < cut.first[g + 1]; ++i) {
        const MassPiece& piece = cut.pieces[static_cast<size_t>(i)];
        ASSERT_EQ(piece.first_key, reached[piece.span]) << "a span's pieces follow each other";
        ASSERT_EQ(piece.first_key % kMassKeys, 0);
        ASSERT_GT(piece.keys, 0);
        ASSERT_LE(piece.keys, kMassSteps * kMassKeys);
        ASSERT_EQ(piece.first_row, groups[g].first_row);
        ASSERT_EQ(piece.vectors, groups[g].rows * share);
        ASSERT_EQ(piece.partial, partial) << "no two keys of a head share a place";
        const MassUse& use = uses[g][static_cast<size_t>(piece.span - uses[g][0].span)];
        ASSERT_EQ(piece.mass, use.mass + piece.first_key);
        reached[piece.span] += piece.keys;
        partial += piece.keys;
      }
      for (const MassUse& use : uses[g])
        ASSERT_EQ(reached[use.span], groups[g].rows == 0 ? 0 : use.tokens);
    }
    ASSERT_EQ(cut.keys, partial);
  }
}

TEST(MassPieces, LongUsesShareTheTurningAndFillTheBlocks) {
  const auto longest = [](int tokens) {
    const MassUse use{0, tokens, 0};
    const MassGroup group{0, 32, {&use, 1}};
    const MassPieces cut = cut_mass_pieces(32, 8, 264, {&group, 1});
    int32_t most = 0;
    for (const MassPiece& piece : cut.pieces) most = std::max(most, piece.keys);
    EXPECT_GE(8 * static_cast<int>(cut.pieces.size()), std::min(264, tokens / kMassKeys * 4));
    return most / kMassKeys;
  };
  EXPECT_EQ(longest(4096), 2);
  EXPECT_EQ(longest(16384), 2);
  EXPECT_EQ(longest(131072), kMassSteps);
}

}  // namespace
}  // namespace looseleaf
