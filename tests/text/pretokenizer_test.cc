#include "text/pretokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "text/small_spec.h"
#include "text/split_patterns.h"

namespace looseleaf {
namespace {

using Pieces = std::vector<std::string>;

std::vector<SplitRule> rules_of(const std::vector<std::string>& patterns) {
  return {patterns.begin(), patterns.end()};
}

Pieces split_by(const std::vector<SplitRule>& rules, std::string_view text) {
  const auto splitter = Pretokenizer::create(rules);
  if (!splitter) return {splitter.error().message};
  std::vector<std::string_view> pieces;
  const Status status = splitter->split(text, pieces);
  if (!status) return {status.error().message};
  return Pieces(pieces.begin(), pieces.end());
}

Pieces split(const std::vector<std::string>& patterns, std::string_view text) {
  return split_by(rules_of(patterns), text);
}

TEST(Pretokenizer, MatchesAndGapsArePieces) {
  EXPECT_EQ(split({"b+"}, "abbcb"), (Pieces{"a", "bb", "c", "b"}));
  EXPECT_EQ(split({"x"}, "abc"), (Pieces{"abc"}));
  EXPECT_EQ(split({}, "abc"), (Pieces{"abc"}));
  EXPECT_EQ(split({"b"}, ""), Pieces{});
}

TEST(Pretokenizer, EachPatternCutsThePiecesOfTheOneBefore) {
  EXPECT_EQ(split({"-", "[a-c]+"}, "ab-cd"), (Pieces{"ab", "-", "c", "d"}));
  // The second pattern sees a piece as a whole text: nothing before it, nothing behind it.
  EXPECT_EQ(split({"-", "(?<=-)a"}, "-ab"), (Pieces{"-", "ab"}));
  EXPECT_EQ(split({"-", "a$"}, "a-a"), (Pieces{"a", "-", "a"}));
}

TEST(Pretokenizer, EmptyMatchesCutWithoutAPiece) {
  EXPECT_EQ(split({"(?=[0-9])"}, "ab1c22"), (Pieces{"ab", "1c", "2", "2"}));
  EXPECT_EQ(split({"x*"}, "axxb"), (Pieces{"a", "xx", "b"}));
  EXPECT_EQ(split({"y?"}, "é世"), (Pieces{"é", "世"}));
}

// What tokenizers' own pre_tokenizers.Split makes of these.
TEST(Pretokenizer, Behaviors) {
  using enum SplitBehavior;
  const auto with = [](std::string pattern, SplitBehavior behavior, std::string_view text,
                       bool invert = false) {
    return split_by({SplitRule(std::move(pattern), behavior, invert)}, text);
  };
  constexpr std::string_view kText = "the--fin-al-";
  EXPECT_EQ(with("-", kIsolated, kText), (Pieces{"the", "-", "-", "fin", "-", "al", "-"}));
  EXPECT_EQ(with("-", kRemoved, kText), (Pieces{"the", "fin", "al"}));
  EXPECT_EQ(with("-", kMergedWithPrevious, kText), (Pieces{"the-", "-", "fin-", "al-"}));
  EXPECT_EQ(with("-", kMergedWithNext, kText), (Pieces{"the", "-", "-fin", "-al", "-"}));
  EXPECT_EQ(with("-", kContiguous, kText), (Pieces{"the", "--", "fin", "-", "al", "-"}));
  EXPECT_EQ(with("[a-z]+", kRemoved, kText, true), (Pieces{"the", "fin", "al"}));
  EXPECT_EQ(with("[a-z]+", kMergedWithPrevious, "-a-b", true), (Pieces{"-", "a-", "b"}));
  EXPECT_EQ(with("[a-z]+", kMergedWithNext, "-a-b", true), (Pieces{"-a", "-b"}));
  EXPECT_EQ(with("-", kRemoved, "---"), Pieces{});
}

TEST(Pretokenizer, Gpt2Pattern) {
  const std::vector<std::string> patterns = {std::string(gpt2_split_pattern())};
  EXPECT_EQ(split(patterns, "Hello  world's 42!\n\nx"),
            (Pieces{"Hello", " ", " world", "'s", " 42", "!", "\n", "\n", "x"}));
  // The Mongolian vowel separator is not white space.
  EXPECT_EQ(split(patterns, "a\u180E b"), (Pieces{"a", "\u180E", " b"}));
  EXPECT_EQ(split(patterns, "a\u3000b"), (Pieces{"a", "\u3000", "b"}));
}

TEST(Pretokenizer, ContractionsFoldLikeUnicode) {
  const auto patterns = *split_patterns_for("llama-bpe");
  EXPECT_EQ(split_by(patterns, "I'LL 1234567"), (Pieces{"I", "'LL", " ", "123", "456", "7"}));
  EXPECT_EQ(split_by(patterns, "it'\u017F"), (Pieces{"it", "'\u017F"}));  // the long s
}

TEST(Pretokenizer, RefusesPatternsItCannotFollow) {
  EXPECT_EQ(split({"a", R"(\w)"}, "x").front(),
            R"(split pattern '\w': '\w' at offset 0 is not supported; use a tokenizer without it)");
  const auto open = Pretokenizer::create(rules_of({"(a"}));
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(open.error().message.find("missing closing parenthesis"), std::string::npos);
  EXPECT_FALSE(Pretokenizer::create(rules_of({R"(\p{NoSuchScript})"})));
  EXPECT_FALSE(Pretokenizer::create(rules_of({"a\xFF"})));
}

TEST(Pretokenizer, AWorkLimitIsAnError) {
  // No known tokenizer backtracks like this; a file may.
  const auto splitter = Pretokenizer::create(rules_of({"(?:a|a){40}[bc]"}));
  ASSERT_TRUE(splitter) << message_of(splitter);
  std::vector<std::string_view> pieces;
  const std::string text(60, 'a');
  const Status status = splitter->split(text, pieces);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("match limit exceeded"), std::string::npos)
      << status.error().message;
}

// Every family on long runs of everything: the pieces are the text, and time is linear.
TEST(Pretokenizer, LongRunsOfOneCharacter) {
  for (const char* pre : {"default", "gpt-2", "smollm", "llama-bpe", "qwen2", "gpt-4o", "tekken",
                          "falcon", "deepseek-llm", "deepseek-coder", "deepseek-v3", "bloom",
                          "jais-2", "minicpm5", "seed-coder", "bailingmoe", "viking"}) {
    const auto splitter = Pretokenizer::create(*split_patterns_for(pre));
    ASSERT_TRUE(splitter) << message_of(splitter);
    for (const std::string unit :
         {"a", "A", " ", "\n", "\r\n", "1", "!", "世", "\u0301", " \n", "'"}) {
      std::string text = "x";
      while (text.size() < 300'000) text += unit;
      text += "世";
      std::vector<std::string_view> pieces;
      const Status status = splitter->split(text, pieces);
      ASSERT_TRUE(status) << pre << ": " << status.error().message;
      std::string joined;
      for (const std::string_view piece : pieces) joined += piece;
      EXPECT_EQ(joined, text) << pre;
    }
  }
}

}  // namespace
}  // namespace looseleaf
