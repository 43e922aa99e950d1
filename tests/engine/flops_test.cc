// Operations counted by hand for a model of two layers.
#include "engine/flops.h"

#include "engine/sequence.h"
#include "test_engine.h"

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

// A pass over the sequence's text, without memory for it.
double flops_of(const ModelConfig& c, const Sequence& sequence) {
  Pass pass = pending_text(sequence, sequence.parts.size(), c.layers);
  pass.sort_rows();
  return pass_flops(c, pass);
}

TEST(FlopsTest, OnlyWhatIsNotThereYet) {
  const ModelConfig c = small_model();
  const auto core =
      make_core(golden_dir() / "llama_f32.gguf", {.threads = 1, .cache_bytes = 1 << 20});
  const auto run = [&](int position, int computed) {
    TextRun text{.position = position,
                 .tokens = {1, 2},
                 .kv = KvRun(core->private_layout),
                 .computed = computed,
                 .shared = true};
    EXPECT_TRUE(text.kv.extend(core->pool, 2));
    return text;
  };
  // Two tokens at 0 that are there, five of a gap that nobody sees, two at 7.
  Sequence sequence;
  sequence.parts.emplace_back(run(0, 2));
  sequence.parts.emplace_back(run(7, 0));
  EXPECT_DOUBLE_EQ(flops_of(c, sequence),
                   2 * (kKv + kRest) + 2 * kKv + kRest + kHead + (3 + 4) * kPair + 4 * kPair);
  std::get<TextRun>(sequence.parts[0]).computed = 0;
  EXPECT_DOUBLE_EQ(flops_of(c, sequence), 4 * (kKv + kRest) + 4 * kKv + kRest + kHead +
                                              (1 + 2 + 3 + 4) * kPair + 4 * kPair);
}

}  // namespace
}  // namespace looseleaf
