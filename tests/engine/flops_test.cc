// Operations counted by hand for a model of two layers.
#include "engine/flops.h"

#include <gtest/gtest.h>

namespace looseleaf {
namespace {

ModelConfig small_model() {
  ModelConfig c;
  c.vocab = 10;
  c.hidden = 4;
  c.layers = 2;
  c.heads = 2;
  c.kv_heads = 1;
  c.head_dim = 3;
  c.ffn = 5;
  return c;
}

// Multiply-adds of one row in one layer: K and V 2 * 3 * 4 = 24; Q and output 2 * 6 * 4 = 48;
// gate, up and down 3 * 5 * 4 = 60. Scores and values: 4 * 6 operations a visible pair.
constexpr double kKv = 2 * 24, kRest = 2 * (48 + 60), kHead = 2 * 10 * 4, kPair = 4 * 6;

TEST(FlopsTest, OneToken) {
  EXPECT_DOUBLE_EQ(full_prefill_flops(small_model(), 1), 2 * (kKv + kRest) + kHead + 2 * kPair);
}

TEST(FlopsTest, ThreeTokens) {
  // In the last layer two of the rows only leave keys and values behind.
  EXPECT_DOUBLE_EQ(full_prefill_flops(small_model(), 3),
                   3 * (kKv + kRest) + 3 * kKv + kRest + kHead + (1 + 2 + 3) * kPair + 3 * kPair);
}

TEST(FlopsTest, SlidingWindow) {
  ModelConfig c = small_model();
  c.sliding_window = 2;
  EXPECT_DOUBLE_EQ(full_prefill_flops(c, 3),
                   3 * (kKv + kRest) + 3 * kKv + kRest + kHead + (1 + 2 + 2) * kPair + 2 * kPair);
}

TEST(FlopsTest, OnlyWhatIsNotThereYet) {
  const ModelConfig c = small_model();
  const KvLayout layout{KvType::kF32, 2, 1, 3};
  Sequence sequence;
  TextRun header{
      .position = 0, .tokens = {1, 2}, .kv = KvRun(layout), .computed = 2, .shared = true};
  // Behind a chunk of 5 tokens: its rows see that too.
  TextRun tail{.position = 7, .tokens = {3, 4}, .kv = KvRun(layout), .computed = 0, .shared = true};
  sequence.parts.emplace_back(header);
  sequence.parts.emplace_back(tail);
  EXPECT_DOUBLE_EQ(pending_flops(c, sequence),
                   2 * (kKv + kRest) + 2 * kKv + kRest + kHead + (8 + 9) * kPair + 9 * kPair);
  std::get<TextRun>(sequence.parts[0]).computed = 0;
  EXPECT_DOUBLE_EQ(pending_flops(c, sequence), 4 * (kKv + kRest) + 4 * kKv + kRest + kHead +
                                                   (1 + 2 + 8 + 9) * kPair + 9 * kPair);
}

}  // namespace
}  // namespace looseleaf
