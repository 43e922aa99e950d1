#include "compute/cuda/page_layout_fp8.h"

#include <gtest/gtest.h>

#include <set>

namespace looseleaf::cuda {
namespace {

TEST(PageLayoutFp8, EveryByteOfAPieceHasOneUse) {
  for (const int head_dim : {64, 128}) {
    std::multiset<int> keys, values;
    for (int slot = 0; slot < kPageTokens; ++slot) {
      for (int dim = 0; dim < head_dim; ++dim) {
        keys.insert(fp8_key_offset(slot, dim, head_dim));
        values.insert(fp8_value_offset(slot, dim));
      }
      for (const int byte : {0, 1}) {
        keys.insert(fp8_key_scale_offset(slot, head_dim) + byte);
        values.insert(fp8_value_scale_offset(slot, head_dim) + byte);
      }
    }
    std::multiset<int> all;
    for (int byte = 0; byte < fp8_piece_bytes(head_dim); ++byte) all.insert(byte);
    EXPECT_EQ(keys, all);
    EXPECT_EQ(values, all);
    const KvLayout layout{KvType::kFP8, 1, 8, head_dim};
    EXPECT_EQ(layout.head_bytes(), fp8_piece_bytes(head_dim));
  }
}

// Keys of a page and of the next behind it are rows of one matrix.
TEST(PageLayoutFp8, PagesFollowEachOther) {
  for (const int head_dim : {64, 128})
    EXPECT_EQ(fp8_offset(kPageTokens, 0, fp8_keys_apart(head_dim)), fp8_piece_bytes(head_dim));
}

// A thread q of four holds the scores of tokens 8n + 2q and 8n + 2q + 1, and gives the weights of
// columns 16m + 4q .. 16m + 4q + 3 to the tensor cores.
TEST(PageLayoutFp8, AThreadsScoresAreTheWeightsItIsAskedFor) {
  for (int q = 0; q < 4; ++q)
    for (int m = 0; m < 2; ++m)
      for (int byte = 0; byte < 4; ++byte) {
        const int token = (2 * m + byte / 2) * 8 + 2 * q + byte % 2;
        EXPECT_EQ(fp8_value_column(token), 16 * m + 4 * q + byte);
      }
}

}  // namespace
}  // namespace looseleaf::cuda
