#include "text/bpe_merges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "text/small_spec.h"

namespace looseleaf {
namespace {

using Ids = std::vector<int32_t>;

Ids encode(const BpeMerges& merges, std::string_view piece) {
  BpeMerges::Scratch scratch;
  Ids ids;
  merges.encode(piece, scratch, ids);
  return ids;
}

TEST(BpeMerges, LowestRankFirstThenLeftmost) {
  const auto merges = *BpeMerges::create(
      SmallSpec{{{"b", "c"}, {"a", "b"}, {"a", "a"}, {"aa", "bc"}}, {}, {}}.build());
  EXPECT_EQ(encode(merges, "abc"), (Ids{'a', 256}));
  EXPECT_EQ(encode(merges, "ab"), (Ids{257}));
  EXPECT_EQ(encode(merges, "aaa"), (Ids{258, 'a'}));
  EXPECT_EQ(encode(merges, "aabc"), (Ids{259}));
  EXPECT_EQ(encode(merges, "x"), (Ids{'x'}));
  EXPECT_EQ(encode(merges, ""), Ids{});
}

// The definition, word for word: again and again the lowest rank, the leftmost pair of it.
Ids reference(const TokenizerSpec& spec, const std::string& piece) {
  std::vector<std::string> parts;
  for (const char byte : piece) parts.push_back(spell({&byte, 1}));
  for (;;) {
    size_t best = spec.merges.size(), where = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found =
          std::find(spec.merges.begin(), spec.merges.end(), std::pair(parts[i], parts[i + 1]));
      const auto rank = static_cast<size_t>(found - spec.merges.begin());
      if (rank < best) best = rank, where = i;
    }
    if (best == spec.merges.size()) break;
    parts[where] += parts[where + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
  Ids ids;
  for (const std::string& part : parts)
    ids.push_back(static_cast<int32_t>(std::find(spec.tokens.begin(), spec.tokens.end(), part) -
                                       spec.tokens.begin()));
  return ids;
}

TEST(BpeMerges, AgreesWithTheDefinition) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  for (int round = 0; round < 60; ++round) {
    SmallSpec small;
    std::vector<std::string> tokens = {"a", "b", "c", "\xC3", "\xA9"};
    while (small.merges.size() < 25) {
      std::pair pair(tokens[below(tokens.size())], tokens[below(tokens.size())]);
      if (std::find(tokens.begin(), tokens.end(), pair.first + pair.second) != tokens.end())
        continue;
      tokens.push_back(pair.first + pair.second);
      small.merges.push_back(std::move(pair));
    }
    const TokenizerSpec spec = small.build();
    const auto merges = BpeMerges::create(spec);
    ASSERT_TRUE(merges) << message_of(merges);
    for (int i = 0; i < 30; ++i) {
      std::string piece;
      for (size_t n = below(60); n > 0; --n) piece += tokens[below(5)];
      EXPECT_EQ(encode(*merges, piece), reference(spec, piece));
    }
  }
}

TEST(BpeMerges, RefusesBrokenVocabularies) {
  const auto refused = [](TokenizerSpec spec) {
    const auto result = BpeMerges::create(spec);
    if (result) return std::string("no error");
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
    return result.error().message;
  };
  const SmallSpec small{{{"a", "b"}}, {"ef"}, {}};
  TokenizerSpec spec = small.build();
  spec.merges.emplace_back("c", "d");
  EXPECT_EQ(
      refused(spec),
      "tokenizer: merge 1 ('c' and 'd'): 'cd' is not a normal token of the vocabulary; convert "
      "the model again");
  spec.merges.back() = {"xx", "d"};
  EXPECT_NE(refused(spec).find("'xx' is not"), std::string::npos);
  spec.merges.back() = {"d", ""};
  EXPECT_NE(refused(spec).find("'' is not"), std::string::npos);
  spec.merges.back() = {"e", "f"};  // text must not become a control token
  EXPECT_NE(refused(spec).find("'ef' is not"), std::string::npos);
  spec.merges.back() = {"a", "b"};
  EXPECT_NE(refused(spec).find("merge 1 ('a' and 'b') repeats merge 0"), std::string::npos);
  spec = small.build();
  spec.tokens['A'] = "not a byte";
  EXPECT_NE(refused(spec).find("no token for the byte 0x41"), std::string::npos);
}

TEST(BpeMerges, UnknownBytes) {
  TokenizerSpec spec = SmallSpec{}.build();
  spec.kinds[0x04] = TokenKind::kUnused;
  const auto merges = BpeMerges::create(spec);
  ASSERT_TRUE(merges) << message_of(merges);
  EXPECT_EQ(merges->find_unknown_byte("abc"), std::nullopt);
  EXPECT_EQ(merges->find_unknown_byte("ab\x04"), 2u);
}

}  // namespace
}  // namespace looseleaf
