#include "compute/cuda/page_layout.h"

#include <gtest/gtest.h>

#include <set>

namespace looseleaf::cuda {
namespace {

TEST(PageLayout, EachElementHasItsOwnPlace) {
  for (const int head_dim : {64, 128}) {
    std::set<int> offsets;
    for (int slot = 0; slot < kPageTokens; ++slot)
      for (int dim = 0; dim < head_dim; ++dim) offsets.insert(element_offset(slot, dim, head_dim));
    EXPECT_EQ(offsets.size(), static_cast<size_t>(kPageTokens * head_dim));
    EXPECT_EQ(*offsets.begin(), 0);
    EXPECT_EQ(*offsets.rbegin(), piece_bytes(head_dim) - 2);
  }
}

// What the swizzle is for: the tensor cores read eight rows of a column at once.
TEST(PageLayout, EightRowsOfAColumnLieInDifferentBanks) {
  for (int group = 0; group < 16; ++group)
    for (int row = 0; row < kPageTokens; row += 8) {
      std::set<int> banks;
      for (int r = row; r < row + 8; ++r) banks.insert(swizzled(r, group, 128) / 16 % 8);
      EXPECT_EQ(banks.size(), 8u);
    }
}

TEST(PageLayout, PiecesLieWhereTheCacheCountsThem) {
  const KvLayout layout = {KvType::kBF16, 1, 8, 128};
  EXPECT_EQ(page_layer_bytes(8, 128), layout.layer_bytes());
  for (int head = 0; head < 8; ++head) {
    EXPECT_EQ(key_piece(head, 128), layout.key_offset(0, head));
    EXPECT_EQ(value_piece(head, 8, 128), layout.value_offset(0, head));
  }
}

}  // namespace
}  // namespace looseleaf::cuda
