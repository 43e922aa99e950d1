#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "text/random_text.h"
#include "text/small_pieces.h"
#include "text/small_spec.h"

namespace looseleaf {
namespace {

using Pieces = std::vector<std::string>;

class DetokenizerTest : public testing::Test {
 protected:
  // 256 "\xF0\x9F"; 257 <|end|>; 258 <think>
  const std::unique_ptr<const Tokenizer> tokenizer_ =
      make_tokenizer(SmallSpec{{{"\xF0", "\x9F"}}, {"<|end|>"}, {"<think>"}}.build());

  Pieces stream(const std::vector<int32_t>& ids, bool show_control = false) const {
    Detokenizer detokenizer(*tokenizer_, {.show_control = show_control});
    Pieces pieces;
    for (const int32_t id : ids) pieces.push_back(detokenizer.push(id));
    pieces.push_back(detokenizer.finish());
    return pieces;
  }
};

TEST_F(DetokenizerTest, WholeCodePointsOnly) {
  EXPECT_EQ(stream({'a', 256, 0xA6, 0x99, 'b'}), (Pieces{"a", "", "", "🦙", "b", ""}));
  EXPECT_EQ(stream({0xC3, 0xA9}), (Pieces{"", "é", ""}));
}

TEST_F(DetokenizerTest, WhatCanNeverBeValidIsReleasedAtOnce) {
  EXPECT_EQ(stream({0xFF, 'a'}), (Pieces{"\uFFFD", "a", ""}));
  EXPECT_EQ(stream({0x80, 0x80}), (Pieces{"\uFFFD", "\uFFFD", ""}));
  EXPECT_EQ(stream({0xE4, 0xB8, 'a'}), (Pieces{"", "", "\uFFFDa", ""}));
  EXPECT_EQ(stream({0xED, 0xA0, 0x80}), (Pieces{"", "\uFFFD\uFFFD", "\uFFFD", ""}));  // surrogate
  EXPECT_EQ(stream({0xE4, 0xE4, 0xB8, 0x96}), (Pieces{"", "\uFFFD", "", "世", ""}));
}

TEST_F(DetokenizerTest, FinishReleasesTheRest) {
  EXPECT_EQ(stream({256, 0xA6}), (Pieces{"", "", "\uFFFD"}));
  Detokenizer detokenizer(*tokenizer_);
  detokenizer.push(0xE4);
  EXPECT_EQ(detokenizer.finish(), "\uFFFD");
  EXPECT_EQ(detokenizer.push('a'), "a");  // as new
}

TEST_F(DetokenizerTest, ControlTokens) {
  EXPECT_EQ(stream({'a', 257, 258, 'b'}), (Pieces{"a", "", "<think>", "b", ""}));
  EXPECT_EQ(stream({'a', 257}, true), (Pieces{"a", "<|end|>", ""}));
  EXPECT_EQ(stream({0xC3, 257, 0xA9}), (Pieces{"", "", "é", ""}));
}

// Cases of "substitution of maximal subparts", The Unicode Standard, section 3.9, table 3-8.
TEST_F(DetokenizerTest, MaximalSubparts) {
  EXPECT_EQ(decode(*tokenizer_, std::vector<int32_t>{0x61, 0xF1, 0x80, 0x80, 0xE1, 0x80, 0xC2, 0x62,
                                                     0x80, 0x63, 0x80, 0xBF, 0x64}),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
}

TEST_F(DetokenizerTest, PiecesAddUpToValidText) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::vector<int32_t> ids(random() % 50);
    for (int32_t& id : ids) {
      // Lead and trail bytes often enough to meet, and everything else.
      id = static_cast<int32_t>(random() % 2 == 0 ? 0x80 + random() % 0x80 : random() % 259);
    }
    std::string joined;
    for (const std::string& piece : stream(ids)) {
      EXPECT_EQ(find_invalid_utf8(piece), std::nullopt);
      joined += piece;
    }
    EXPECT_EQ(joined, decode(*tokenizer_, ids));
  }
}

// 2 "▁a", 3 "▁", 4 "b"; 1 is control
std::vector<std::string> stream_pieces(LeadingSpace rule, const std::vector<int32_t>& ids,
                                       Detokenizer::Options options = {}) {
  TokenizerSpec spec = small_pieces("spm", {{"▁a", 0}, {"▁", 0}, {"b", 0}}, true);
  spec.space_mark = "▁";
  spec.leading_space = rule;
  const auto tokenizer = make_tokenizer(spec);
  Detokenizer detokenizer(*tokenizer, options);
  std::vector<std::string> pieces;
  for (const int32_t id : ids) pieces.push_back(detokenizer.push(id));
  EXPECT_EQ(detokenizer.finish(), "");
  return pieces;
}

TEST(LeadingSpaces, AreDroppedWhereATextBegins) {
  using enum LeadingSpace;
  EXPECT_EQ(stream_pieces(kKept, {2, 2}), (Pieces{" a", " a"}));
  EXPECT_EQ(stream_pieces(kOneDropped, {2, 2}), (Pieces{"a", " a"}));
  EXPECT_EQ(stream_pieces(kOneDropped, {3, 2, 4}), (Pieces{"", " a", "b"}));
  EXPECT_EQ(stream_pieces(kOneDropped, {4, 2}), (Pieces{"b", " a"}));
  EXPECT_EQ(stream_pieces(kOneDropped, {5 + ' ', 5 + ' '}), (Pieces{"", " "}));
  EXPECT_EQ(stream_pieces(kOneDropped, {1, 2}), (Pieces{"", "a"}));
  EXPECT_EQ(stream_pieces(kOneDropped, {1, 2}, {.show_control = true}), (Pieces{"<s>", " a"}));
  EXPECT_EQ(stream_pieces(kOneDropped, {2, 2}, {.continues = true}), (Pieces{" a", " a"}));
  EXPECT_EQ(stream_pieces(kAllDropped, {3, 5 + ' ', 2, 2}), (Pieces{"", "", "a", " a"}));
  EXPECT_EQ(stream_pieces(kFirstTokenNone, {3, 2}), (Pieces{"", " a"}));
  EXPECT_EQ(stream_pieces(kFirstTokenNone, {2, 3}), (Pieces{"a", " "}));
}

TEST(LeadingSpaces, FinishBeginsANewText) {
  TokenizerSpec spec = small_pieces("spm", {{"▁a", 0}});
  spec.space_mark = "▁";
  spec.leading_space = LeadingSpace::kOneDropped;
  const auto tokenizer = make_tokenizer(spec);
  Detokenizer detokenizer(*tokenizer);
  EXPECT_EQ(detokenizer.push(2), "a");
  detokenizer.finish();
  EXPECT_EQ(detokenizer.push(2), "a");
}

}  // namespace
}  // namespace looseleaf
