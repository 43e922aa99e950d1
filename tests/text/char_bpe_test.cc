#include "text/char_bpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "text/small_pieces.h"
#include "text/small_spec.h"

namespace looseleaf {
namespace {

using Ids = std::vector<int32_t>;

Ids encode(const TokenizerSpec& spec, std::string_view piece) {
  const auto model = CharBpe::create(spec);
  EXPECT_TRUE(model) << message_of(model);
  SubwordModel::Scratch scratch;
  Ids ids;
  if (model) model->encode(piece, scratch, ids);
  return ids;
}

TEST(CharBpe, BestScoreFirstThenLeftmost) {
  // 2 a, 3 b, 4 c, 5 ab, 6 bc, 7 aa
  const TokenizerSpec spec =
      small_pieces("spm", {{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -2}, {"bc", -1}, {"aa", -2}});
  EXPECT_EQ(encode(spec, "abc"), (Ids{2, 6}));
  EXPECT_EQ(encode(spec, "aab"), (Ids{7, 3}));  // of one score
  EXPECT_EQ(encode(spec, "aaa"), (Ids{7, 2}));
  EXPECT_EQ(encode(spec, ""), Ids{});
}

TEST(CharBpe, UnknownCharacters) {
  const std::vector<std::pair<std::string, double>> pieces = {{"a", -1}, {"é", -1}};
  EXPECT_EQ(encode(small_pieces("spm", pieces), "a世界é"), (Ids{2, 0, 3}));
  TokenizerSpec spec = small_pieces("spm", pieces);
  spec.fuse_unk = false;
  EXPECT_EQ(encode(spec, "a世界é"), (Ids{2, 0, 0, 3}));
  spec = small_pieces("spm", pieces, true);
  EXPECT_EQ(encode(spec, "世a"), (Ids{4 + 0xE4, 4 + 0xB8, 4 + 0x96, 2}));
  spec.unk = -1;
  EXPECT_EQ(encode(spec, "\n"), (Ids{4 + '\n'}));
  spec.kinds[4 + 7] = TokenKind::kUnused;
  EXPECT_NE(message_of(CharBpe::create(spec)).find("neither 256 byte tokens nor an unknown token"),
            std::string::npos);
}

// "xy" is a piece, but "x" and "y" are not.
TEST(CharBpe, CharactersThatAreOnlyPartsOfPieces) {
  EXPECT_EQ(encode(small_pieces("spm", {{"xy", -1}}), "xyx"), (Ids{2, 0}));
  EXPECT_EQ(encode(small_pieces("spm", {{"xy", -1}}, true), "yxy"), (Ids{3 + 'y', 2}));
}

// The definition, word for word: again and again the best score, the leftmost pair of it.
Ids reference(const TokenizerSpec& spec, std::vector<std::string> parts) {
  const auto find = [&](const std::string& text) {
    return std::find(spec.tokens.begin(), spec.tokens.end(), text) - spec.tokens.begin();
  };
  const auto none = static_cast<std::ptrdiff_t>(spec.tokens.size());
  for (;;) {
    size_t where = parts.size();
    double best = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto id = find(parts[i] + parts[i + 1]);
      if (id == none) continue;
      const double score = spec.scores[static_cast<size_t>(id)];
      if (where == parts.size() || score > best) best = score, where = i;
    }
    if (where == parts.size()) break;
    parts[where] += parts[where + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
  Ids ids;
  for (const std::string& part : parts) ids.push_back(static_cast<int32_t>(find(part)));
  return ids;
}

TEST(CharBpe, AgreesWithTheDefinition) {
  std::mt19937 random(9);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  for (int round = 0; round < 60; ++round) {
    std::vector<std::pair<std::string, double>> pieces = {
        {"a", -99}, {"b", -99}, {"é", -99}, {"世", -99}};
    while (pieces.size() < 30) {
      std::string text = pieces[below(pieces.size())].first + pieces[below(pieces.size())].first;
      const bool known = std::any_of(pieces.begin(), pieces.end(),
                                     [&](const auto& piece) { return piece.first == text; });
      if (!known) pieces.emplace_back(std::move(text), -static_cast<double>(below(12)));
    }
    const TokenizerSpec spec = small_pieces("spm", pieces);
    for (int i = 0; i < 30; ++i) {
      std::vector<std::string> parts;
      std::string piece;
      for (size_t n = below(40); n > 0; --n) piece += parts.emplace_back(pieces[below(4)].first);
      EXPECT_EQ(encode(spec, piece), reference(spec, parts)) << piece;
    }
  }
}

TEST(CharBpe, ByMerges) {
  TokenizerSpec spec = small_pieces(
      "char-bpe", {{"a", 0}, {"b", 0}, {"c", 0}, {"ab", 0}, {"bc", 0}, {"abc", 0}}, true);
  spec.merges = {{"b", "c"}, {"a", "b"}, {"a", "bc"}};
  EXPECT_EQ(encode(spec, "abcab"), (Ids{7, 5}));
  spec.merges.emplace_back("a", "<s>");
  EXPECT_NE(message_of(CharBpe::create(spec)).find("'<s>' is not a normal token"),
            std::string::npos);
}

TEST(CharBpe, RefusesByName) {
  TokenizerSpec spec = small_pieces("spm", {{"a", -1}, {"b", -1}, {"ab", -1}});
  spec.kinds[4] = TokenKind::kUnused;
  EXPECT_NE(message_of(CharBpe::create(spec)).find("token 4 ('ab') is unused but text leads to it"),
            std::string::npos);
  spec.tokens[4] = "ax";  // no text leads there
  EXPECT_EQ(encode(spec, "ax"), (Ids{2, 0}));
  EXPECT_NE(message_of(CharBpe::create(small_pieces("spm", {{std::string(2000, 'a'), 0}})))
                .find("has 2000 bytes"),
            std::string::npos);
  EXPECT_NE(message_of(CharBpe::create(small_pieces("spm", {{"\xFF", 0}}))).find("is not UTF-8"),
            std::string::npos);
}

}  // namespace
}  // namespace looseleaf
