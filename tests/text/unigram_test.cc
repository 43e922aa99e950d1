#include "text/unigram.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "text/small_pieces.h"
#include "text/small_spec.h"

namespace looseleaf {
namespace {

using Ids = std::vector<int32_t>;

Ids encode(const TokenizerSpec& spec, std::string_view piece) {
  const auto model = Unigram::create(spec);
  EXPECT_TRUE(model) << message_of(model);
  SubwordModel::Scratch scratch;
  Ids ids;
  if (model) model->encode(piece, scratch, ids);
  return ids;
}

TEST(Unigram, TheMostProbableWay) {
  // 2 a, 3 b, 4 ab, 5 ba
  const TokenizerSpec spec =
      small_pieces("unigram", {{"a", -1}, {"b", -1}, {"ab", -3}, {"ba", -1}});
  EXPECT_EQ(encode(spec, "ab"), (Ids{2, 3}));
  EXPECT_EQ(encode(spec, "aba"), (Ids{2, 5}));
  EXPECT_EQ(encode(spec, ""), Ids{});
}

TEST(Unigram, OfEquallyGoodWaysTheEarliestLastToken) {
  EXPECT_EQ(encode(small_pieces("unigram", {{"a", -1}, {"aa", -2}}), "aa"), (Ids{3}));
}

TEST(Unigram, UnknownCharacters) {
  const std::vector<std::pair<std::string, double>> pieces = {{"a", -1}, {"é", -1}};
  EXPECT_EQ(encode(small_pieces("unigram", pieces), "a世界é"), (Ids{2, 0, 3}));
  EXPECT_EQ(encode(small_pieces("unigram", pieces, true), "世a"),
            (Ids{4 + 0xE4, 4 + 0xB8, 4 + 0x96, 2}));
  EXPECT_EQ(encode(small_pieces("unigram", pieces), "<s>"), (Ids{0}));  // is text
  TokenizerSpec spec = small_pieces("unigram", pieces);
  spec.unk = -1;
  EXPECT_NE(message_of(Unigram::create(spec)).find("neither 256 byte tokens nor an unknown token"),
            std::string::npos);
}

// All ways to cut a piece, each with its score.
double best_score(const TokenizerSpec& spec, std::string_view piece) {
  if (piece.empty()) return 0;
  double best = -1e9;
  for (size_t id = 2; id < spec.tokens.size(); ++id) {
    const std::string& token = spec.tokens[id];
    if (piece.starts_with(token))
      best = std::max(best, spec.scores[id] + best_score(spec, piece.substr(token.size())));
  }
  return best;
}

TEST(Unigram, NoWayIsBetter) {
  std::mt19937 random(10);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  for (int round = 0; round < 40; ++round) {
    std::vector<std::pair<std::string, double>> pieces = {{"a", -8}, {"b", -9}, {"é", -7}};
    for (int i = 0; i < 12; ++i) {
      std::string text;
      for (size_t n = 2 + below(3); n > 0; --n) text += pieces[below(3)].first;
      if (std::none_of(pieces.begin(), pieces.end(),
                       [&](const auto& piece) { return piece.first == text; }))
        pieces.emplace_back(text, -static_cast<double>(below(2000)) / 128);
    }
    const TokenizerSpec spec = small_pieces("unigram", pieces);
    for (int i = 0; i < 10; ++i) {
      std::string piece, spelled;
      for (size_t n = below(10); n > 0; --n) piece += pieces[below(3)].first;
      double score = 0;
      for (const int32_t id : encode(spec, piece)) {
        spelled += spec.tokens[static_cast<size_t>(id)];
        score += spec.scores[static_cast<size_t>(id)];
      }
      EXPECT_EQ(spelled, piece);
      EXPECT_EQ(score, best_score(spec, piece)) << piece;  // sums of 1/128ths are exact
    }
  }
}

}  // namespace
}  // namespace looseleaf
